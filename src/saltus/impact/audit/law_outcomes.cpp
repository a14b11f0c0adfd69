// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/audit/law_outcomes.hpp"

#include "saltus/base/error.hpp"
#include "saltus/base/factors.hpp"

namespace saltus::impact {

namespace {

constexpr double solver_tolerance = 1e-12;  // relative residual asked of each contact problem
constexpr double usable_residual = 1e-8;    // larger residuals mean that there is no outcome

std::vector<double> numbers(const Vector& x) { return {x.data(), x.data() + x.size()}; }

}  // namespace

std::vector<LawOutcomes> law_outcomes(const FrictionalCollision& c, const Restitutions& restitutions, int count,
                                      double alpha) {
    expect_consistent_sizes(c);
    SALTUS_EXPECT(count >= 2 && restitutions.e.size() == c.directions.cols());
    std::vector<LawOutcomes> list;
    const Cholesky mass(c.M);
    if (!mass.positive_definite()) return list;

    Collision collision;
    const Matrix jumps = mass.solve_columns(c.directions);  // M⁻¹W
    collision.problem.W = solvers::BlockMatrix::from_dense(c.directions.transpose() * jumps, c.sizes);
    collision.problem.laws = c.laws;
    collision.problem.q.assign(static_cast<std::size_t>(c.directions.cols()), 0.0);
    Vector z = c.u_minus;
    if (c.impulse.size() > 0) z += mass.solve(c.impulse);
    const Vector gamma = relative_velocities(c, z);
    collision.gamma_minus = numbers(gamma);
    if (c.chi.size() > 0) collision.chi = numbers(c.chi);
    collision.kinetic_energy = 0.5 * z.dot(c.M.selfadjointView<Eigen::Lower>() * z);

    solvers::Workspace workspace;
    Outcome outcome;
    for (const ImpactLaw law : {ImpactLaw::newton, ImpactLaw::poisson, ImpactLaw::energy}) {
        LawOutcomes of_law;
        of_law.law = law;
        collision.law.assign(c.laws.size(), law);
        for (int k = 0; k < count; ++k) {
            LawOutcomeAt at;
            at.e = static_cast<double>(k) / (count - 1);
            collision.e = numbers(restitutions.e);
            each_block(c, [&](std::size_t b, Eigen::Index row) {
                // Nothing is restored at a contact that does not approach.
                if (has_normal(c.laws[b])) collision.e[static_cast<std::size_t>(row)] = gamma(row) < 0.0 ? at.e : 0.0;
            });
            collide(collision, solver_tolerance, workspace, outcome);
            at.solved = outcome.status != solvers::Status::infeasible && outcome.residual <= usable_residual;
            if (at.solved) {
                const Vector Lambda =
                    Eigen::Map<const Vector>(outcome.Lambda.data(), static_cast<Eigen::Index>(outcome.Lambda.size()));
                at.u_plus = z + jumps * Lambda;
                at.work = outcome.work;
                FrictionalCollision judged = c;
                judged.u_plus = at.u_plus;
                CollisionStudyOptions options;
                options.alpha = alpha;
                options.geometry = false;
                options.Lambda = Lambda;
                at.verdict = study_collision(judged, options).verdict;
            } else {
                at.why = outcome.note.empty() ? "the contact problem was not solved" : outcome.note;
            }
            of_law.at.push_back(std::move(at));
        }
        list.push_back(std::move(of_law));
    }
    return list;
}

}  // namespace saltus::impact
