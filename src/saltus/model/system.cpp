// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/system.hpp"

#include <numeric>

namespace saltus::model {

Terms::Terms(const Layout& layout) {
    const auto n = static_cast<std::size_t>(layout.coordinates), rows = static_cast<std::size_t>(layout.row_count());
    lay_out({layout.mass.size(), n, static_cast<std::size_t>(layout.positions()), layout.rows.size(), rows, rows});
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
    Energy e;
    for (int i = 0; i < pattern.rows; ++i)
        for (int k = pattern.start[static_cast<std::size_t>(i)]; k < pattern.start[static_cast<std::size_t>(i) + 1];
             ++k) {
            const int j = pattern.column[static_cast<std::size_t>(k)];
            const double product =
                M[static_cast<std::size_t>(k)] * at.u[static_cast<std::size_t>(i)] * at.u[static_cast<std::size_t>(j)];
            e.kinetic += i == j ? 0.5 * product : product;
        }
    return e;
}

}  // namespace saltus::model
