// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/detail/symmetry.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"
#include "saltus/orbit/detail/measures.hpp"
#include "saltus/sensitivity/variables.hpp"

namespace saltus::orbit {

namespace {

const Place symmetry_option{"--symmetry", 0, 0};

/// The parts of a text between commas that are not inside of brackets.
std::vector<std::string> equations_of(const std::string& text) {
    std::vector<std::string> list(1);
    int depth = 0;
    for (const char c : text) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == ',' && depth == 0)
            list.emplace_back();
        else
            list.back() += c;
    }
    return list;
}

std::string without_spaces(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

}  // namespace

void Symmetry::apply(Return& half) const {
    half.end = (*this)(half.end);
    half.slope = S * half.slope;
    half.rate = S * half.rate;
    if (half.by_parameter.size() > 0) half.by_parameter = S * half.by_parameter;
}

bool closes(const trajectory::Trajectory& motion, const Translations& translations) {
    constexpr double equal = 1e-7;  // relative to the size of the components; errors of the motion are far below
    Vector difference = vector_of(motion.end) - vector_of(motion.start);
    if (!translations.empty()) difference = translations.reduced(std::move(difference));
    return motion.status == trajectory::Status::completed &&
           difference.cwiseAbs().cwiseQuotient(sizes(motion)).maxCoeff() <= equal;
}

Symmetry symmetry_of(const model::Model& model, const std::string& text) {
    const auto n = static_cast<Eigen::Index>(model.size());
    Matrix S = Matrix::Identity(n, n);
    Vector b = Vector::Zero(n);
    const std::vector<double> zero(model.coordinates.size(), 0.0);
    Vector by_parameters;
    for (const std::string& equation : equations_of(text)) {
        const std::size_t equals = equation.find('=');
        if (equals == std::string::npos)
            throw Error("'" + without_spaces(equation) + "' is not an equation", symmetry_option,
                        "write --symmetry \"x = -x, phi = -phi\"");
        const std::string name = without_spaces(equation.substr(0, equals));
        const auto at = std::find(model.coordinates.begin(), model.coordinates.end(), name);
        if (at == model.coordinates.end())
            throw Error("unknown coordinate '" + name + "'", symmetry_option, did_you_mean(name, model.coordinates));
        const Eigen::Index i = at - model.coordinates.begin();
        const std::string expression = equation.substr(equals + 1);
        try {
            const sensitivity::Output out = sensitivity::output_of(model, expression, 0.0, zero, zero);
            const sensitivity::Output there = sensitivity::output_of(model, expression, 1.0, model.q0, model.u0);
            std::vector<double> other(zero.size(), 0.7);
            const sensitivity::Output elsewhere = sensitivity::output_of(model, expression, 0.3, other, zero);
            const Vector slope = out.gradient.head(1 + 2 * n);
            if (slope(0) != 0.0 || (slope.tail(n).array() != 0.0).any() ||
                (there.gradient.head(1 + 2 * n) - slope).cwiseAbs().maxCoeff() > 1e-12 ||
                (elsewhere.gradient.head(1 + 2 * n) - slope).cwiseAbs().maxCoeff() > 1e-12)
                throw Error("'" + without_spaces(expression) + "' is not a linear expression of the coordinates",
                            symmetry_option);
            const Eigen::Index parameters = out.gradient.size() - (1 + 2 * n);
            if (by_parameters.size() == 0) by_parameters = Vector::Zero(parameters);
            for (const sensitivity::Output* const o : {&out, &there, &elsewhere})
                by_parameters = by_parameters.cwiseMax(o->gradient.tail(parameters).cwiseAbs());
            S.row(i) = slope.segment(1, n).transpose();
            b(i) = out.value;
        } catch (const Error& e) {
            throw Error(e.message(), symmetry_option, e.remedy());
        }
    }
    // The map q → S q + b is an involution if S² = I and S b + b = 0; the entries may miss this by rounding.
    constexpr double same = 1e-12;
    if ((S * S - Matrix::Identity(n, n)).cwiseAbs().maxCoeff() > same || (S * b + b).cwiseAbs().maxCoeff() > same)
        throw Error("the map applied twice is not the identity", symmetry_option,
                    "give every coordinate that changes, as in \"a = b, b = a\"");
    Symmetry out;
    out.S = Matrix::Zero(2 * n, 2 * n);
    out.S.topLeftCorner(n, n) = S;
    out.S.bottomRightCorner(n, n) = S;
    out.b = Vector::Zero(2 * n);
    out.b.head(n) = b;
    out.by_parameters = std::move(by_parameters);
    return out;
}

}  // namespace saltus::orbit
