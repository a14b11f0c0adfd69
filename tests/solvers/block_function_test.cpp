// SPDX-License-Identifier: Apache-2.0
// The function whose zeros are the solutions of one block, and its derivative.
#include <gtest/gtest.h>

#include "saltus/solvers/friction/detail/block_function.hpp"

#include "problems.hpp"

namespace saltus::solvers::block_function_test {
namespace {

using namespace test;

const std::vector<Sort> sorts{Sort::unilateral, Sort::planar,  Sort::spatial,
                              Sort::drilling,   Sort::rolling, Sort::rolling_and_drilling,
                              Sort::patch,      Sort::slider,  Sort::slider_in_the_plane,
                              Sort::bilateral};

/// A law with a block function of its own.
struct Block {
    Law law;
    int size = 0;
    Shape shape;
    std::vector<double> rho;

    Block(Sort sort, Random& random) {
        std::vector<Piece> pieces;
        append(sort, random, pieces);
        law = pieces[0].law;
        size = pieces[0].size;
        shape = shape_of(law, size);
        rho.resize(ix(size));
        const Matrix A = random.matrix(size, size);
        const Matrix D = A * A.transpose();
        set_steps(law, shape, size, D.data(), 1.0, rho.data());
    }

    BlockFunction function() const { return {law, shape, size, rho.data(), law.bound, 1.0}; }
};

TEST(BlockFunction, IsZeroForWhatSatisfiesTheLawAndNotForWhatDoesNot) {
    Random random(1);
    for (const Sort sort : sorts)
        for (int k = 0; k < 200; ++k) {
            const Block block(sort, random);
            std::vector<double> r(ix(block.size)), v(r), F(r);
            choose_solution({block.law, block.size}, random, 0.0, r.data(), v.data());
            block.function().evaluate(r.data(), v.data(), F.data(), {});
            EXPECT_LT(to_eigen(F).norm(), 1e-12) << static_cast<int>(sort) << " " << k;
            v[0] -= 0.1;  // where it sticks, is open by more, or slips, that is not the law any more
            r[0] += 0.1;
            block.function().evaluate(r.data(), v.data(), F.data(), {});
            EXPECT_GT(to_eigen(F).norm(), 1e-3) << static_cast<int>(sort) << " " << k;
        }
}

TEST(BlockFunction, HasTheDerivativeOfItsDifferences) {
    Random random(2);
    int compared = 0, kinks = 0;
    for (const Sort sort : sorts)
        for (int k = 0; k < 200; ++k) {
            const Block block(sort, random);
            const int n = block.size;
            const Vector r = random.vector(n) + Vector::Unit(n, 0), v = random.vector(n);
            const auto value = [&](const Vector& at_r, const Vector& at_v) {
                Vector F(n);
                block.function().evaluate(at_r.data(), at_v.data(), F.data(), {});
                return F;
            };
            Matrix C = Matrix::Zero(n, n), E = Matrix::Zero(n, n);  // row by row
            Vector F(n), tied(n);
            block.function().evaluate(r.data(), v.data(), F.data(), {C.data(), E.data(), tied.data()});
            const Vector dr = random.vector(n), dv = random.vector(n);
            const Vector exact = C.transpose() * dv + E.transpose() * dr;
            constexpr double h = 1e-6;
            const Vector ahead = (value(r + h * dr, v + h * dv) - F) / h,
                         behind = (F - value(r - h * dr, v - h * dv)) / h;
            if ((ahead - behind).norm() > 1e-2 * (1.0 + exact.norm())) {  // a kink lies between
                ++kinks;
                continue;
            }
            ++compared;
            // Central differences: h² by curvature, which the small bodies make large, and rounding/h.
            EXPECT_LT((0.5 * (ahead + behind) - exact).norm(), 1e-5 * (1.0 + exact.norm()))
                << static_cast<int>(sort) << " " << k;
        }
    EXPECT_GT(compared, 50 * kinks);
}

}  // namespace
}  // namespace saltus::solvers::block_function_test
