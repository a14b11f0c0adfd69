// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/problem.hpp"

#include "saltus/solvers/solution.hpp"

namespace saltus::solvers {

int law_size(LawKind kind) {
    switch (kind) {
        case LawKind::unilateral: return 1;
        case LawKind::friction2: return 2;
        case LawKind::friction3: return 3;
        case LawKind::drilling4:
        case LawKind::contensou4: return 4;
        case LawKind::rolling5: return 5;
        case LawKind::rolling6: return 6;
        default: return 0;
    }
}

std::string_view to_string(Status status) {
    switch (status) {
        case Status::converged: return "converged";
        case Status::stalled: return "stalled";
        case Status::limit: return "limit";
        case Status::infeasible: return "infeasible";
        case Status::non_finite: return "non-finite input";
    }
    return "";
}

}  // namespace saltus::solvers
