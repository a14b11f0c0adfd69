// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "allocations.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/mass.hpp"
#include "saltus/model/model.hpp"

namespace saltus::allocation_test {
namespace {

using namespace saltus::model;

TEST(Allocation, EvaluatingAModelAllocatesNothing) {
    for (const char* name : {"rocking-bar", "slider-crank", "sphere-on-plane", "hydrostatic-skeleton"}) {
        const Model m = build(io::read_model(std::string(SALTUS_SOURCE_DIR "/models/") + name + ".toml"));
        Workspace ws(m);
        Terms terms(m.layout());
        MassFactor factor(m.layout().mass);
        std::vector<double> c(static_cast<std::size_t>(m.layout().coefficients)), x(m.q0);
        const std::size_t before = test::allocations();
        for (int k = 0; k < 10; ++k) {
            evaluate(m, ws, 0.1 * k, m.q0, m.u0, terms);
            m.system->coefficients(at(m, 0.1 * k, m.q0, m.u0), ws.scratch(), c);
            m.system->energy(at(m, 0.1 * k, m.q0, m.u0), ws.scratch());
            ASSERT_TRUE(factor.factorise(terms.M));
            factor.solve(x);
        }
        EXPECT_EQ(test::allocations() - before, 0U) << name;
    }
}

}  // namespace
}  // namespace saltus::allocation_test
