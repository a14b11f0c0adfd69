// SPDX-License-Identifier: Apache-2.0
// A system written in C++: a pendulum (angle phi from the vertical) that meets a wall at x = 0.3.
#include <cmath>
#include <cstdio>

#include "saltus/model/build.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/inspect.hpp"

using namespace saltus::model;

class Pendulum final : public System {
public:
    Pendulum(double mass, double length) : m_(mass), l_(length) {
        layout_.coordinates = 1;
        layout_.normals = 1;
        layout_.mass.cols = layout_.rows.cols = 1;
        const int column[] = {0};
        layout_.mass.add_row(column);  // M has one entry
        layout_.rows.add_row(column);  // so has the wall's row
    }
    const Layout& layout() const override { return layout_; }

    void mass(const At&, std::span<double>, std::span<double> M) const override { M[0] = m_ * l_ * l_; }
    void force(const At& at, std::span<double>, std::span<double> h) const override {
        h[0] = -m_ * 9.81 * l_ * std::sin(at.q[0]);
    }
    void positions(const At& at, std::span<double>, std::span<double> g) const override {
        g[0] = 0.3 - l_ * std::sin(at.q[0]);
    }
    void rows(const At& at, std::span<double>, std::span<double> W, std::span<double> chi) const override {
        W[0] = -l_ * std::cos(at.q[0]);
        chi[0] = 0.0;  // the wall stands still
    }
    void curvature(const At& at, std::span<double>, std::span<double> zeta) const override {
        zeta[0] = l_ * std::sin(at.q[0]) * at.u[0] * at.u[0];
    }

private:
    double m_, l_;
    Layout layout_;
};

int main() {
    const Model model =
        from_system(std::make_shared<Pendulum>(2.0, 0.5), "pendulum", {"phi"}, {0.2}, {1.0}, {}, {"wall"});
    Workspace workspace(model);
    Terms terms(model.layout());
    evaluate(model, workspace, 0.0, model.q0, model.u0, terms);
    const Inspection seen = inspect(model);
    std::printf("M = %.3f, h = %.4f, gap = %.4f, gammaN = %.4f, kinetic energy = %.3f\n", terms.M[0], terms.h[0],
                seen.contacts[0].gap, seen.contacts[0].gamma_n, seen.energy.kinetic);
}
