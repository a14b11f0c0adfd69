// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/variants/contact_damping.hpp"

#include "saltus/base/text.hpp"

namespace saltus::model {

namespace {

void multiply(Gain& gain, double factor) {
    for (std::vector<Field>& row : gain.rows)
        for (Field& entry : row) {
            if (!entry.given) continue;
            entry.source.text = "(" + entry.source.text + ")*" + number_text(factor);
            if (entry.number) *entry.number *= factor;
        }
}

}  // namespace

Description with_contact_damping(Description d, double factor) {
    if (!d.penalty || factor == 1.0) return d;
    multiply(d.penalty->D_hat, factor);
    for (ContactMatrix& m : d.penalty->D_hat_of) multiply(m.matrix, factor);
    return d;
}

}  // namespace saltus::model
