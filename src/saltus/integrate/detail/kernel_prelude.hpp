// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace saltus::integrate {

/// What C++, CUDA and OpenCL call differently, at the top of every kernel. SALTUS_LOOP in front of a loop keeps the
/// compiler of CUDA from unrolling it, which takes most of the time of a compilation.
inline constexpr const char* kernel_prelude = R"(
#if defined(__OPENCL_VERSION__)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define SALTUS_KERNEL __kernel
#define SALTUS_FUNCTION static
#define SALTUS_GLOBAL __global
#define SALTUS_NEXT(counter) atomic_inc(counter)
#elif defined(__CUDACC__)
#define SALTUS_KERNEL extern "C" __global__
#define SALTUS_FUNCTION __device__ __noinline__ static
#define SALTUS_GLOBAL
#define SALTUS_NEXT(counter) atomicAdd(counter, 1)
#define SALTUS_SINE_AND_COSINE(x, s, c) sincos(x, &(s), &(c))
#define SALTUS_LOOP _Pragma("unroll 1")
#if !defined(INFINITY)
#define INFINITY __longlong_as_double(0x7ff0000000000000LL)
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#endif
#else
#include <math.h>
#define SALTUS_KERNEL extern "C"
#define SALTUS_FUNCTION static
#define SALTUS_GLOBAL
#define SALTUS_NEXT(counter) ((*(counter))++)
#endif
#if !defined(SALTUS_LOOP)
#define SALTUS_LOOP
#endif
#if !defined(SALTUS_SINE_AND_COSINE)
#define SALTUS_SINE_AND_COSINE(x, s, c) { s = sin(x); c = cos(x); }
#endif
)";

}  // namespace saltus::integrate
