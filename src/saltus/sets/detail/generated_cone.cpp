// SPDX-License-Identifier: Apache-2.0
#include "saltus/sets/detail/generated_cone.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/numbers.hpp"

// min ‖Σ z_j a_j − x‖ over z >= 0 by the active-set method of Lawson and Hanson. The passive generators have z_j > 0;
// their unconstrained least squares solution is known. In each round the generator with the largest product with the
// residual becomes passive. If the new solution violates z >= 0, z moves towards it only as far as possible, and
// generators that reach 0 are removed.
//
// The passive generators are stored as Q R. The result and all decisions depend on Qᵀx and the residual only, which are
// accurate as long as Q is orthonormal, even if generators are nearly dependent. z is needed for its signs only.
//
// Termination in rounded arithmetic: a generator is barred if it depends on the passive ones, is not positive in the
// new solution, or does not shorten the residual. It stays barred until another one shortens the residual. The number
// of rounds is limited as well.
//
// solvers/program/least_distance.cpp has the same method for matrices of any size. This one works without allocation in
// fixed arrays, and orthogonalises differently, so the two give different roundings.

namespace saltus::sets {

namespace {

double dot(const double* a, const double* b, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

class ActiveSet {
public:
    explicit ActiveSet(const GeneratedCone& cone) : n_(cone.dimension), count_(cone.count()) {
        for (int j = 0; j < count_; ++j) {
            const double* a = cone.generators.data() + j * n_;
            // Scaled by a power of two: rounding would make dependent generators independent. Zero ones stay zero.
            const double norm = length(a, n_);
            const int exponent = norm > 0.0 && norm < infinity ? std::ilogb(norm) : 0;
            for (int i = 0; i < n_; ++i) column(j)[i] = std::scalbn(a[i], -exponent);
        }
    }

    // Projects x, whose components are at most 1 in absolute value.
    void project(const double* x, double* out) {
        x_ = x;
        update_residual();
        double shortest = length(residual_, n_);
        const double noise = epsilon * (n_ + 4), negligible_distance = noise * shortest;
        for (int round = 0; round < 10 * (count_ + 1); ++round) {
            // The residual is orthogonal to Q relative to its own length. Hence the angle between a generator and the
            // residual is known to rounding, even for a generator that hardly differs from the passive ones.
            const double distance = length(residual_, n_);
            const int best = distance <= negligible_distance ? -1 : largest_gain(4.0 * noise * distance);
            if (best < 0) break;
            if (!append(best)) {
                barred_[best] = true;
                continue;
            }
            solve();
            if (!(trial_[passive_ - 1] > 0.0)) {
                remove(passive_ - 1);
                barred_[best] = true;
                continue;
            }
            z_[passive_ - 1] = 0.0;
            walk_to_trial();
            update_residual();
            const double now = length(residual_, n_);
            if (now < shortest) {
                std::fill_n(barred_, count_, false);
                shortest = now;
            } else {
                barred_[best] = true;
            }
        }
        for (int i = 0; i < n_; ++i) out[i] = 0.0;
        for (int k = 0; k < passive_; ++k)
            for (int i = 0; i < n_; ++i) out[i] += q(k)[i] * qtx_[k];
    }

private:
    double* column(int j) { return columns_ + j * max_cone_dimension; }
    double* q(int k) { return q_ + k * max_cone_dimension; }
    double& r(int i, int k) { return r_[k * max_cone_dimension + i]; }

    bool is_passive(int j) const { return std::find(index_, index_ + passive_, j) != index_ + passive_; }

    // The generator with the largest product with the residual; -1 if none exceeds the threshold.
    int largest_gain(double threshold) {
        int best = -1;
        double largest = threshold;
        for (int j = 0; j < count_; ++j) {
            if (barred_[j] || is_passive(j)) continue;
            const double gain = dot(column(j), residual_, n_);
            if (gain > largest) {
                largest = gain;
                best = j;
            }
        }
        return best;
    }

    // Adds generator j; false if it depends on the passive ones. Two passes of Gram–Schmidt suffice unless it does.
    bool append(int j) {
        if (passive_ == n_) return false;
        double* v = q(passive_);
        std::copy_n(column(j), n_, v);
        for (int k = 0; k < passive_; ++k) r(k, passive_) = 0.0;
        for (int pass = 0; pass < 2; ++pass) {
            for (int k = 0; k < passive_; ++k) {
                const double part = dot(q(k), v, n_);
                r(k, passive_) += part;
                for (int i = 0; i < n_; ++i) v[i] -= part * q(k)[i];
            }
        }
        double rest = length(v, n_);
        if (!(rest > 8.0 * epsilon * n_)) return false;
        for (int i = 0; i < n_; ++i) v[i] /= rest;
        for (int k = 0; k < passive_; ++k) {  // dividing by a small rest has enlarged the rounding: once more
            const double part = dot(q(k), v, n_);
            for (int i = 0; i < n_; ++i) v[i] -= part * q(k)[i];
        }
        const double norm = length(v, n_);
        for (int i = 0; i < n_; ++i) v[i] /= norm;
        r(passive_, passive_) = rest;
        index_[passive_] = j;
        qtx_[passive_] = dot(v, x_, n_);
        ++passive_;
        return true;
    }

    // Removes passive generator k; Givens rotations make R triangular again.
    void remove(int k) {
        for (int c = k; c + 1 < passive_; ++c) {
            for (int i = 0; i <= c + 1; ++i) r(i, c) = r(i, c + 1);
            index_[c] = index_[c + 1];
            z_[c] = z_[c + 1];
            trial_[c] = trial_[c + 1];
        }
        --passive_;
        for (int c = k; c < passive_; ++c) {
            const double norm = length(r(c, c), r(c + 1, c));
            const double cosine = norm == 0.0 ? 1.0 : r(c, c) / norm, sine = norm == 0.0 ? 0.0 : r(c + 1, c) / norm;
            for (int l = c; l < passive_; ++l) {
                const double upper = r(c, l), lower = r(c + 1, l);
                r(c, l) = cosine * upper + sine * lower;
                r(c + 1, l) = cosine * lower - sine * upper;
            }
            for (int i = 0; i < n_; ++i) {
                const double left = q(c)[i], right = q(c + 1)[i];
                q(c)[i] = cosine * left + sine * right;
                q(c + 1)[i] = cosine * right - sine * left;
            }
        }
        for (int c = k; c < passive_; ++c) qtx_[c] = dot(q(c), x_, n_);
    }

    // trial_ = the least squares solution R⁻¹Qᵀx of the passive generators.
    void solve() {
        for (int k = passive_ - 1; k >= 0; --k) {
            double sum = qtx_[k];
            for (int c = k + 1; c < passive_; ++c) sum -= r(k, c) * trial_[c];
            trial_[k] = sum / r(k, k);
        }
    }

    // Moves z towards the least squares solution as far as z >= 0 allows, removes generators that reach 0, and repeats.
    void walk_to_trial() {
        while (passive_ > 0) {
            double fraction = 1.0;
            int first = -1;
            for (int k = 0; k < passive_; ++k) {
                if (trial_[k] > 0.0) continue;
                const double limit = z_[k] / (z_[k] - trial_[k]);
                if (first < 0 || limit < fraction) {
                    fraction = z_[k] > 0.0 ? limit : 0.0;
                    first = k;
                }
            }
            if (first < 0) break;
            for (int k = 0; k < passive_; ++k) z_[k] += fraction * (trial_[k] - z_[k]);
            z_[first] = 0.0;
            remove(first);
            for (int k = passive_ - 1; k >= 0; --k)
                if (!(z_[k] > 0.0) && !(trial_[k] > 0.0)) remove(k);
            solve();
        }
        std::copy_n(trial_, passive_, z_);
    }

    // residual_ = x − Q Qᵀx, in two passes.
    void update_residual() {
        std::copy_n(x_, n_, residual_);
        for (int pass = 0; pass < 2; ++pass) {
            for (int k = 0; k < passive_; ++k) {
                const double part = dot(q(k), residual_, n_);
                for (int i = 0; i < n_; ++i) residual_[i] -= part * q(k)[i];
            }
        }
    }

    int n_, count_, passive_ = 0;
    const double* x_ = nullptr;
    bool barred_[max_cone_vectors] = {};
    int index_[max_cone_dimension];
    // Only the parts given by n_, count_ and passive_ are ever initialised: clearing all of it would take longer than
    // most projections.
    double z_[max_cone_dimension], trial_[max_cone_dimension], qtx_[max_cone_dimension], residual_[max_cone_dimension];
    double columns_[max_cone_vectors * max_cone_dimension];
    double q_[max_cone_dimension * max_cone_dimension];
    double r_[max_cone_dimension * max_cone_dimension];
};

}  // namespace

GeneratedCone::GeneratedCone(int dimension_, std::span<const double> generators_)
    : dimension(dimension_), generators(generators_) {
    SALTUS_EXPECT(dimension_ >= 1 && dimension_ <= max_cone_dimension);
    SALTUS_EXPECT(generators_.size() % static_cast<std::size_t>(dimension_) == 0);
    SALTUS_EXPECT(count() <= max_cone_vectors);
}

bool GeneratedCone::contains(std::span<const double> x, double tolerance) const {
    double p[max_cone_dimension];
    project(x, p);
    for (int i = 0; i < dimension; ++i) p[i] = x.data()[i] - p[i];
    return length(p, dimension) <= tolerance;
}

void GeneratedCone::project(std::span<const double> x, double* out) const {
    SALTUS_EXPECT(x.size() == static_cast<std::size_t>(dimension));
    double largest = 0.0;
    for (const double value : x) largest = std::max(largest, std::abs(value));
    if (has_nan(x.data(), dimension) || has_nan(generators.data(), static_cast<int>(generators.size()))) {
        std::fill_n(out, dimension, std::numeric_limits<double>::quiet_NaN());
        return;
    }
    if (largest == 0.0) {
        std::fill_n(out, dimension, 0.0);
        return;
    }
    double scaled[max_cone_dimension];
    for (int i = 0; i < dimension; ++i) scaled[i] = x.data()[i] / largest;
    ActiveSet set(*this);
    set.project(scaled, out);
    for (int i = 0; i < dimension; ++i) out[i] *= largest;
}

double GeneratedCone::support(std::span<const double> d) const { return cone_support<max_cone_dimension>(dual(), d); }

bool GeneratedCone::in_normal_cone(std::span<const double> x, std::span<const double> d, double tolerance) const {
    return is_normal<max_cone_dimension>(*this, x, d, 0.0, tolerance);
}

}  // namespace saltus::sets
