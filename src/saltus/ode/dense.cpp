// SPDX-License-Identifier: Apache-2.0
#include "saltus/ode/dense.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

StepParts::StepParts(const Dense& step, double until) : from_(step.t_old()), to_(std::min(step.t_new(), until)) {
    constexpr int parts_of_a_series = 16;  // a step can be a period long; other methods take about 20 for a period
    count_ = step.form() == Dense::Form::series ? parts_of_a_series : 1;
    // The last steps before an accumulation can be a few neighbouring numbers wide. Their parts would be empty.
    constexpr double numbers_in_a_part = 4.0;
    const double spacing = std::numeric_limits<double>::epsilon() * std::max(std::abs(from_), std::abs(to_));
    if (!(to_ - from_ > numbers_in_a_part * parts_of_a_series * spacing)) count_ = 1;
    if (!(to_ > from_)) count_ = 0;
}

void Dense::reset(double t_old, double t_new, int n, int terms) {
    SALTUS_EXPECT(t_new > t_old && n >= 0 && terms >= 2 && terms <= max_terms);
    t_old_ = t_old;
    t_new_ = t_new;
    form_ = Form::ends;
    n_ = n;
    terms_ = terms;
    coefficients_.resize(ix(n) * ix(terms));
}

void Dense::reset_series(double t_old, double t_new, int n, int order) {
    SALTUS_EXPECT(t_new > t_old && n >= 0 && order >= 1 && order <= max_series_order);
    t_old_ = t_old;
    t_new_ = t_new;
    form_ = Form::series;
    n_ = n;
    terms_ = order + 2;
    coefficients_.resize(ix(n) * ix(terms_));
}

std::span<double> Dense::term(int k) {
    SALTUS_EXPECT(k >= 0 && k < terms_);
    return {coefficients_.data() + ix(k) * ix(n_), ix(n_)};
}

void Dense::set_end(std::span<const double> x_new) {
    SALTUS_EXPECT(terms_ > 0 && x_new.size() == ix(n_));
    const std::span<double> end = term(form_ == Form::series ? terms_ - 1 : 1);
    if (form_ == Form::series) {
        // The sum of all terms, for all components at once: the value at the end.
        double *const sum = end.data(), *const first = term(1).data();
        std::fill(end.begin(), end.end(), 0.0);
        for (int k = terms_ - 2; k >= 0; --k) {
            const double* const c = coefficients_.data() + ix(k) * ix(n_);
            for (int i = 0; i < n_; ++i) sum[i] += c[i];
        }
        for (int i = 0; i < n_; ++i) first[i] += x_new[ix(i)] - sum[i];
    }
    std::copy(x_new.begin(), x_new.end(), end.begin());
}

/// Horner's scheme. It does not use x_new, the last term.
double Dense::series_value(int i, double theta) const {
    const double* const c = coefficients_.data() + i;
    double value = 0.0;
    for (int k = terms_ - 2; k >= 0; --k) value = value * theta + c[ix(k) * ix(n_)];
    return value;
}

/// The derivative by θ.
double Dense::series_slope(int i, double theta) const {
    const double* const c = coefficients_.data() + i;
    double value = 0.0;
    for (int k = terms_ - 2; k >= 1; --k) value = value * theta + k * c[ix(k) * ix(n_)];
    return value;
}

void Dense::evaluate(double t, double* x, int first) const {
    SALTUS_EXPECT(terms_ > 0 && first <= n_);
    if (form_ == Form::series) {
        if (t == t_new_) {
            std::copy_n(coefficients_.data() + ix(terms_ - 1) * ix(n_), first, x);
            return;
        }
        // Horner's scheme for all components at once: the processor need not wait for one product after the other.
        const double theta = (t - t_old_) / (t_new_ - t_old_);
        const double* c = coefficients_.data() + ix(terms_ - 2) * ix(n_);
        std::copy_n(c, first, x);
        for (int k = terms_ - 3; k >= 0; --k) {
            c -= n_;
            for (int i = 0; i < first; ++i) x[i] = x[i] * theta + c[i];
        }
        return;
    }
    const Weights w((t - t_old_) / (t_new_ - t_old_), terms_);
    for (int i = 0; i < first; ++i) x[i] = value(coefficients_.data() + i, ix(n_), terms_, w);
}

void Dense::derivative(double t, double* dx) const {
    SALTUS_EXPECT(terms_ > 0);
    for (int i = 0; i < n_; ++i) dx[i] = component_derivative(i, t);
}

double Dense::component(int i, double t) const {
    SALTUS_EXPECT(i >= 0 && i < n_);
    const double theta = (t - t_old_) / (t_new_ - t_old_);
    if (form_ == Form::series)
        return t == t_new_ ? coefficients_[ix(terms_ - 1) * ix(n_) + ix(i)] : series_value(i, theta);
    const Weights w(theta, terms_);
    return value(coefficients_.data() + i, ix(n_), terms_, w);
}

double Dense::component_derivative(int i, double t) const {
    SALTUS_EXPECT(i >= 0 && i < n_);
    const double h = t_new_ - t_old_;
    if (form_ == Form::series) return series_slope(i, (t - t_old_) / h) / h;
    const Slopes w((t - t_old_) / h, terms_);
    return slope(coefficients_.data() + i, ix(n_), terms_, w) / h;
}

}  // namespace saltus::ode
