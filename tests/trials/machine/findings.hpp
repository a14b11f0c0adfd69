// SPDX-License-Identifier: Apache-2.0
//
// What a judge found out about one model.
#pragma once

#include <string>
#include <vector>

namespace trials {

struct Violation {
    std::string sort;  ///< a word for the way in which it fails; a reduced model must fail in the same way
    std::string text;  ///< what is wrong, with numbers
};

struct Findings {
    long statements = 0;  ///< statements of the program that were checked
    long not_judged = 0;  ///< statements that the judge could not decide
    long refused = 0;     ///< questions that the program refused to answer, with a reason
    std::vector<Violation> violations;

    /// Counts a statement; it is a violation if it does not hold.
    template <class Text>
    void check(bool holds, const std::string& sort, const Text& text) {
        ++statements;
        if (!holds) violations.push_back({sort, text()});
    }

    Findings& operator+=(const Findings& other) {
        statements += other.statements;
        not_judged += other.not_judged;
        refused += other.refused;
        violations.insert(violations.end(), other.violations.begin(), other.violations.end());
        return *this;
    }
};

}  // namespace trials
