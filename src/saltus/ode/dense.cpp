// SPDX-License-Identifier: Apache-2.0
#include "saltus/ode/dense.hpp"

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"

namespace saltus::ode {

namespace {

// Weights of the terms at θ. The chord starts from the nearer end, so that both ends are exact to the bit:
//     x_old + θ (x_new − x_old) = x_new − (1 − θ)(x_new − x_old)
struct Weights {
    bool from_old;                    // the chord starts at x_old, else at x_new
    double chord;                     // weight of x_new − x_old
    double bubble[Dense::max_terms];  // weights of r_k: θ(1−θ), θ²(1−θ), θ²(1−θ)², …; they vanish at both ends

    Weights(double theta, int terms) {
        const double rest = 1.0 - theta;
        from_old = theta <= 0.5;
        chord = theta <= 0.5 ? theta : -rest;
        double product = theta;
        for (int k = 2; k < terms; ++k) {
            product *= k % 2 == 0 ? rest : theta;
            bubble[k] = product;
        }
    }
};

// Derivatives of the weights by θ: the factors θ and 1 − θ are added in turn, by the product rule.
struct Slopes {
    double bubble[Dense::max_terms];

    Slopes(double theta, int terms) {
        const double rest = 1.0 - theta;
        double product = theta, slope = 1.0;
        for (int k = 2; k < terms; ++k) {
            const double factor = k % 2 == 0 ? rest : theta, factor_slope = k % 2 == 0 ? -1.0 : 1.0;
            slope = slope * factor + product * factor_slope;
            product *= factor;
            bubble[k] = slope;
        }
    }
};

double value(const double* c, std::size_t n, int terms, const Weights& w) {
    double sum = w.chord * (c[n] - c[0]);
    for (int k = 2; k < terms; ++k) sum += w.bubble[k] * c[ix(k) * n];
    return (w.from_old ? c[0] : c[n]) + sum;
}

double slope(const double* c, std::size_t n, int terms, const Slopes& w) {
    double sum = c[n] - c[0];
    for (int k = 2; k < terms; ++k) sum += w.bubble[k] * c[ix(k) * n];
    return sum;
}

}  // namespace

void Dense::reset(double t_old, double t_new, int n, int terms) {
    SALTUS_EXPECT(t_new > t_old && n >= 0 && terms >= 2 && terms <= max_terms);
    t_old_ = t_old;
    t_new_ = t_new;
    n_ = n;
    terms_ = terms;
    coefficients_.resize(ix(n) * ix(terms));
}

std::span<double> Dense::term(int k) {
    SALTUS_EXPECT(k >= 0 && k < terms_);
    return {coefficients_.data() + ix(k) * ix(n_), ix(n_)};
}

void Dense::evaluate(double t, double* x, int first) const {
    SALTUS_EXPECT(terms_ > 0 && first <= n_);
    const Weights w((t - t_old_) / (t_new_ - t_old_), terms_);
    for (int i = 0; i < first; ++i) x[i] = value(coefficients_.data() + i, ix(n_), terms_, w);
}

void Dense::derivative(double t, double* dx) const {
    SALTUS_EXPECT(terms_ > 0);
    const double h = t_new_ - t_old_;
    const Slopes w((t - t_old_) / h, terms_);
    for (int i = 0; i < n_; ++i) dx[i] = slope(coefficients_.data() + i, ix(n_), terms_, w) / h;
}

double Dense::component(int i, double t) const {
    SALTUS_EXPECT(i >= 0 && i < n_);
    const Weights w((t - t_old_) / (t_new_ - t_old_), terms_);
    return value(coefficients_.data() + i, ix(n_), terms_, w);
}

double Dense::component_derivative(int i, double t) const {
    SALTUS_EXPECT(i >= 0 && i < n_);
    const double h = t_new_ - t_old_;
    const Slopes w((t - t_old_) / h, terms_);
    return slope(coefficients_.data() + i, ix(n_), terms_, w) / h;
}

}  // namespace saltus::ode
