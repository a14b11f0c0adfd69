// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/base/linalg.hpp"
#include "saltus/sensitivity/study/detail/study_fit.hpp"

namespace saltus::sensitivity {

namespace {

/// log x must vary by at least this over the runs; otherwise x has no exponent.
constexpr double smallest_log_range = 1e-12;

}  // namespace

PowerLaw fit_power_law(const std::vector<std::vector<double>>& x, const std::vector<double>& y) {
    PowerLaw law;
    std::vector<std::size_t> used;
    for (std::size_t r = 0; r < y.size(); ++r) {
        bool positive = y[r] > 0.0 && std::isfinite(y[r]);
        for (const std::vector<double>& column : x) positive = positive && column[r] > 0.0 && std::isfinite(column[r]);
        if (positive) used.push_back(r);
    }
    law.runs = static_cast<int>(used.size());
    law.exponents.assign(x.size(), std::numeric_limits<double>::quiet_NaN());
    law.rms = std::numeric_limits<double>::quiet_NaN();
    if (used.size() < x.size() + 1 || x.empty()) return law;
    const auto rows = static_cast<Eigen::Index>(used.size()), columns = static_cast<Eigen::Index>(x.size());
    Matrix A(rows, columns + 1);
    Vector b(rows);
    for (Eigen::Index r = 0; r < rows; ++r) {
        const std::size_t run = used[static_cast<std::size_t>(r)];
        A(r, 0) = 1.0;
        for (Eigen::Index c = 0; c < columns; ++c) A(r, c + 1) = std::log(x[static_cast<std::size_t>(c)][run]);
        b(r) = std::log(y[run]);
    }
    for (Eigen::Index c = 1; c <= columns; ++c)
        if (A.col(c).maxCoeff() - A.col(c).minCoeff() < smallest_log_range) return law;
    const Vector solution = least_squares(A, b);
    for (Eigen::Index c = 0; c < columns; ++c) law.exponents[static_cast<std::size_t>(c)] = solution(c + 1);
    law.rms = (A * solution - b).norm() / std::sqrt(static_cast<double>(rows));
    return law;
}

namespace {

/// The exponents between each run and its next neighbour in each parameter. The last parameter varies fastest, so the
/// neighbour is `stride` runs ahead.
std::vector<LocalExponent> local_exponents(const EventStudy& study, const std::vector<double>& change) {
    std::vector<LocalExponent> list;
    std::size_t stride = study.runs.size();
    for (std::size_t p = 0; p < study.vary.size(); ++p) {
        const auto count = static_cast<std::size_t>(study.vary[p].n);
        stride /= count;
        for (std::size_t r = 0; r < study.runs.size(); ++r) {
            if ((r / stride) % count + 1 >= count) continue;
            const std::size_t next = r + stride;
            const double from = study.runs[r].values[p], to = study.runs[next].values[p];
            if (!(from > 0.0 && to > 0.0 && from != to && change[r] > 0.0 && change[next] > 0.0)) continue;
            list.push_back({static_cast<int>(p), r, next, std::log(change[next] / change[r]) / std::log(to / from)});
        }
    }
    return list;
}

/// Fits |change| against the obstacle's θ, θ̇ and θ̈, one at a time.
EventResponse::Answer::Fits obstacle_fits(const EventStudy& study, std::size_t event, const std::vector<double>& change,
                                          std::vector<std::array<double, 3>> EventStudyRun::*values,
                                          const std::array<const char*, 3>& names) {
    EventResponse::Answer::Fits fits;
    bool moves = false;
    for (std::size_t k = 0; k < 3; ++k) {
        std::vector<double> theta;
        for (const EventStudyRun& run : study.runs) {
            theta.push_back((run.*values).empty() ? 0.0 : std::abs((run.*values)[event][k]));
            moves = moves || theta.back() > 0.0;
        }
        PowerLaw law = fit_power_law({theta}, change);
        law.of = {names[k]};
        // A perturbation that is zero at the event, up to rounding, has a value that follows its velocity. Both laws
        // then fit equally well, and the later one, that of the velocity, is meant.
        constexpr double equal_fit = 1e-6;  // of the rms, which is in natural logarithms
        if (std::isfinite(law.rms) &&
            (fits.felt < 0 || law.rms < fits.laws[static_cast<std::size_t>(fits.felt)].rms + equal_fit))
            fits.felt = static_cast<int>(k);
        fits.laws.push_back(std::move(law));
    }
    return moves ? fits : EventResponse::Answer::Fits{};
}

}  // namespace

EventResponse::Answer answer_of(const EventStudy& study, std::size_t event, Quantity quantity, double resolution) {
    EventResponse::Answer answer;
    answer.quantity = quantity;
    const double scale = quantity == Quantity::time ? std::max(1.0, std::abs(study.nominal[event].t))
                                                    : std::max(1.0, std::abs(study.nominal[event].impulse));
    std::vector<double> change;
    for (const EventStudyRun& run : study.runs) {
        const double c = std::abs(quantity == Quantity::time ? run.time_change[event] : run.impulse_change[event]);
        change.push_back(c > resolution * scale ? c : 0.0);
    }
    std::vector<std::vector<double>> x;
    std::vector<std::string> names;
    for (std::size_t p = 0; p < study.vary.size(); ++p) {
        if (study.vary[p].n < 2) continue;
        names.push_back(study.vary[p].name);
        x.emplace_back();
        for (const EventStudyRun& run : study.runs) x.back().push_back(run.values[p]);
    }
    answer.law = fit_power_law(x, change);
    answer.law.of = names;
    answer.local = local_exponents(study, change);
    answer.at_event = obstacle_fits(study, event, change, &EventStudyRun::theta, {"|theta|", "|theta'|", "|theta''|"});
    answer.largest = obstacle_fits(study, event, change, &EventStudyRun::theta_largest,
                                   {"max|theta|", "max|theta'|", "max|theta''|"});
    return answer;
}

}  // namespace saltus::sensitivity
