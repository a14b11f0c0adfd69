// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/sensitivity.hpp"

#include <algorithm>
#include <chrono>
#include <variant>

#include "saltus/base/text.hpp"
#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/support.hpp"
#include "saltus/sensitivity/arc/detail/jumps.hpp"
#include "saltus/sensitivity/detail/adjoint.hpp"
#include "saltus/sensitivity/detail/forward.hpp"

namespace saltus::sensitivity {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Adds a warning if slip in a plane comes to rest. The direction of slip has no limit there, and the equations lose
/// their smoothness: the derivative of the time of rest is extrapolated. Random models showed errors of 1e-5 of the
/// largest derivative, and up to 2e-3 where slip goes on or begins again at once (docs/trust.md).
void warn_of_rest_in_a_plane(const integrate::Recording& recording, const integrate::Dynamics& dynamics,
                             std::vector<std::string>& warnings) {
    const auto comes_to_rest = [&](const integrate::Watch& w) {
        return w.what == integrate::Watch::What::slip && dynamics.parts()[static_cast<std::size_t>(w.part)].size > 1;
    };
    for (const integrate::RecordedPiece& piece : recording.pieces) {
        const auto* change = std::get_if<integrate::RecordedChange>(&piece);
        if (change == nullptr || std::none_of(change->found.begin(), change->found.end(), comes_to_rest)) continue;
        warnings.push_back("slip in a plane comes to rest at t = " + number_text(change->t) +
                           ": derivatives after it may be off by 1e-5 of the largest one, and by up to 2e-3 if slip "
                           "goes on or begins again at once; --check compares them with differences");
        return;
    }
}

}  // namespace

Sensitivity sensitivity(const model::Model& model, const std::vector<Variable>& with_respect_to,
                        const Options& options) {
    Sensitivity out;
    out.with_respect_to = with_respect_to;
    integrate::Options run;
    run.t_end = options.t_end;
    run.start = options.start;
    run.interrupted = options.interrupted;
    run.progress = options.progress;
    const bool time_stepping = std::holds_alternative<integrate::Moreau>(options.method);
    const auto start = std::chrono::steady_clock::now();
    integrate::Recording recording;
    std::shared_ptr<integrate::Dynamics> dynamics;
    if (time_stepping) {
        out.motion = integrate::simulate(model, options.method, run);
    } else {
        integrate::RecordedMotion recorded = integrate::simulate_recorded(model, options.method, run);
        out.motion = std::move(recorded.motion);
        recording = std::move(recorded.recording);
        dynamics = std::move(recorded.dynamics);
    }
    out.simulation_seconds = seconds_since(start);
    const auto refuse = [&](std::string why) {
        out.available = false;
        out.reason = std::move(why);
    };
    if (time_stepping)
        refuse("time-stepping does not resolve its events, and derivatives need them; simulate with method event");
    else if (out.motion.status != trajectory::Status::completed)
        refuse("the motion ended early: " + out.motion.reason);
    else if (std::string why = model::unsupported(model, model::Analysis::sensitivity); !why.empty())
        refuse(std::move(why));
    std::optional<Output> output;
    if (!options.output.empty()) {
        output = output_of(model, options.output, out.motion.end.t, out.motion.end.q, out.motion.end.u);
        out.output = output->value;
        out.output_gradient = output->gradient;
    }
    if (!out.available) return out;
    const auto begun = std::chrono::steady_clock::now();
    if (std::string why = cut_at_jumps(model, with_respect_to, recording); !why.empty()) {
        refuse(std::move(why));
        return out;
    }
    if (dynamics) warn_of_rest_in_a_plane(recording, *dynamics, out.motion.warnings);
    const bool has_derivatives = output && options.adjoint
                                     ? backwards(model, recording, std::move(dynamics), *output, options, out)
                                     : forwards(model, recording, std::move(dynamics), options, out);
    if (!has_derivatives) {
        refuse(model::unsupported(model, model::Analysis::sensitivity));
        return out;
    }
    // δo = o_x δx + o_p δp; the end time is fixed, so o_t does not enter.
    if (output && !options.adjoint)
        for (std::size_t j = 0; j < with_respect_to.size(); ++j) {
            const int n = model.size();
            double value = output->gradient.segment(1, 2 * n).dot(out.final.col(static_cast<Eigen::Index>(j)));
            if (with_respect_to[j].kind == Variable::Kind::parameter)
                value += output->gradient(1 + 2 * n + with_respect_to[j].index);
            out.output_derivative.push_back(value);
        }
    out.derivative_seconds = seconds_since(begun);
    return out;
}

}  // namespace saltus::sensitivity
