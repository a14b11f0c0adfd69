// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/krawczyk.hpp"
#include "saltus/base/factors.hpp"

namespace saltus::stability {

using proof::IntervalMatrix;

std::optional<IntervalMatrix> krawczyk(const EnclosedEquations& f, const IntervalMatrix& step) {
    if (!f.slope.finite() || !f.value.finite()) return std::nullopt;
    const FullPivotLu lu(f.slope.middle());
    if (!lu.invertible()) return std::nullopt;
    const IntervalMatrix R(lu.inverse());
    const IntervalMatrix image = (IntervalMatrix::identity(f.slope.rows()) - R * f.slope) * step - R * f.value;
    for (int i = 0; i < image.rows(); ++i)
        if (!(step(i, 0).lo < image(i, 0).lo && image(i, 0).hi < step(i, 0).hi)) return std::nullopt;
    return image;
}

}  // namespace saltus::stability
