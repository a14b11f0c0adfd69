// SPDX-License-Identifier: Apache-2.0
// Evaluating M, h, W on the tape against hand-written C++, one state at a time and eight at a time, and loading models.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "hand_written.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/inspect.hpp"
#include "saltus/model/jacobians.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/symbolic.hpp"

namespace {

using namespace saltus;
using namespace saltus::model;
using expr::Lanes;

/// Nanoseconds of one call: the best of many short runs, so that other load on the machine does not count.
double nanoseconds(const std::function<void(int)>& run) {
    using Clock = std::chrono::steady_clock;
    constexpr int calls = 2000, rounds = 300;
    double best = 1e300;
    for (int r = 0; r < rounds; ++r) {
        const auto start = Clock::now();
        run(calls);
        const std::chrono::duration<double, std::nano> time = Clock::now() - start;
        best = std::min(best, time.count() / calls);
    }
    return best;
}

constexpr std::size_t states = 64;  // different arguments, so that nothing is hoisted out of the loop

struct Bench {
    std::string name;
    Model model;
    std::function<void(const double*, const double*, double*)> by_hand, all_by_hand;
};

double checksum = 0.0;

void run(const Bench& b) {
    const SymbolicEquations& system = *b.model.system->symbolic();
    const std::size_t n = b.model.q0.size();
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    std::vector<double> q(states * n), u(states * n);
    for (double& x : q) x = uniform(random);
    for (double& x : u) x = uniform(random);

    // M, h, W, χ alone: a tape of just these.
    std::vector<expr::Expr> outputs;
    for (const auto& e : system.derived().mass) outputs.push_back(e.value);
    outputs.insert(outputs.end(), system.derived().h.begin(), system.derived().h.end());
    for (const auto& e : system.derived().rows) outputs.push_back(e.value);
    outputs.insert(outputs.end(), system.derived().chi.begin(), system.derived().chi.end());
    std::vector<expr::Expr> variables{system.formulas().t};
    variables.insert(variables.end(), system.formulas().q.begin(), system.formulas().q.end());
    variables.insert(variables.end(), system.formulas().u.begin(), system.formulas().u.end());
    const expr::Tape tape(system.formulas().graph, outputs, system.formulas().p, variables);

    std::vector<double> scratch(tape.slot_count()), out(64), expected(64), x(states * (1 + 2 * n), 0.0);
    for (std::size_t k = 0; k < states; ++k)
        for (std::size_t i = 0; i < n; ++i)
            x[k * (1 + 2 * n) + 1 + i] = q[k * n + i], x[k * (1 + 2 * n) + 1 + n + i] = u[k * n + i];
    tape.prepare<double>(b.model.p, scratch);

    double worst = 0.0;
    for (std::size_t k = 0; k < states; ++k) {
        tape.evaluate<double>(std::span(x).subspan(k * (1 + 2 * n), 1 + 2 * n), scratch, out);
        b.by_hand(&q[k * n], &u[k * n], expected.data());
        for (std::size_t i = 0; i < tape.output_count(); ++i) worst = std::max(worst, std::abs(out[i] - expected[i]));
    }

    const double hand = nanoseconds([&](int calls) {
        for (int k = 0; k < calls; ++k) {
            const std::size_t s = static_cast<std::size_t>(k) % states;
            b.by_hand(&q[s * n], &u[s * n], out.data());
            checksum += out[3];
        }
    });
    const double scalar = nanoseconds([&](int calls) {
        for (int k = 0; k < calls; ++k) {
            const std::size_t s = static_cast<std::size_t>(k) % states;
            tape.evaluate<double>(std::span<const double>(x).subspan(s * (1 + 2 * n), 1 + 2 * n), scratch, out);
            checksum += out[3];
        }
    });
    std::vector<Lanes> lane_scratch(tape.slot_count()), lane_out(tape.output_count()), lane_p,
        lane_x(states / Lanes::width * (1 + 2 * n));
    for (const double p : b.model.p) lane_p.emplace_back(p);
    for (std::size_t k = 0; k < states; ++k)
        for (std::size_t i = 0; i < 1 + 2 * n; ++i)
            lane_x[k / Lanes::width * (1 + 2 * n) + i].v[k % Lanes::width] = x[k * (1 + 2 * n) + i];
    tape.prepare<Lanes>(lane_p, lane_scratch);
    const double lanes =
        nanoseconds([&](int calls) {
            for (int k = 0; k < calls; ++k) {
                const std::size_t s = static_cast<std::size_t>(k) % (states / Lanes::width);
                tape.evaluate<Lanes>(std::span<const Lanes>(lane_x).subspan(s * (1 + 2 * n), 1 + 2 * n), lane_scratch,
                                     lane_out);
                checksum += lane_out[3].v[0];
            }
        }) /
        Lanes::width;

    // The whole of it through the model, as an integrator calls it: also gaps and ζ.
    Workspace workspace(b.model);
    Terms terms(b.model.layout());
    const double all_hand = nanoseconds([&](int calls) {
        for (int k = 0; k < calls; ++k) {
            const std::size_t s = static_cast<std::size_t>(k) % states;
            b.all_by_hand(&q[s * n], &u[s * n], out.data());
            checksum += out[3];
        }
    });
    const double through_model = nanoseconds([&](int calls) {
        for (int k = 0; k < calls; ++k) {
            const std::size_t s = static_cast<std::size_t>(k) % states;
            evaluate(b.model, workspace, 0.0, {&q[s * n], n}, {&u[s * n], n}, terms);
            checksum += terms.h[0];
        }
    });
    std::printf(
        "%-16s M h W chi: by hand %6.1f ns, tape %6.1f ns (%.2f x), tape per lane %6.1f ns (%.2f x); largest "
        "difference %.1e, %zu instructions\n",
        b.name.c_str(), hand, scalar, scalar / hand, lanes, lanes / hand, worst, tape.instruction_count());
    std::printf("%-16s all terms: by hand %6.1f ns, model %6.1f ns (%.2f x)\n", "", all_hand, through_model,
                through_model / all_hand);
}

Model double_pendulum() {
    Description d;
    d.name = "double pendulum";
    d.q = {{"a", {}}, {"b", {}}};
    d.T = "(m1 + m2)/2*l1^2*a'^2 + m2/2*l2^2*b'^2 + m2*l1*l2*cos(a - b)*a'*b'";
    d.U = "-(m1 + m2)*g*l1*cos(a) - m2*g*l2*cos(b)";
    d.parameters = {{"m1", 1.0, {}}, {"m2", 0.7, {}}, {"l1", 1.1, {}}, {"l2", 0.6, {}}, {"g", 9.81, {}}};
    ContactDescription floor, wall;
    floor.name = "floor";
    floor.gN = "3 - l1*cos(a) - l2*cos(b)";
    wall.name = "wall";
    wall.gN = "l1*sin(a) + l2*sin(b) + 3";
    d.contacts = {floor, wall};
    return build(d);
}

void loading() {
    using Clock = std::chrono::steady_clock;
    std::printf("\nloading (read, differentiate, compile) and checking, best of 20:\n");
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(SALTUS_SOURCE_DIR "/models"))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        double load = 1e300, check = 1e300, derivatives = 1e300;
        for (int k = 0; k < 20; ++k) {
            const auto start = Clock::now();
            const Model m = build(io::read_model(file.string()));
            const auto built = Clock::now();
            checksum += inspect(m).energy.kinetic;
            const auto inspected = Clock::now();
            checksum += static_cast<double>(m.system->jacobians()->pattern(Function::residual).size());
            const auto end = Clock::now();
            load = std::min(load, std::chrono::duration<double, std::milli>(built - start).count());
            check = std::min(check, std::chrono::duration<double, std::milli>(inspected - built).count());
            derivatives = std::min(derivatives, std::chrono::duration<double, std::milli>(end - inspected).count());
        }
        std::printf("  %-32s load %6.3f ms, inspect %6.3f ms, Jacobians %6.3f ms\n", file.filename().c_str(), load,
                    check, derivatives);
    }
}

void points() {
    std::printf("\nmass points: M, h and G, gaps and rows of the skeleton by number of points\n");
    std::string text;
    {
        std::FILE* in = std::fopen(SALTUS_SOURCE_DIR "/models/hydrostatic-skeleton.toml", "rb");
        char buffer[4096];
        for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, in)) > 0;) text.append(buffer, got);
        std::fclose(in);
    }
    const std::string from = "segments = 21";
    for (const int segments : {21, 210, 2100, 21000}) {
        std::string longer = text;
        longer.replace(longer.find(from), from.size(), "segments = " + std::to_string(segments));
        const Model m = build(io::parse_model(longer, "skeleton"));
        Workspace ws(m);
        Terms terms(m.layout());
        const int calls = 2100000 / segments / 10 + 1;
        double best = 1e300;
        for (int round = 0; round < 5; ++round) {
            const auto begin = std::chrono::steady_clock::now();
            for (int k = 0; k < calls / 5 + 1; ++k) evaluate(m, ws, 0.0, m.q0, m.u0, terms);
            best = std::min(
                best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() /
                          (calls / 5 + 1));
        }
        std::printf("  %7zu points: %9.1f us, %.3f us a point\n", m.contacts.size(), best,
                    best / static_cast<double>(m.contacts.size()));
    }
}

}  // namespace

int main() {
    const Model bar = build(io::read_model(SALTUS_SOURCE_DIR "/models/rocking-bar.toml"));
    const hand_written::Bar bp{1.0, 10.0, 9.81, 0.5, 0.25 / 3};
    run({"rocking bar", bar,
         [bp](const double* q, const double* u, double* out) { hand_written::rocking_bar(bp, q, u, out); },
         [bp](const double* q, const double* u, double* out) { hand_written::rocking_bar_all(bp, q, u, out); }});
    const hand_written::Pendulum pp{1.0, 0.7, 1.1, 0.6, 9.81};
    run({"double pendulum", double_pendulum(),
         [pp](const double* q, const double* u, double* out) { hand_written::double_pendulum(pp, q, u, out); },
         [pp](const double* q, const double* u, double* out) { hand_written::double_pendulum_all(pp, q, u, out); }});
    loading();
    points();
    std::printf("\n(checksum %g)\n", checksum);
}
