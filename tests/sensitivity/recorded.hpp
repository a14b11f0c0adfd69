// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/motion.hpp"
#include "saltus/integrate/event/recording.hpp"
#include "saltus/sensitivity/detail/tangent.hpp"
#include "saltus/sensitivity/saltation/detail/saltation.hpp"

/// Recorded motions of small models, for tests of the parts of a derivative: one arc, one event, one impact.
namespace saltus::test {

/// A simulated motion and its recording.
struct Recorded {
    explicit Recorded(const std::string& text, double t_end, const integrate::Method& method = EventDriven{})
        : model(from_text(text)) {
        integrate::Options options;
        options.t_end = t_end;
        integrate::RecordedMotion recorded = integrate::simulate_recorded(model, method, options);
        motion = std::move(recorded.motion);
        recording = std::move(recorded.recording);
        EXPECT_EQ(motion.status, Status::completed) << motion.reason;
        for (std::size_t k = 1; k < recording.pieces.size(); ++k)
            if (std::holds_alternative<integrate::RecordedChange>(recording.pieces[k])) changes.push_back(k);
    }
    Recorded(const Recorded&) = delete;
    Recorded& operator=(const Recorded&) = delete;

    /// The change number k after the start, and the piece of the motion before it.
    const integrate::RecordedChange& change(std::size_t k) const {
        return std::get<integrate::RecordedChange>(recording.pieces.at(changes.at(k)));
    }
    const integrate::RecordedPiece& piece_before(std::size_t k) const { return recording.pieces.at(changes.at(k) - 1); }
    /// The first arc.
    const integrate::RecordedArc& arc() const { return std::get<integrate::RecordedArc>(recording.pieces.at(1)); }

    sensitivity::Tangent tangent(const std::vector<std::string>& wrt) const {
        return {model, recording, sensitivity::variables(model, wrt)};
    }

    Model model;
    Trajectory motion;
    integrate::Recording recording;
    std::vector<std::size_t> changes;  ///< indices of the pieces that are changes, without the one at the start
};

/// The column of a variable in the derivatives of a tangent.
inline Eigen::Index column(const sensitivity::Tangent& tangent, const Model& model, const std::string& name) {
    return tangent.column_of(sensitivity::variables(model, {name}).at(0));
}

/// Ξ = map_x − drift s_x/ṡ of a change with one condition.
inline Matrix saltation_matrix(const sensitivity::Saltation& s, int n) {
    Matrix out = s.map.middleCols(1, 2 * n);
    out -= s.drift * s.events.at(0).s.segment(1, 2 * n) / s.events.at(0).rate;
    return out;
}

/// Compares matrices entry by entry, relative to the largest expected entry.
inline void expect_matrix(const Matrix& found, const Matrix& expected, double tolerance, const std::string& what) {
    ASSERT_EQ(found.rows(), expected.rows()) << what;
    ASSERT_EQ(found.cols(), expected.cols()) << what;
    const double scale = std::max(1.0, expected.cwiseAbs().maxCoeff());
    EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), tolerance * scale) << what << "\nfound\n"
                                                                           << found << "\nexpected\n"
                                                                           << expected;
}

}  // namespace saltus::test
