// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/system.hpp"

#include <numeric>

#include "saltus/model/jacobians.hpp"
#include "saltus/model/series.hpp"

namespace saltus::model {

Terms::Terms(const Layout& layout) {
    const std::size_t n = ix(layout.coordinates), rows = ix(layout.row_count());
    lay_out({layout.mass.size(), n, ix(layout.positions()), layout.rows.size(), rows, rows});
}

Terms::Terms(const Terms& other) {
    data_ = other.data_;
    lay_out(
        {other.M.size(), other.h.size(), other.positions.size(), other.W.size(), other.chi.size(), other.zeta.size()});
}

void Terms::lay_out(const std::vector<std::size_t>& sizes) {
    data_.resize(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
    std::span<double> rest = data_;
    std::size_t k = 0;
    for (std::span<double>* part : {&M, &h, &positions, &W, &chi, &zeta}) {
        *part = rest.first(sizes[k]);
        rest = rest.subspan(sizes[k++]);
    }
}

std::unique_ptr<Jacobians> System::jacobians() const { return nullptr; }

std::unique_ptr<SeriesEquations> System::series(const SeriesNeeds&, std::span<const double>) const { return nullptr; }

void System::terms(const At& at, std::span<double> scratch, Terms& out) const {
    mass(at, scratch, out.M);
    force(at, scratch, out.h);
    positions(at, scratch, out.positions);
    rows(at, scratch, out.W, out.chi);
    curvature(at, scratch, out.zeta);
}

Energy System::energy(const At& at, std::span<double> scratch) const {
    const Pattern& pattern = layout().mass;
    std::vector<double> M(pattern.size());
    mass(at, scratch, M);
    Energy e;  // ½ uᵀMu: an entry below the diagonal stands for two entries of M
    for (int i = 0; i < pattern.rows; ++i)
        for (int k = pattern.start[ix(i)]; k < pattern.start[ix(i) + 1]; ++k) {
            const int j = pattern.column[ix(k)];
            const double product = M[ix(k)] * at.u[ix(i)] * at.u[ix(j)];
            e.kinetic += i == j ? 0.5 * product : product;
        }
    return e;
}

}  // namespace saltus::model
