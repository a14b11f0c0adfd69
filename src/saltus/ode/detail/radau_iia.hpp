// SPDX-License-Identifier: Apache-2.0
#pragma once

// Radau IIA with 3 stages ([Hairer] IV.8): the nodes c, and the transformation T of the inverse of its matrix A to a
// block form, which splits the linear systems into a real and a complex one,
//     T⁻¹ A⁻¹ T = | γ  0  0 |
//                 | 0  α −β |
//                 | 0  β  α |
// Computed with 50 digits from the closed form of A; tests/ode/tableau_test.cpp checks them against it.

namespace saltus::ode::radau_iia {

inline constexpr double c[3] = {0.15505102572168219, 0.64494897427831781, 1.0};  // (4 ∓ √6)/10, 1

inline constexpr double gamma = 3.637834252744495732208419;
inline constexpr double alpha = 2.681082873627752133895791;
inline constexpr double beta = 3.050430199247410569426378;

inline constexpr double T[3][3] = {{0.09443876248897524148749, -0.141255295020954208428, -0.03002919410514742449186},
                                   {0.2502131229653333113765, 0.204129352293799931996, 0.3829421127572619377954},
                                   {1.0, 1.0, 0.0}};
inline constexpr double T_inverse[3][3] = {
    {4.178718591551904727346, 0.3276828207610623870825, 0.5233764454994495480399},
    {-4.178718591551904727346, -0.3276828207610623870825, 0.4766235545005504519601},
    {-0.5028726349457868759512, 2.571926949855605429187, -0.5960392048282249249688}};

/// The error estimate, x + z_3 minus an embedded solution of order 3, is (γ/h − J)⁻¹ (f(t, x) + Σ error_i z_i / h). The
/// weights are −(13 ± 7√6)/3 and −1/3.
inline constexpr double error[3] = {-10.048809399827415, 1.3821427331607489, -1.0 / 3.0};

}  // namespace saltus::ode::radau_iia
