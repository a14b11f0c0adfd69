// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "saltus/ode/dense.hpp"

namespace saltus::ode::dense_series_test {
namespace {

/// exp(t) and sin(t) on [1, 1.5] as series of order 14.
Dense exponential_and_sine() {
    Dense dense;
    dense.reset_series(1.0, 1.5, 2, 14);
    double power = 1.0, factorial = 1.0;
    for (int k = 0; k <= 14; ++k) {
        const double derivative[4] = {std::sin(1.0), std::cos(1.0), -std::sin(1.0), -std::cos(1.0)};
        dense.term(k)[0] = std::exp(1.0) * power / factorial;
        dense.term(k)[1] = derivative[k % 4] * power / factorial;
        power *= 0.5;
        factorial *= k + 1;
    }
    dense.set_end(std::vector<double>{std::exp(1.5), std::sin(1.5)});
    return dense;
}

TEST(StepParts, AreNeverEmpty) {
    for (double width = 0.5; width > 1e-16; width /= 1.7) {
        Dense dense;
        const double end = 1.0 + width;
        if (!(end > 1.0)) break;
        dense.reset_series(1.0, end, 1, 2);
        double covered = 1.0;
        for (const StepPart part : StepParts(dense, end)) {
            EXPECT_EQ(part.from, covered);
            EXPECT_LT(part.from, part.to);
            covered = part.to;
        }
        EXPECT_EQ(covered, end);
    }
}

TEST(DenseSeries, FollowsTheFunctionAndItsDerivative) {
    const Dense dense = exponential_and_sine();
    for (const double t : {1.0, 1.01, 1.25, 1.4999, 1.5}) {
        double x[2], dx[2];
        dense.evaluate(t, x);
        dense.derivative(t, dx);
        EXPECT_NEAR(x[0], std::exp(t), 1e-14);
        EXPECT_NEAR(x[1], std::sin(t), 1e-14);
        EXPECT_NEAR(dx[0], std::exp(t), 1e-12);
        EXPECT_NEAR(dx[1], std::cos(t), 1e-12);
        EXPECT_EQ(dense.component(1, t), x[1]);
        EXPECT_EQ(dense.component_derivative(0, t), dx[0]);
    }
}

TEST(DenseSeries, EndsExactlyWhereItIsToldToEnd) {
    Dense dense = exponential_and_sine();
    const std::vector<double> end{std::exp(1.5) + 1e-9, std::sin(1.5) - 1e-9};
    dense.set_end(end);
    double x[2];
    dense.evaluate(1.5, x);
    EXPECT_EQ(x[0], end[0]);
    EXPECT_EQ(x[1], end[1]);
    // Just before the end the polynomial is as near as rounding allows.
    dense.evaluate(std::nextafter(1.5, 0.0), x);
    EXPECT_NEAR(x[0], end[0], 1e-14);
    dense.evaluate(1.0, x);
    EXPECT_EQ(x[0], std::exp(1.0));
}

}  // namespace
}  // namespace saltus::ode::dense_series_test
