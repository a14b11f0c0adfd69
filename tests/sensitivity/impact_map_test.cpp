// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/impact_map.hpp"

#include "sensitivity/closed_forms.hpp"
#include "sensitivity/recorded.hpp"

namespace saltus::impact_map_test {
namespace {

using namespace saltus::test;
using sensitivity::ImpactDerivative;
using sensitivity::Tangent;

/// A rigid body with one contact away from its centre: gap y + bφ, slip velocity x' + rφ', so that normal and friction
/// are coupled: D_NT = b r/J. `u` is the velocity before the impact.
template <class S>
struct Body {
    S m, J, b, r, e_n, e_t, mu;
    Eigen::Matrix<S, 3, 1> u;
};
constexpr int numbers = 10;

template <class S>
S& number(Body<S>& body, int k) {
    S* const all[numbers] = {&body.u(0), &body.u(1), &body.u(2), &body.m,   &body.J,
                             &body.b,    &body.r,    &body.e_n,  &body.e_t, &body.mu};
    return *all[k];
}
const char* const names[numbers] = {"x'", "y'", "phi'", "m", "J", "b", "r", "e", "eT", "mu"};

template <class S>
using Vector3 = Eigen::Matrix<S, 3, 1>;

template <class S>
struct Terms {
    Vector3<S> N, T, inverse_mass;
    S D_NN, D_NT, D_TT, gamma_N, gamma_T;

    explicit Terms(const Body<S>& o) {
        const S zero(0.0), one(1.0);
        N << zero, one, o.b;
        T << one, zero, o.r;
        inverse_mass << one / o.m, one / o.m, one / o.J;
        D_NN = one / o.m + o.b * o.b / o.J;
        D_NT = o.b * o.r / o.J;
        D_TT = one / o.m + o.r * o.r / o.J;
        gamma_N = o.u(1) + o.b * o.u(2);
        gamma_T = o.u(0) + o.r * o.u(2);
    }
    Vector3<S> after(const Body<S>& o, S Lambda_N, S Lambda_T) const {
        return o.u + inverse_mass.cwiseProduct(N * Lambda_N + T * Lambda_T);
    }
};

/// Friction that slips in the direction +1 throughout: Λ_T = −μ Λ_N; the same for Newton and Poisson.
template <class S>
Vector3<S> slipping(const Body<S>& o) {
    const Terms<S> k(o);
    const S Lambda = -(S(1.0) + o.e_n) * k.gamma_N / (k.D_NN - o.mu * k.D_NT);
    return k.after(o, Lambda, -o.mu * Lambda);
}

/// Newton: γ_N⁺ = −e_N γ_N⁻ and γ_T⁺ = −e_T γ_T⁻.
template <class S>
Vector3<S> newton_sticking(const Body<S>& o) {
    const Terms<S> k(o);
    const S n = -(S(1.0) + o.e_n) * k.gamma_N, t = -(S(1.0) + o.e_t) * k.gamma_T;
    const S det = k.D_NN * k.D_TT - k.D_NT * k.D_NT;
    return k.after(o, (n * k.D_TT - t * k.D_NT) / det, (t * k.D_NN - n * k.D_NT) / det);
}

/// Poisson: compression to rest, then Λ_N = e_N Λ_N,C and γ_T⁺ = −e_T γ_T⁻.
template <class S>
Vector3<S> poisson_sticking(const Body<S>& o) {
    const Terms<S> k(o);
    const S det = k.D_NN * k.D_TT - k.D_NT * k.D_NT;
    const S N = (-k.gamma_N * k.D_TT + k.gamma_T * k.D_NT) / det, T = (-k.gamma_T * k.D_NN + k.gamma_N * k.D_NT) / det;
    const S expansion = o.e_n * N;
    return k.after(o, N + expansion, T + (-o.e_t * k.gamma_T - k.D_NT * expansion) / k.D_TT);
}

/// Energy law without friction: T⁺ = e² T⁻ along the jump Δ of the inelastic collision.
template <class S>
Vector3<S> by_energy(const Body<S>& o) {
    const Terms<S> k(o);
    const Vector3<S> jump = k.inverse_mass.cwiseProduct(k.N) * (-k.gamma_N / k.D_NN);
    const auto product = [&](const Vector3<S>& p, const Vector3<S>& q) {
        return o.m * (p(0) * q(0) + p(1) * q(1)) + o.J * p(2) * q(2);
    };
    const S a = S(0.5) * product(jump, jump), b = product(o.u, jump), T = S(0.5) * product(o.u, o.u);
    const S s = (-b + std::sqrt(b * b - S(4.0) * a * (S(1.0) - o.e_n * o.e_n) * T)) / (S(2.0) * a);
    return o.u + jump * s;
}

struct Case {
    std::string law;
    Body<double> body;
};

std::string text_of(const Case& c) {
    const Body<double>& o = c.body;
    const auto value = [](double v) { return number_text(v); };
    return "[system]\nq = [\"x\", \"y\", \"phi\"]\nT = \"m/2*(x'^2 + y'^2) + J/2*phi'^2\"\n[parameters]\nm = " +
           value(o.m) + "\nJ = " + value(o.J) + "\nb = " + value(o.b) + "\nr = " + value(o.r) +
           "\ne = " + value(o.e_n) + "\neT = " + value(o.e_t) + "\nmu = " + value(o.mu) +
           "\n[[contact]]\nname = \"tip\"\ngN = \"y + b*phi + 1\"\neN = \"e\"\nimpact = \"" + c.law + "\"\n" +
           (c.law == "energy" ? "" : "gammaT = \"x' + r*phi'\"\nmu = \"mu\"\neT = \"eT\"\n") +
           "[initial]\nu = { x = " + value(o.u(0)) + ", y = " + value(o.u(1)) + ", phi = " + value(o.u(2)) + " }\n";
}

/// Compares u⁺ and its derivative by u⁻ and all parameters with a closed form.
template <class F>
void expect_closed_form(const Case& c, F after) {
    const Recorded r(text_of(c), 1.0);
    ASSERT_EQ(r.changes.size(), 1U) << c.law;
    ASSERT_EQ(r.change(0).impacts.size(), 1U);
    const integrate::RecordedImpact& impact = r.change(0).impacts[0];
    // Newton's and Poisson's laws depend on eT; the energy law has no friction here.
    std::vector<std::string> wrt{"m", "J", "b", "e"};
    if (c.law != "energy") wrt.insert(wrt.end(), {"r", "eT", "mu"});
    Tangent x = r.tangent(wrt);
    x.set_mode(r.change(0).mode_before, r.change(0).t, r.change(0).before.data());
    const ImpactDerivative d = sensitivity::differentiate(x, r.change(0).t, r.change(0).before.data(), impact);
    ASSERT_TRUE(d.exists) << d.why_not;
    EXPECT_TRUE(d.conditions.empty());
    expect_matrix(Eigen::Map<const Vector>(impact.u_plus.data(), 3), Vector(after(c.body)), 1e-10, c.law + ": u+");
    for (int k = 0; k < numbers; ++k) {
        const std::string name = names[k];
        if (k >= 3 && std::find(wrt.begin(), wrt.end(), name) == wrt.end()) continue;
        Body<std::complex<double>> o;
        Body<double> own = c.body;
        for (int i = 0; i < numbers; ++i) number(o, i) = number(own, i);
        const Vector expected = complex_step(
            [&](std::complex<double> value) {
                number(o, k) = value;
                return after(o);
            },
            number(own, k));
        expect_matrix(d.velocity.col(column(x, r.model, name)), expected, 1e-9, c.law + ": derivative by " + name);
    }
    // φ moves the gap, but neither W nor M: R does not depend on q or t.
    expect_matrix(d.velocity.leftCols(4), Matrix::Zero(3, 4), 1e-12, c.law + ": derivative by t and q");
}

const Body<double> slips{2.0, 0.5, 0.3, 0.4, 0.6, 0.0, 0.2, {5.0, -2.0, 0.1}};
const Body<double> sticks{2.0, 0.5, 0.3, 0.4, 0.6, 0.25, 0.9, {0.2, -2.0, -0.1}};

TEST(ImpactMap, OfNewtonsLawWithFrictionThatSlipsIsTheClosedForm) {
    expect_closed_form({"newton", slips}, [](const auto& o) { return slipping(o); });
}

TEST(ImpactMap, OfNewtonsLawWithFrictionThatSticksIsTheClosedForm) {
    expect_closed_form({"newton", sticks}, [](const auto& o) { return newton_sticking(o); });
}

TEST(ImpactMap, OfPoissonsLawWithFrictionThatSlipsIsTheClosedForm) {
    expect_closed_form({"poisson", slips}, [](const auto& o) { return slipping(o); });
}

TEST(ImpactMap, OfPoissonsLawWithFrictionThatSticksIsTheClosedForm) {
    expect_closed_form({"poisson", sticks}, [](const auto& o) { return poisson_sticking(o); });
}

TEST(ImpactMap, OfTheEnergyLawIsTheClosedForm) {
    expect_closed_form({"energy", {2.0, 0.5, 0.3, 0.0, 0.8, 0.0, 0.0, {0.3, -2.0, 0.4}}},
                       [](const auto& o) { return by_energy(o); });
}

TEST(ImpactMap, OfAPointMassHasTheTextbookDerivatives) {
    // u_y⁺ = −e u_y, u_x⁺ = u_x + μ(1 + e) u_y for u_y < 0 < u_x
    const Recorded r(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
[parameters]
e = 0.5
mu = 0.1
[[contact]]
name = "floor"
gN = "y"
eN = "e"
gammaT = "x'"
mu = "mu"
[initial]
q = { y = 1.0 }
u = { x = 4.0, y = -2.0 }
)toml",
                     1.0);
    Tangent x = r.tangent({"e", "mu"});
    x.set_mode(r.change(0).mode_before, r.change(0).t, r.change(0).before.data());
    const ImpactDerivative d =
        sensitivity::differentiate(x, r.change(0).t, r.change(0).before.data(), r.change(0).impacts.at(0));
    ASSERT_TRUE(d.exists) << d.why_not;
    EXPECT_NEAR(d.velocity(1, 4), -0.5, 1e-13);
    EXPECT_NEAR(d.velocity(0, 3), 1.0, 1e-13);
    EXPECT_NEAR(d.velocity(0, 4), 0.1 * 1.5, 1e-13);
    EXPECT_NEAR(d.velocity(1, column(x, r.model, "e")), 2.0, 1e-12);
    EXPECT_NEAR(d.velocity(0, column(x, r.model, "e")), -0.1 * 2.0, 1e-12);
    EXPECT_NEAR(d.velocity(0, column(x, r.model, "mu")), -1.5 * 2.0, 1e-12);
    EXPECT_NEAR(d.velocity(1, column(x, r.model, "mu")), 0.0, 1e-13);
}

TEST(ImpactMap, OfRestitutionThatFallsWithTheSpeedIsTheClosedForm) {
    // e = 1 − c v, v = −u: u⁺ = −(1 + c u) u
    const Recorded r(R"toml(
[system]
q = ["y"]
T = "y'^2/2"
[parameters]
c = 0.2
[[contact]]
name = "floor"
gN = "y"
c = "c"
impact = "energy"
[initial]
q = { y = 1.0 }
u = { y = -2.0 }
)toml",
                     1.0);
    Tangent x = r.tangent({"c"});
    x.set_mode(r.change(0).mode_before, r.change(0).t, r.change(0).before.data());
    const ImpactDerivative d =
        sensitivity::differentiate(x, r.change(0).t, r.change(0).before.data(), r.change(0).impacts.at(0));
    ASSERT_TRUE(d.exists) << d.why_not;
    const double c = 0.2, u = -2.0;
    EXPECT_NEAR(r.change(0).impacts[0].u_plus[0], -(1.0 + c * u) * u, 1e-12);
    EXPECT_NEAR(d.velocity(0, 2), -(1.0 + 2.0 * c * u), 1e-12);
    EXPECT_NEAR(d.velocity(0, column(x, r.model, "c")), -u * u, 1e-12);
}

/// (C, K⁻¹γ): u⁺ = u − C γ_N/K with C = M⁻¹(w_N − μ w_T), K = w_Nᵀ C, for a closed contact that slips in the direction
/// +1.
template <class S>
Vector3<S> arrested(const Body<S>& o) {
    const Terms<S> k(o);
    const Vector3<S> C = k.inverse_mass.cwiseProduct(k.N - k.T * o.mu);
    return o.u - C * (k.gamma_N / (k.N.array() * C.array()).sum());
}

TEST(ImpactMap, OfAnArrestProjectsAlongTheForcesOfSlip) {
    Case c{"newton", {2.0, 0.5, 0.3, 0.4, 0.0, 0.0, 0.2, {5.0, 0.0, 0.0}}};
    std::string text = text_of(c);
    text.replace(text.find("[parameters]"), 0, "U = \"m*10*y\"\n");
    text += "q = { y = -1.0 }\n";
    const Recorded r(text, 0.01);
    Tangent x = r.tangent({"m", "J", "b", "r", "mu"});
    std::vector<double> state{0.0, -1.0, 0.0, 5.0, 0.0, 0.0, 0.0};
    x.set_mode(r.arc().mode, 0.0, state.data());
    // A velocity that enters the contact is projected out of it.
    c.body.u << 5.0, -0.7, 0.3;
    const Matrix found =
        sensitivity::differentiate_arrest(x, 0.0, state.data(), Vector(c.body.u), x.state_identity().bottomRows(3));
    for (int k = 0; k < numbers; ++k) {
        const std::string name = names[k];
        if (name == "e" || name == "eT") continue;
        Body<std::complex<double>> o;
        Body<double> own = c.body;
        for (int i = 0; i < numbers; ++i) number(o, i) = number(own, i);
        const Vector expected = complex_step(
            [&](std::complex<double> value) {
                number(o, k) = value;
                return arrested(o);
            },
            number(own, k));
        expect_matrix(found.col(column(x, r.model, name)), expected, 1e-11, "derivative by " + name);
    }
}

}  // namespace
}  // namespace saltus::impact_map_test
