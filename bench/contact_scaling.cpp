// SPDX-License-Identifier: Apache-2.0
// How the cost of the contact solvers grows with the number of contacts: beads in a row, a pile of disks, a pile of
// balls.
//
//     contact_scaling [--largest 100000] [--seconds 60]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "generated_contacts.hpp"
#include "measured_child.hpp"
#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/detail/sweep.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace {

using namespace saltus;
using namespace saltus::bench;
using solvers::FrictionProblem;

/// Seconds of one Gauss–Seidel sweep: the best of many, begun at zero.
double sweep_seconds(const FrictionProblem& p) {
    constexpr double enough = 0.5;
    constexpr int least = 5;
    solvers::Sweeper sweeper;
    sweeper.prepare(p);
    std::vector<double> r(p.q.size(), 0.0);
    double best = 1e300, total = 0.0;
    for (int k = 0; k < least || total < enough; ++k) {
        const double seconds = seconds_of([&] { sweeper.sweep(p, r); });
        best = std::min(best, seconds);
        total += seconds;
    }
    return best;
}

class SolveTrial : public Trial {
public:
    SolveTrial(const FrictionProblem& p, const solvers::FrictionMethod& method) : p_(p), method_(method) {}
    void run() override { solution_ = solvers::solve(p_, method_); }
    Answer answer() const override { return {solution_.r, std::string(solution_.method)}; }

private:
    const FrictionProblem& p_;
    solvers::FrictionMethod method_;
    solvers::Solution solution_;
};

struct Outcome {
    Measured measured;
    double residual = 0.0;
};

Outcome solve(const FrictionProblem& p, const solvers::FrictionMethod& method, double limit) {
    Outcome outcome{measure([&] { return std::make_unique<SolveTrial>(p, method); }, limit), 0.0};
    if (outcome.measured.end == End::answered) outcome.residual = solvers::residual(p, outcome.measured.answer.r);
    return outcome;
}

void print(const Outcome& outcome) {
    if (outcome.measured.end == End::answered)
        std::printf(" | %10.2f %8.1e", 1e3 * outcome.measured.seconds, outcome.residual);
    else
        std::printf(" | %10s %8s", outcome.measured.end == End::out_of_time ? "too long" : "crashed", "");
}

struct Limits {
    int largest = 100000;
    double seconds = 60.0;
};

/// One line a size. `Automatic` is not tried again on larger problems of a kind once it has taken too long.
void run(const char* name, const std::vector<int>& sizes, const std::function<FrictionProblem(int)>& make,
         const Limits& limits) {
    bool in_time = true;
    for (const int size : sizes) {
        const FrictionProblem p = make(size);
        if (p.contacts() > limits.largest) break;
        const std::size_t blocks = p.W.block_column.size();
        const double sweep = sweep_seconds(p);
        std::printf("%-11s %8d %8zu | %9.3f %6.1f", name, p.contacts(), blocks, 1e3 * sweep,
                    1e9 * sweep / static_cast<double>(blocks));
        print(solve(p, solvers::GaussSeidel{.max_sweeps = 100, .tolerance = 1e-12}, limits.seconds));
        if (in_time) {
            const Outcome automatic =
                solve(p, solvers::Automatic{.tolerance = 1e-6, .seconds = limits.seconds}, limits.seconds);
            print(automatic);
            std::printf(" %s", automatic.measured.answer.note.c_str());
            in_time = automatic.measured.end != End::out_of_time;
        }
        std::printf("\n");
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
    Limits limits;
    for (int k = 1; k + 1 < argc; k += 2) {
        const std::string option = argv[k];
        if (option == "--largest") limits.largest = std::atoi(argv[k + 1]);
        if (option == "--seconds") limits.seconds = std::atof(argv[k + 1]);
    }
    std::printf("%-11s %8s %8s | %16s | %19s | %s\n", "", "", "", "one sweep", "100 sweeps", "automatic to 1e-6");
    std::printf("%-11s %8s %8s | %9s %6s | %10s %8s | %10s %8s %s\n", "", "contacts", "blocks", "ms", "ns/blk", "ms",
                "residual", "ms", "residual", "method");
    run("beads", {100, 1000, 10000, 100000}, pressed_beads, limits);
    run(
        "disks, low", {13, 113, 1113, 11113}, [](int base) { return disk_pile(base, 5); }, limits);
    run(
        "disks, high", {10, 32, 100, 316}, [](int base) { return disk_pile(base, base); }, limits);
    run(
        "balls, low", {5, 10, 29, 89}, [](int base) { return ball_pile(base, 4); }, limits);
    run(
        "balls, high", {4, 9, 20, 42}, [](int base) { return ball_pile(base, base); }, limits);
}
