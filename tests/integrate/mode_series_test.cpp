// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/mode_series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::integrate::mode_series_test {
namespace {

model::Model from_text(const std::string& text) { return model::build(io::parse_model(text, "test"), {}); }

/// All positions are wanted.
std::vector<char> everything(const model::Model& m) {
    return std::vector<char>(static_cast<std::size_t>(m.layout().positions()), 1);
}

double value_at(ModeSeries::Coefficients c, double tau) {
    double value = 0.0;
    for (std::size_t k = c.size(); k-- > 0;) value = value * tau + c[k];
    return value;
}

/// Compares the series of a mode with the accelerations, reactions and power of Dynamics at states along the series.
/// Returns how many times were compared.
int compare_with_dynamics(const model::Model& m, const RecordedArc& arc, bool compliant, const std::string& name) {
    Dynamics d(m, compliant, 1.0);
    std::vector<double> x(static_cast<std::size_t>(d.state_size())), dx(x.size());
    arc.steps.front().evaluate(arc.t_begin, x.data());
    d.set_mode(arc.mode, arc.t_begin, x.data());
    ModeSeries series(d);
    if (!series.begin_mode(everything(m)) || !series.expand(arc.t_begin, x.data(), 16)) return 0;
    // Well inside the radius of convergence the series is exact to rounding.
    const double h =
        std::min({0.3 * series.step_length({1e-12, 1e-12, {}}, 16), 1.0, arc.steps.front().t_new() - arc.t_begin});
    int compared = 0;
    const int n = d.size();
    {  // The same in three parts.
        ModeSeries extended(d);
        std::vector<double> whole(x.size()), parts(x.size());
        EXPECT_TRUE(extended.begin_mode(everything(m)) && extended.expand(arc.t_begin, x.data(), 6)) << name;
        EXPECT_TRUE(extended.extend(11) && extended.extend(16)) << name;
        series.state(h, whole.data());
        extended.state(h, parts.data());
        EXPECT_EQ(whole, parts) << name;
    }
    ode::Dense dense;
    series.dense(arc.t_begin + h, dense);
    std::vector<double> end(x.size());
    series.state(h, end.data());
    dense.set_end(end);
    for (const double theta : {0.0, 0.2, 0.7, 1.0}) {
        const double t = arc.t_begin + theta * h;
        std::vector<double> rates(x.size());
        dense.evaluate(t, x.data());
        dense.derivative(t, rates.data());
        if (!d.derivative(t, x.data(), dx.data())) continue;
        double scale = d.acceleration_scale();
        for (const double v : dx) scale = std::max(scale, std::abs(v));
        for (std::size_t i = 0; i < x.size(); ++i)
            EXPECT_NEAR(rates[i], dx[i], 1e-7 * (1e-6 + scale)) << name << ", component " << i << " at " << theta;
        double forces = 1e-6;
        for (const double f : d.reactions()) forces = std::max(forces, std::abs(f));
        for (const int row : d.equation_rows()) {
            if (series.redundant()) break;  // the reactions are not unique; the rates above depend on their sum
            const double value = value_at(series.reaction(row), theta * h);
            EXPECT_NEAR(value, d.reactions()[static_cast<std::size_t>(row)], 1e-7 * forces) << name << ", row " << row;
        }
        for (int row = 0; row < m.layout().positions(); ++row) {
            const double value = value_at(series.position(row), theta * h);
            const double truth = d.positions(t, x.data())[static_cast<std::size_t>(row)];
            EXPECT_NEAR(value, truth, 1e-9 * (1.0 + std::abs(truth))) << name << ", position " << row;
        }
        ++compared;
    }
    EXPECT_EQ(static_cast<int>(dx.size()), 2 * n + 1);
    return compared;
}

/// Every mode that the shipped models pass through: open, closed, stick, slip, constraints with friction, clutches.
TEST(ModeSeries, SatisfiesTheEquationsOfMotionInEveryModeOfTheShippedModels) {
    int modes = 0;
    const std::filesystem::path folder = std::filesystem::path(SALTUS_SOURCE_DIR) / "models";
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        const std::string name = file.path().stem().string();
        const model::Model m = model::build(io::read_model(file.path().string()), {});
        if (m.settings->simulate.method == "moreau") continue;  // event-driven it takes a minute
        Options options;
        options.t_end = std::min(m.settings->simulate.t_end.value_or(1.0), 2.0);
        const RecordedMotion r = simulate_recorded(m, EventDriven{}, options);
        std::vector<SystemMode> seen;
        for (const RecordedPiece& piece : r.recording.pieces) {
            const auto* const arc = std::get_if<RecordedArc>(&piece);
            if (arc == nullptr || arc->steps.empty() || std::find(seen.begin(), seen.end(), arc->mode) != seen.end())
                continue;
            seen.push_back(arc->mode);
            if (compare_with_dynamics(m, *arc, false, name) > 0) ++modes;
        }
    }
    EXPECT_GT(modes, 40);
}

TEST(ModeSeries, SatisfiesTheEquationsOfContactsWithSprings) {
    const model::Model m = from_text(R"toml(
[system]
name = "block on springs"
q = ["x", "y", "phi"]
T = "1/2*(x'^2 + y'^2) + 0.02*phi'^2"
U = "9.81*y"
[[contact]]
name = "left"
gN = "y - 0.3*sin(phi)"
gammaT = "x' - 0.1*phi' - 0.05*cos(t)"
mu = "0.3 + 0.1*tanh(x')"
[[contact]]
name = "right"
gN = "y + 0.3*sin(phi) - 0.001*sin(3*t)"
gammaT = "x' + 0.1*phi'"
mu = 0.2
[penalty]
k = 2000.0
d = 5.0
[initial]
q = { x = 0.0, y = 0.02, phi = 0.05 }
u = { x = 0.7, y = -0.4, phi = 0.3 }
)toml");
    Options options;
    options.t_end = 0.5;
    const RecordedMotion r = simulate_recorded(m, Penalty{}, options);
    int compared = 0;
    for (const RecordedPiece& piece : r.recording.pieces)
        if (const auto* const arc = std::get_if<RecordedArc>(&piece); arc != nullptr && !arc->steps.empty())
            compared += compare_with_dynamics(m, *arc, true, "springs");
    EXPECT_GT(compared, 20);
}

/// A bump of width 0.01 at the distance 5: the coefficients at the start do not show it, the bounds do.
TEST(ModeSeries, ProvesNoStepAcrossABumpThatItsCoefficientsDoNotShow) {
    const model::Model m = from_text(R"toml(
[system]
name = "bump"
q = ["x"]
T = "x'^2/2"
f = { x = "3*exp(-((x - 5)/0.01)^2)" }
[initial]
u = { x = 1.0 }
)toml");
    Dynamics d(m, false, 1.0);
    const std::vector<double> x{0.0, 1.0, 0.0};
    d.set_mode(d.mode(), 0.0, x.data());
    ModeSeries series(d);
    ASSERT_TRUE(series.begin_mode({}));
    ASSERT_TRUE(series.expand(0.0, x.data(), 14));
    const ode::Tolerances tolerances{1e-10, 1e-12, {}};
    EXPECT_GT(series.step_length(tolerances, 14), 10.0);
    const double proved = series.proved_length(10.0, tolerances);
    EXPECT_LT(proved, 4.9);
    EXPECT_GT(proved, 0.1);
    // Far behind the bump the whole step is proved.
    const std::vector<double> far{105.0, 1.0, 0.0};
    ModeSeries behind(d);
    ASSERT_TRUE(behind.begin_mode({}));
    ASSERT_TRUE(behind.expand(0.0, far.data(), 14));
    EXPECT_EQ(behind.proved_length(10.0, tolerances), 10.0);
    // After a step that was cut, the length grows again.
    ASSERT_TRUE(series.expand(0.0, far.data(), 14));
    int steps = 1;
    while (steps < 100 && series.proved_length(10.0, tolerances) < 10.0) ++steps;
    EXPECT_LE(steps, 25);
    // Near the bump the direction matters: the bounds are those of the step itself, which leads away from the bump or
    // towards it.
    const std::vector<double> away{5.5, 1.0, 0.0}, towards{5.5, -1.0, 0.0};
    ASSERT_TRUE(series.expand(0.0, away.data(), 14));
    EXPECT_EQ(series.proved_length(10.0, tolerances), 10.0);
    ASSERT_TRUE(series.expand(0.0, towards.data(), 14));
    EXPECT_LT(series.proved_length(10.0, tolerances), 0.5);
}

TEST(ModeSeries, ExposesWhatExpressionsCompare) {
    const model::Model m = from_text(R"toml(
[system]
name = "pulse"
q = ["x"]
T = "x'^2/2"
f = { x = "if(t < 0.25, 1, 0) - abs(x - 2)" }
[initial]
u = { x = 1.0 }
)toml");
    Dynamics d(m, false, 1.0);
    const std::vector<double> x{0.0, 1.0, 0.0};
    d.set_mode(d.mode(), 0.0, x.data());
    ModeSeries series(d);
    ASSERT_TRUE(series.begin_mode({}));
    ASSERT_TRUE(series.expand(0.0, x.data(), 8));
    ASSERT_EQ(series.switch_count(), 2);
    bool time = false, position = false;
    for (int i = 0; i < 2; ++i) {
        const ModeSeries::Coefficients c = series.switch_function(i);
        time = time || (c[0] == 0.25 && c[1] == -1.0 && series.side(i) == 1);
        position = position || (c[0] == -2.0 && c[1] == 1.0 && series.side(i) == -1);
    }
    EXPECT_TRUE(time);
    EXPECT_TRUE(position);
    // With both sides turned the force is 0 + (x − 2)·(−1) instead of 1 + (x − 2): about +2 − x.
    for (int i = 0; i < 2; ++i) series.set_side(i, -series.side(i));
    ASSERT_TRUE(series.expand(0.0, x.data(), 8));
    std::vector<double> end(3);
    series.state(1e-3, end.data());
    EXPECT_NEAR(end[1], 1.0 + 2.0e-3, 1e-6);
}

}  // namespace
}  // namespace saltus::integrate::mode_series_test
