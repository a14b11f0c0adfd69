// SPDX-License-Identifier: Apache-2.0
// Steps a second of Moreau's scheme for the rocking bar, on one core: a loop written by hand for this one system, the
// general stepper from the model file, and the same for eight motions side by side.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "saltus/integrate/moreau/moreau_lanes.hpp"
#include "saltus/integrate/moreau/moreau_step.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

namespace {

using namespace saltus;

constexpr double h = 1e-3;

struct Start {
    double phi, omega;
};

/// A grid of starts, the bar standing on the floor.
std::vector<Start> starts() {
    std::vector<Start> list;
    for (int i = 0; i < 8; ++i)
        for (int k = 0; k < 8; ++k) list.push_back({-1.2 + 2.4 * i / 7.0, -4.0 + 8.0 * k / 7.0});
    return list;
}

/// x, y, phi and their velocities by hand: two contacts, Newton's law with friction, Gauss–Seidel to 1e-12.
class ByHand {
public:
    explicit ByHand(bool warm) : warm_(warm) {}

    void start(const Start& s) {
        q_[0] = 0.2, q_[1] = a * std::abs(std::sin(s.phi)), q_[2] = s.phi;
        u_[0] = u_[1] = 0.0, u_[2] = s.omega;
        std::fill(&r_[0][0], &r_[0][0] + 4, 0.0);
    }

    void step() {
        double mid[3], change[3];
        for (int i = 0; i < 3; ++i) mid[i] = q_[i] + 0.5 * h * u_[i];
        const double sine = a * std::sin(mid[2]), cosine = a * std::cos(mid[2]);
        change[0] = -h * k / m * mid[0], change[1] = -h * g, change[2] = 0.0;
        double W[2][2][3], gamma[2][2], b[2][2];  // contact, normal and tangential, coordinate
        bool closed[2];
        for (int c = 0; c < 2; ++c) {
            const double sign = c == 0 ? -1.0 : 1.0;
            closed[c] = mid[1] + sign * sine <= 0.0;
            if (!closed[c]) continue;
            W[c][0][0] = 0.0, W[c][0][1] = 1.0, W[c][0][2] = sign * cosine;
            W[c][1][0] = 1.0, W[c][1][1] = 0.0, W[c][1][2] = -sign * sine;
            for (int d = 0; d < 2; ++d) {
                gamma[c][d] = b[c][d] = 0.0;
                for (int i = 0; i < 3; ++i) {
                    gamma[c][d] += W[c][d][i] * u_[i];
                    b[c][d] += W[c][d][i] * (u_[i] + change[i]);
                }
                b[c][d] += e * gamma[c][d];
            }
        }
        for (int i = 0; i < 3; ++i) u_[i] += change[i];
        if (closed[0] || closed[1]) {
            double D[2][2][2][2];
            for (int c = 0; c < 2; ++c)
                for (int d = 0; d < 2; ++d)
                    for (int c2 = 0; c2 < 2; ++c2)
                        for (int d2 = 0; d2 < 2; ++d2) {
                            if (!closed[c] || !closed[c2]) continue;
                            D[c][d][c2][d2] = W[c][d][0] * W[c2][d2][0] / m + W[c][d][1] * W[c2][d2][1] / m +
                                              W[c][d][2] * W[c2][d2][2] / J;
                        }
            for (int c = 0; c < 2; ++c)
                if (!closed[c] || !warm_) r_[c][0] = r_[c][1] = 0.0;
            for (int sweep = 0; sweep < 1000; ++sweep) {
                double moved = 0.0;
                for (int c = 0; c < 2; ++c) {
                    if (!closed[c]) continue;
                    for (int d = 0; d < 2; ++d) {
                        double v = b[c][d];
                        for (int c2 = 0; c2 < 2; ++c2)
                            if (closed[c2]) v += D[c][d][c2][0] * r_[c2][0] + D[c][d][c2][1] * r_[c2][1];
                        const double free = r_[c][d] - v / D[c][d][c][d];
                        const double most = mu * r_[c][0];
                        const double next = d == 0 ? std::max(0.0, free) : std::clamp(free, -most, most);
                        moved = std::max(moved, std::abs(next - r_[c][d]));
                        r_[c][d] = next;
                    }
                }
                if (moved <= 1e-12) break;
            }
            for (int c = 0; c < 2; ++c)
                for (int d = 0; d < 2 && closed[c]; ++d) {
                    u_[0] += W[c][d][0] * r_[c][d] / m;
                    u_[1] += W[c][d][1] * r_[c][d] / m;
                    u_[2] += W[c][d][2] * r_[c][d] / J;
                }
        } else {
            std::fill(&r_[0][0], &r_[0][0] + 4, 0.0);
        }
        for (int i = 0; i < 3; ++i) q_[i] = mid[i] + 0.5 * h * u_[i];
    }

    double angle() const { return q_[2]; }

private:
    static constexpr double m = 1.0, k = 10.0, g = 9.81, mu = 0.3, a = 0.5, J = m * a * a / 3.0, e = 0.5;
    bool warm_;  // begin with the impulses of the step before
    double q_[3], u_[3], r_[2][2];
};

double checksum = 0.0;

/// Of this core's time, so that other load on the machine does not count.
template <class F>
double seconds(F f) {
    const auto now = [] {
        timespec t{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    };
    const double begin = now();
    f();
    return now() - begin;
}

std::vector<double> state(const Start& s, bool velocity) {
    if (velocity) return {0.0, 0.0, s.omega};
    return {0.2, 0.5 * std::abs(std::sin(s.phi)), s.phi};
}

void by_hand(const std::vector<Start>& list, int steps, bool warm) {
    ByHand bar(warm);
    for (const Start& s : list) {
        bar.start(s);
        for (int k = 0; k < steps; ++k) bar.step();
        checksum += bar.angle();
    }
}

void one_by_one(const model::Model& model, const std::vector<Start>& list, int steps) {
    integrate::Moreau method;
    for (const Start& s : list) {
        integrate::moreau::Stepper stepper(model, method);
        integrate::moreau::Point at, next;
        at.q = state(s, false), at.u = state(s, true);
        stepper.begin(at);
        next = at;
        for (int k = 1; k <= steps; ++k) {
            stepper.step(at, k * h, next);
            std::swap(at, next);
        }
        checksum += at.q[2];
    }
}

void side_by_side(const model::Model& model, const std::vector<Start>& list, int steps) {
    constexpr std::size_t width = integrate::moreau::LaneStepper::width;
    integrate::moreau::LaneStepper stepper(model, integrate::Moreau{});
    for (std::size_t first = 0; first + width <= list.size(); first += width) {
        for (std::size_t lane = 0; lane < width; ++lane)
            stepper.load(lane, state(list[first + lane], false), state(list[first + lane], true));
        for (int k = 1; k <= steps; ++k) stepper.step(expr::Lanes(k * h));
        for (std::size_t lane = 0; lane < width; ++lane) checksum += stepper.q(2, lane);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
    const model::Model model = model::build(io::read_model(SALTUS_SOURCE_DIR "/models/rocking-bar.toml"));
    const std::vector<Start> list = starts();
    std::printf("rocking bar, h = 1e-3, %zu motions, one core; best of %d\n", list.size(), rounds);
    for (const auto& [name, number] : {std::pair{"to rest (1 s)", 1000}, {"and resting (5 s)", 5000}}) {
        const int steps = number;
        double best[4] = {1e300, 1e300, 1e300, 1e300};
        for (int r = 0; r < rounds; ++r) {  // in turn, so that all of them meet the same machine
            best[0] = std::min(best[0], seconds([&] { by_hand(list, steps, false); }));
            best[1] = std::min(best[1], seconds([&] { by_hand(list, steps, true); }));
            best[2] = std::min(best[2], seconds([&] { one_by_one(model, list, steps); }));
            best[3] = std::min(best[3], seconds([&] { side_by_side(model, list, steps); }));
        }
        const double count = 1e-6 * static_cast<double>(list.size()) * steps;
        std::printf("  %-18s by hand %.2f M/s, from the impulses of the step before %.2f M/s\n", name, count / best[0],
                    count / best[1]);
        std::printf(
            "  %-18s general %.2f M/s (%.2f and %.2f times), eight side by side %.2f M/s (%.2f and %.2f times)\n", "",
            count / best[2], best[0] / best[2], best[1] / best[2], count / best[3], best[0] / best[3],
            best[1] / best[3]);
    }
    std::printf("(checksum %g)\n", checksum);
}
