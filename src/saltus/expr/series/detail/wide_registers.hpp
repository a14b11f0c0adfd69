// SPDX-License-Identifier: Apache-2.0
#pragma once

// Some sources of series are compiled a second time for wider registers. The project is built without contraction to
// fused multiply-adds (-ffp-contract=off), and the sums have the same parts: both variants compute the same numbers.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define SALTUS_SERIES_WIDE 1
#else
#define SALTUS_SERIES_WIDE 0
#endif

namespace saltus::expr {

#if SALTUS_SERIES_WIDE
inline const bool has_wide_registers = __builtin_cpu_supports("avx2") != 0;
#else
inline constexpr bool has_wide_registers = false;
#endif

}  // namespace saltus::expr
