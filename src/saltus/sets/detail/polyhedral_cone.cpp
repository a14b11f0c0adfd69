// SPDX-License-Identifier: Apache-2.0
#include "saltus/sets/detail/polyhedral_cone.hpp"

namespace saltus::sets {

PolyhedralCone::PolyhedralCone(int dimension_, std::span<const double> rows_) : dimension(dimension_), rows(rows_) {
    SALTUS_EXPECT(dimension_ >= 1 && dimension_ <= max_cone_dimension);
    SALTUS_EXPECT(rows_.size() % static_cast<std::size_t>(dimension_) == 0);
    SALTUS_EXPECT(count() <= max_cone_vectors);
}

bool PolyhedralCone::contains(std::span<const double> x, double tolerance) const {
    SALTUS_EXPECT(x.size() == static_cast<std::size_t>(dimension));
    bool inside = !has_nan(x.data(), dimension);
    for (int i = 0; i < count(); ++i) {
        const double* row = rows.data() + i * dimension;
        const double norm = length(row, dimension);
        double depth = 0.0;
        for (int j = 0; j < dimension && norm != 0.0; ++j) depth += (row[j] / norm) * x.data()[j];
        inside = inside && depth >= -tolerance;
    }
    return inside;
}

void PolyhedralCone::project(std::span<const double> x, double* out) const {
    SALTUS_EXPECT(x.size() == static_cast<std::size_t>(dimension));
    double opposite[max_cone_dimension];
    for (int i = 0; i < dimension; ++i) opposite[i] = -x.data()[i];
    dual().project({opposite, x.size()}, opposite);
    for (int i = 0; i < dimension; ++i) out[i] = x.data()[i] + opposite[i];
}

double PolyhedralCone::support(std::span<const double> d) const { return cone_support<max_cone_dimension>(dual(), d); }

bool PolyhedralCone::in_normal_cone(std::span<const double> x, std::span<const double> d, double tolerance) const {
    return is_normal<max_cone_dimension>(*this, x, d, 0.0, tolerance);
}

GeneratedCone PolyhedralCone::dual() const { return {dimension, rows}; }

}  // namespace saltus::sets
