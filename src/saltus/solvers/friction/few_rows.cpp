// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/few_rows.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"

namespace saltus::solvers {

namespace {

// A proximal term on the diagonal, as part of the mean diagonal: redundant rows keep the reactions of the guess.
// Repeated improvement removes its effect on the others.
constexpr double proximal_ratio = 1e-7;
// Rows that are almost redundant keep a defect then. If it is too large, this part is tried.
constexpr double small_proximal_ratio = 1e-9;
// A mode is left if its law is violated by more than this part of the size of the reactions.
constexpr double violation_ratio = 1e-12;
// Equations hold, as far as rounding permits, below this part of the same size.
constexpr double rounding_ratio = 1e-15;
// Friction of a guess counts as slipping from this part of its bound on.
constexpr double slip_ratio = 1.0 - 1e-9;
// The residual is relative to max(ρ‖q‖, ‖r‖), but ‖r‖ counts up to this multiple of ρ‖q‖ only: reactions far beyond
// what the velocities require, as redundant rows can have, shall not make a defect smaller.
constexpr double largest_reaction_scale = 1e3;
constexpr int max_mode_changes = 12;  // rounds in which the modes of all contacts are corrected together
constexpr int max_improvements =
    4;  // steps for one mode: the first has the proximal term, the others remove its effect
// From this change of modes on, a contact that closes has been closed before, or follows from another change.
constexpr int first_reclosing_round = 2;

}  // namespace

bool FewRows::fits(std::span<const Law> laws, std::span<const int> first) {
    if (first.back() > max_rows || laws.size() > ix(max_rows)) return false;
    for (std::size_t b = 0; b < laws.size(); ++b) {
        const Law& law = laws[b];
        const bool along_a_line = first[b + 1] - first[b] == 1 && !(law.mu_second >= 0.0);
        switch (law.kind) {
            case LawKind::bilateral:
            case LawKind::unilateral:
            case LawKind::friction2: break;
            case LawKind::slider:
                if (!along_a_line) return false;
                break;
            case LawKind::scaled_slider:  // the row that scales it must be known before it
                if (!along_a_line || law.row < 0 || law.row >= first[b]) return false;
                break;
            default: return false;
        }
    }
    return true;
}

/// Finds the equations of the current modes, and how each reaction depends on their unknowns: a row that holds (v = 0)
/// has an unknown reaction; slipping friction follows the reaction that bounds it; open rows have none.
void FewRows::set_up(std::span<const Law> laws, std::span<const int> first) {
    unknowns_ = 0;
    const auto hold = [&](int i) {
        row_[i] = {unknowns_, 1.0, 0.0};
        equation_[unknowns_++] = i;
    };
    for (std::size_t b = 0; b < laws.size(); ++b) {
        const Law& law = laws[b];
        const int i = first[b];
        switch (law.kind) {
            case LawKind::bilateral:
                for (int k = i; k < first[b + 1]; ++k) hold(k);
                break;
            case LawKind::slider:
                if (slip_[b] == 0)
                    hold(i);
                else
                    row_[i] = {-1, 0.0, slip_[b] * law.bound};
                break;
            case LawKind::scaled_slider:
                if (slip_[b] == 0)
                    hold(i);
                else
                    row_[i] = {row_[law.row].unknown, slip_[b] * sign_[b] * law.mu, 0.0};
                break;
            default:
                if (closed_[b])
                    hold(i);
                else
                    row_[i] = {-1, 0.0, 0.0};
                if (law.kind != LawKind::friction2) break;
                if (!closed_[b])
                    row_[i + 1] = {-1, 0.0, 0.0};
                else if (slip_[b] == 0)
                    hold(i + 1);
                else
                    row_[i + 1] = {row_[i].unknown, slip_[b] * law.mu, 0.0};
        }
    }
}

/// LU factors with row pivots of the matrix A: row e is the velocity of equation e as a function of the unknowns, from
/// v = D r + q and r = factor·z + offset. Reciprocals are on the diagonal. False if A is singular.
bool FewRows::factorise() {
    const int n = unknowns_;
    for (int e = 0; e < n; ++e) {
        double* const a = A_[e];
        std::fill_n(a, n, 0.0);
        const double* const d = D_ + equation_[e] * rows_;
        for (int i = 0; i < rows_; ++i)
            if (row_[i].unknown >= 0) a[row_[i].unknown] += row_[i].factor * d[i];
        a[e] += (fine_ ? small_proximal_ratio : proximal_ratio) / rho_;
    }
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(A_[i][k]) > std::abs(A_[pivot][k])) pivot = i;
        pivot_[k] = pivot;
        if (pivot != k) std::swap_ranges(A_[k], A_[k] + n, A_[pivot]);
        if (!(std::abs(A_[k][k]) > 0.0)) return false;
        const double inverse = A_[k][k] = 1.0 / A_[k][k];
        for (int i = k + 1; i < n; ++i) {
            const double f = A_[i][k] *= inverse;
            for (int j = k + 1; j < n; ++j) A_[i][j] -= f * A_[k][j];
        }
    }
    return true;
}

/// One step of iterative refinement: changes r so that the velocities of the equations become zero.
void FewRows::improve() {
    const int n = unknowns_;
    double z[max_rows];
    for (int e = 0; e < n; ++e) z[e] = -v_[equation_[e]];
    for (int k = 0; k < n; ++k)  // `factorise` exchanged whole rows, with their factors
        if (pivot_[k] != k) std::swap(z[k], z[pivot_[k]]);
    for (int i = 1; i < n; ++i)
        for (int j = 0; j < i; ++j) z[i] -= A_[i][j] * z[j];
    for (int i = n - 1; i >= 0; --i) {
        for (int j = i + 1; j < n; ++j) z[i] -= A_[i][j] * z[j];
        z[i] *= A_[i][i];
    }
    for (int i = 0; i < rows_; ++i)
        if (row_[i].unknown >= 0) r_[i] += row_[i].factor * z[row_[i].unknown];
    update_velocities();
}

/// v = D r + q, the size of the reactions, and the largest defect of the equations.
void FewRows::update_velocities() {
    double largest = 0.0;
    for (int i = 0; i < rows_; ++i) {
        double sum = q_[i];
        for (int j = 0; j < rows_; ++j) sum += D_[i * rows_ + j] * r_[j];
        v_[i] = sum;
        largest = std::max(largest, std::abs(r_[i]));
    }
    scale_ = std::max(rho_ * q_norm_, largest);
    defect_ = 0.0;
    for (int e = 0; e < unknowns_; ++e) defect_ = std::max(defect_, rho_ * std::abs(v_[equation_[e]]));
}

/// Changes the modes of blocks whose law is violated, and returns whether there were any. A closed contact that pulls
/// opens; an open one that penetrates closes. Friction beyond its bound starts to slip. Slipping friction that points
/// along the velocity, and so would drive it, sticks. A contact that closes again slips against its velocity: it opened
/// because it pulled while it stuck, and would do so again.
bool FewRows::change_modes(std::span<const Law> laws, std::span<const int> first, int round) {
    const double zero_r = violation_ratio * scale_, zero_v = zero_r / rho_;
    bool changed = false;
    const auto friction = [&](std::size_t b, int i, double bound) {
        if (slip_[b] == 0) {
            if (std::abs(r_[i]) <= bound + zero_r) return;
            slip_[b] = r_[i] > 0.0 ? 1 : -1;
        } else {
            if (slip_[b] * v_[i] <= zero_v) return;
            slip_[b] = 0;
        }
        changed = true;
    };
    for (std::size_t b = 0; b < laws.size(); ++b) {
        const Law& law = laws[b];
        const int i = first[b];
        switch (law.kind) {
            case LawKind::bilateral: break;
            case LawKind::slider: friction(b, i, law.bound); break;
            case LawKind::scaled_slider: {
                const double scaling = r_[law.row], sign = scaling >= 0.0 ? 1.0 : -1.0;
                if (slip_[b] != 0 && sign != sign_[b] && std::abs(scaling) > zero_r) changed = true;
                sign_[b] = sign;
                friction(b, i, law.mu * std::abs(scaling));
                break;
            }
            default:
                if (closed_[b] ? r_[i] < -zero_r : v_[i] < -zero_v) {
                    closed_[b] = !closed_[b];
                    slip_[b] = 0;
                    if (closed_[b] && round >= first_reclosing_round && law.kind == LawKind::friction2)
                        slip_[b] = v_[i + 1] < 0.0 ? 1 : (v_[i + 1] > 0.0 ? -1 : 0);
                    changed = true;
                } else if (closed_[b] && law.kind == LawKind::friction2) {
                    friction(b, i + 1, law.mu * std::max(0.0, r_[i]));
                }
        }
    }
    return changed;
}

/// Moves reactions that are outside their laws by rounding onto them, and measures the relative residual.
void FewRows::measure_residual(std::span<const Law> laws, std::span<const int> first) {
    double sum = 0.0, r_norm = 0.0;
    const auto add = [&](double defect) { sum += defect * defect; };
    for (std::size_t b = 0; b < laws.size(); ++b) {
        const Law& law = laws[b];
        const int i = first[b];
        const auto friction = [&](int k, double bound) {
            const double kept = std::clamp(r_[k], -bound, bound);
            add(r_[k] - kept);
            r_[k] = kept;
            add(slip_[b] == 0 ? rho_ * v_[k] : std::max(0.0, rho_ * slip_[b] * v_[k]));
        };
        switch (law.kind) {
            case LawKind::bilateral:
                for (int k = i; k < first[b + 1]; ++k) add(rho_ * v_[k]);
                break;
            case LawKind::slider: friction(i, law.bound); break;
            case LawKind::scaled_slider: friction(i, law.mu * std::abs(r_[law.row])); break;
            default:
                if (r_[i] < 0.0) {
                    add(r_[i]);
                    r_[i] = 0.0;
                }
                add(closed_[b] ? rho_ * v_[i] : std::min(0.0, rho_ * v_[i]));
                if (law.kind == LawKind::friction2 && closed_[b]) friction(i + 1, law.mu * r_[i]);
        }
    }
    for (int i = 0; i < rows_; ++i) r_norm += r_[i] * r_[i];
    const double scale = std::max(rho_ * q_norm_, std::min(std::sqrt(r_norm), largest_reaction_scale * rho_ * q_norm_));
    residual_ = scale > 0.0 ? std::sqrt(sum) / scale : std::sqrt(sum);
}

/// The modes that the reactions of the guess show. Without a guess contacts that approach are closed and stick.
void FewRows::modes_of_guess(std::span<const Law> laws, std::span<const int> first, bool guessed) {
    for (std::size_t b = 0; b < laws.size(); ++b) {
        const Law& law = laws[b];
        const int i = first[b];
        const bool normal = law.kind == LawKind::unilateral || law.kind == LawKind::friction2;
        closed_[b] = normal && (guessed ? r_[i] > 0.0 : q_[i] < 0.0);
        const int t = normal ? i + 1 : i;
        sign_[b] = law.kind == LawKind::scaled_slider && r_[law.row] < 0.0 ? -1.0 : 1.0;
        const double bound = law.kind == LawKind::slider          ? law.bound
                             : law.kind == LawKind::scaled_slider ? law.mu * std::abs(r_[law.row])
                                                                  : law.mu * r_[i];
        const bool slides = law.kind != LawKind::bilateral && law.kind != LawKind::unilateral;
        slip_[b] = 0;
        if (slides && guessed && std::abs(r_[t]) > 0.0 && std::abs(r_[t]) >= slip_ratio * bound)
            slip_[b] = r_[t] > 0.0 ? 1 : -1;
    }
}

bool FewRows::solve(std::span<const Law> laws, std::span<const int> first, std::span<const double> D,
                    std::span<const double> q, std::span<const double> guess, double tolerance) {
    rows_ = static_cast<int>(q.size());
    D_ = D.data();
    q_ = q.data();
    double diagonal = 0.0, square = 0.0;
    for (int i = 0; i < rows_; ++i) {
        diagonal += D_[i * rows_ + i];
        square += q_[i] * q_[i];
    }
    if (!(diagonal > 0.0) || !std::isfinite(diagonal) || !std::isfinite(square)) return false;
    rho_ = rows_ / diagonal;
    q_norm_ = std::sqrt(square);

    const bool guessed = std::any_of(guess.begin(), guess.end(), [](double x) { return x != 0.0; });
    for (int i = 0; i < rows_; ++i) r_[i] = guessed ? guess[ix(i)] : 0.0;
    modes_of_guess(laws, first, guessed);
    fine_ = false;
    for (int round = 0; round < max_mode_changes; ++round) {
        set_up(laws, first);
        for (int i = 0; i < rows_; ++i)
            r_[i] = row_[i].unknown < 0 ? row_[i].offset : row_[i].factor * r_[equation_[row_[i].unknown]];
        update_velocities();
        if (defect_ > rounding_ratio * scale_) {
            if (!factorise()) return false;
            // One step solves the equations with the proximal term, the next ones remove its effect.
            for (int k = 0; k < max_improvements && defect_ > rounding_ratio * scale_; ++k) improve();
        }
        if (change_modes(laws, first, round)) continue;
        measure_residual(laws, first);
        if (residual_ <= tolerance || fine_) return residual_ <= tolerance;
        fine_ = true;
    }
    return false;
}

}  // namespace saltus::solvers
