// SPDX-License-Identifier: Apache-2.0
// Motions by Saltus and by Siconos: event-driven at equal measured error, time-stepping at equal steps. README.md says
// how to read the tables.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "measured_child.hpp"
#include "measured_work.hpp"
#include "saltus/integrate/event/repeated_runs.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "simulate_siconos.hpp"

namespace saltus::bench {
namespace {

using integrate::EventDriven;
using integrate::Moreau;
using integrate::Options;
using Settings = std::vector<std::pair<std::string, std::string>>;

model::Model shipped(const std::string& name, const Settings& set = {}) {
    model::BuildOptions options;
    options.set = set;
    return model::build(io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml"), options);
}

/// Balls in a column above a floor; the points of contact coincide with the centres.
model::Model chain(int balls) {
    std::string q, T, U, contacts, start;
    for (int i = 1; i <= balls; ++i) {
        const std::string x = "x" + std::to_string(i), below = "x" + std::to_string(i - 1);
        q += (i > 1 ? ", " : "") + ("\"" + x + "\"");
        T += (i > 1 ? " + " : "") + ("1/2*" + x + "'^2");
        U += (i > 1 ? " + " : "") + ("9.81*" + x);
        contacts += "[[contact]]\nname = \"" + x + "\"\ngN = \"" + x + (i > 1 ? " - " + below : "") + "\"\neN = 0.5\n";
        start += (i > 1 ? ", " : "") + (x + " = " + std::to_string(0.1 * i));
    }
    const std::string text = "[system]\nq = [" + q + "]\nT = \"" + T + "\"\nU = \"" + U + "\"\n" + contacts +
                             "[initial]\nq = { " + start + " }\n";
    return model::build(io::parse_model(text, "chain"), {});
}

// --- event-driven ------------------------------------------------------------------------------------------------

struct End {
    double q, u;
};

End ball_by_hand(double t_end) {
    const double g = 9.81, e = 0.8;
    double t = std::sqrt(2.0 / g), v = e * g * t;
    while (t + 2.0 * v / g < t_end) {
        t += 2.0 * v / g;
        v *= e;
    }
    const double s = t_end - t;
    return {v * s - 0.5 * g * s * s, v - g * s};
}

/// ẍ + c ẋ + x = cos(w t), x <= 0, in long double: the solution is known between impacts, their times are bisected.
End oscillator_by_hand(double t_end) {
    using Real = long double;
    const Real c = 0.05L, w = 2.0L, e = 0.8L;
    const Real denominator = (1 - w * w) * (1 - w * w) + c * c * w * w;
    const Real A = (1 - w * w) / denominator, B = c * w / denominator;
    const Real d = c / 2, omega = std::sqrt(1 - d * d);
    Real t = 0, x = -0.5L, v = 0;
    const auto flow = [&](Real s, Real& x_s, Real& v_s) {
        const auto particular = [&](Real time) { return A * std::cos(w * time) + B * std::sin(w * time); };
        const auto rate = [&](Real time) { return w * (B * std::cos(w * time) - A * std::sin(w * time)); };
        const Real a = x - particular(t), b = (v - rate(t) + d * a) / omega;
        const Real decay = std::exp(-d * s), C = std::cos(omega * s), S = std::sin(omega * s);
        x_s = decay * (a * C + b * S) + particular(t + s);
        v_s = decay * ((omega * b - d * a) * C - (omega * a + d * b) * S) + rate(t + s);
    };
    const auto end = static_cast<Real>(t_end);
    for (;;) {
        Real before = 0, x_s = x, v_s = v, step = 1e-3L;
        while (t + before < end) {  // x leaves the stop at once after an impact
            flow(before + step, x_s, v_s);
            if (x_s > 0) break;
            before += step;
        }
        if (t + before >= end) break;
        Real low = before, high = before + step;
        for (int k = 0; k < 80; ++k) {
            const Real middle = (low + high) / 2;
            flow(middle, x_s, v_s);
            (x_s > 0 ? high : low) = middle;
        }
        if (t + low >= end) break;
        flow(low, x_s, v_s);
        t += low;
        x = 0;
        v = -e * v_s;
    }
    Real x_s = x, v_s = v;
    flow(end - t, x_s, v_s);
    return {static_cast<double>(x_s), static_cast<double>(v_s)};
}

double error_of(double q, double u, const End& exact) {
    return std::max(std::abs(q - exact.q) / (1.0 + std::abs(exact.q)),
                    std::abs(u - exact.u) / (1.0 + std::abs(exact.u)));
}

void work_precision(const char* title, const model::Model& model, double t_end, const End& exact,
                    const std::function<PeerRun(double, SiconosTolerances)>& peer) {
    std::vector<Work> ours, theirs;
    // Of both only the motion is timed: Siconos' objects are made and initialised before, and so are ours.
    for (double rtol = 1e-1; rtol > 1e-14; rtol /= std::sqrt(10.0)) {
        EventDriven method;
        method.rtol = rtol;
        method.atol = 1e-2 * rtol;
        method.keep_arcs = false;
        integrate::RepeatedRuns runs(model, method);
        Options options;
        options.t_end = t_end;
        trajectory::Trajectory motion;  // its memory serves the next repeat
        ours.push_back(measured([&] {
            const double seconds = seconds_of([&] { runs.run(options, motion); });
            return Work{error_of(motion.end.q[0], motion.end.u[0], exact), seconds};
        }));
    }
    for (double tolerance = 1e-2; tolerance > 1e-14; tolerance /= std::sqrt(10.0))
        for (const double factor : {1.0, 1e2, 1e4})
            theirs.push_back(measured([&] {
                const PeerRun run = peer(t_end, {tolerance, factor * tolerance});
                if (!run.completed) return Work{};
                return Work{error_of(run.q[0], run.u[0], exact), run.seconds};
            }));
    fmt::print("\n{}\n  {:>8}  {:>10}  {:>10}  {:>7}\n", title, "error", "ours", "Siconos", "ratio");
    for (int digits = 4; digits <= 12; ++digits) {
        const double target = std::pow(10.0, -digits);
        const double a = fastest(ours, target), b = fastest(theirs, target);
        fmt::print("  {:8.0e}  {:7.1f} us  {:7.1f} us  {:7.1f}\n", target, 1e6 * a, 1e6 * b, b / a);
    }
}

// --- time-stepping -----------------------------------------------------------------------------------------------

struct Steps {
    long steps = 0;
    double seconds = 0.0;
    std::vector<double> q;
    std::string remark;
};

template <class Run>
Steps fastest_steps(Run run) {
    Steps best = run();
    double spent = best.seconds;
    for (int k = 0; k < 30 && spent < 1.0; ++k) {
        const Steps again = run();
        spent += again.seconds;
        if (again.seconds < best.seconds) best = again;
    }
    return best;
}

Steps our_steps(const model::Model& model, double t_end, double h) {
    return fastest_steps([&] {
        Moreau method;
        method.h = h;
        method.keep_arcs = false;
        Options options;
        options.t_end = t_end;
        trajectory::Trajectory motion;
        const double seconds = seconds_of([&] { motion = integrate::simulate(model, method, options); });
        return Steps{motion.statistics.steps, seconds, motion.end.q,
                     motion.status == trajectory::Status::completed ? "" : motion.reason};
    });
}

Steps their_steps(const std::function<PeerRun()>& peer) {
    return fastest_steps([&] {
        const PeerRun run = peer();
        return Steps{run.steps, run.seconds, run.q, run.remark};
    });
}

void steps_line(const std::string& name, const Steps& ours, const Steps* theirs) {
    const auto rate = [](const Steps& s) { return static_cast<double>(s.steps) / s.seconds; };
    fmt::print("  {:<32} {:8.3f} M/s", name, 1e-6 * rate(ours));
    if (theirs != nullptr && theirs->q.size() == ours.q.size()) {
        double difference = 0.0;
        for (std::size_t i = 0; i < ours.q.size(); ++i)
            difference = std::max(difference, std::abs(ours.q[i] - theirs->q[i]));
        fmt::print("  {:8.3f} M/s  {:7.1f}   {:.1e}", 1e-6 * rate(*theirs), rate(ours) / rate(*theirs), difference);
    }
    fmt::print("  {}\n", ours.remark + (theirs != nullptr ? theirs->remark : ""));
}

void stepping() {
    fmt::print("\nMoreau stepping, steps per second\n  {:<32} {:>12}  {:>12}  {:>7}   {}\n", "", "ours", "Siconos",
               "ratio", "largest difference of end positions");
    const auto against = [](const std::string& name, const model::Model& model, double t_end, double h,
                            const std::function<PeerRun()>& peer) {
        const Steps ours = our_steps(model, t_end, h), theirs = their_steps(peer);
        steps_line(name, ours, &theirs);
    };
    const model::Model ball = shipped("bouncing-ball");
    against("ball, flying (t < 2)", ball, 2.0, 1e-4, [] { return siconos_ball_stepping(2.0, 1e-4); });
    against("ball, to rest (t < 5)", ball, 5.0, 1e-4, [] { return siconos_ball_stepping(5.0, 1e-4); });
    against("ball, mostly at rest (t < 50)", ball, 50.0, 1e-3, [] { return siconos_ball_stepping(50.0, 1e-3); });
    against("slider-crank", shipped("slider-crank"), 0.1, 1e-5,
            [] { return siconos_slider_crank_stepping(0.1, 1e-5); });
    for (const int n : {2, 5, 10})
        against("chain of " + std::to_string(n) + " balls, to rest", chain(n), 1.0, 1e-4,
                [n] { return siconos_chain_stepping(n, 1.0, 1e-4); });
    steps_line("rocking bar, to rest (t < 3)", our_steps(shipped("rocking-bar"), 3.0, 1e-4), nullptr);
    steps_line("rocking bar, mostly at rest", our_steps(shipped("rocking-bar"), 30.0, 1e-3), nullptr);
    steps_line("woodpecker", our_steps(shipped("woodpecker"), 2.0, 1e-4), nullptr);
}

}  // namespace
}  // namespace saltus::bench

int main() {
    using namespace saltus::bench;
    work_precision("Bouncing ball, e = 0.8, nine impacts, t = 3.5", shipped("bouncing-ball"), 3.5, ball_by_hand(3.5),
                   siconos_ball_event_driven);
    work_precision("Impact oscillator, w = 2, stop at 0, seven impacts, t = 20",
                   shipped("impact-oscillator", {{"w", "2"}, {"s", "0"}}), 20.0, oscillator_by_hand(20.0),
                   siconos_oscillator_event_driven);
    stepping();
}
