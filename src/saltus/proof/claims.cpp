// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/claims.hpp"

#include <algorithm>

namespace saltus::proof {

namespace {

template <class T>
ClaimValue list_of_values(const std::vector<T>& values) {
    ClaimValue::List list;
    for (const T& x : values) list.emplace_back(x);
    return list;
}

}  // namespace

ClaimValue claim_numbers(const std::vector<double>& numbers) { return list_of_values(numbers); }
ClaimValue claim_wholes(const std::vector<int>& numbers) { return list_of_values(numbers); }
ClaimValue claim_texts(const std::vector<std::string>& texts) { return list_of_values(texts); }

ClaimValue claim_box(const Box& box) {
    ClaimValue::List list;
    for (const Interval& x : box) list.emplace_back(ClaimValue::List{x.lo, x.hi});
    return list;
}

ClaimValue split_node(std::size_t axis, double at, ClaimValue low, ClaimValue high) {
    return ClaimValue::List{"split", static_cast<int>(axis), at, std::move(low), std::move(high)};
}

CertifiedStatement uncertified(const Certificate& certificate, const std::vector<std::string>& coordinates,
                               const std::string& why) {
    CertifiedStatement s;
    s.theorem = to_string(certificate.theorem);
    s.basis = certificate.basis;
    s.statement = certificate.summary;
    s.verdict = to_string(certificate.outcome);
    s.grade = to_string(certificate.grade);
    s.coordinates = coordinates;
    s.domain = whole_space(coordinates.size());
    for (std::size_t k = 0; k < certificate.domain.size(); ++k)
        s.domain[k] = Interval(certificate.domain[k].first, certificate.domain[k].second);
    s.reference = certificate.reference;
    s.I_C = certificate.closing_gaps;
    for (const Condition& c : certificate.conditions) {
        if (c.verdict == Verdict::assumed) s.assumptions.push_back(c.text);
        s.conditions.push_back({c.id, c.text, c.verdict, false, c.verdict == Verdict::assumed ? "assumed" : why, {}});
    }
    return s;
}

bool CertifiedStatement::certified() const {
    return !conditions.empty() && std::all_of(conditions.begin(), conditions.end(), [](const CertifiedCondition& c) {
        return c.certified || c.verdict == Verdict::assumed;
    });
}

}  // namespace saltus::proof
