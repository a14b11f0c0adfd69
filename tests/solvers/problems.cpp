// SPDX-License-Identifier: Apache-2.0
#include "problems.hpp"

#include <Eigen/Geometry>
#include "saltus/sets/contensou.hpp"

namespace saltus::solvers::test {

void append(Sort sort, Random& random, std::vector<Piece>& pieces) {
    int row = 0;
    for (const Piece& piece : pieces) row += piece.size;
    Law law;
    law.mu = random.uniform(0.2, 0.8);
    law.mu_drilling = random.uniform(0.05, 0.15);
    law.mu_rolling = random.uniform(0.05, 0.25);
    const auto add = [&](LawKind kind, int size) {
        law.kind = kind;
        pieces.push_back({law, size});
    };
    switch (sort) {
        case Sort::unilateral: return add(LawKind::unilateral, 1);
        case Sort::planar: return add(LawKind::friction2, 2);
        case Sort::spatial: return add(LawKind::friction3, 3);
        case Sort::orthotropic: law.mu_second = law.mu * random.uniform(0.3, 3.0); return add(LawKind::friction3, 3);
        case Sort::drilling: return add(LawKind::drilling4, 4);
        case Sort::rolling: return add(LawKind::rolling5, 5);
        case Sort::rolling_and_drilling: return add(LawKind::rolling6, 6);
        case Sort::patch: law.radius = random.uniform(0.1, 0.5); return add(LawKind::contensou4, 4);
        case Sort::slider: law.bound = random.uniform(0.1, 1.0); return add(LawKind::slider, 1);
        case Sort::slider_in_the_plane: law.bound = random.uniform(0.1, 1.0); return add(LawKind::slider, 2);
        case Sort::bilateral: return add(LawKind::bilateral, 1 + random.below(3));
        case Sort::orthotropic_slider:
            law.bound = random.uniform(0.1, 1.0);
            law.mu_second = law.mu * random.uniform(0.3, 3.0);
            return add(LawKind::slider, 2);
        case Sort::rail:
        case Sort::rail_in_the_plane:
        case Sort::orthotropic_rail:
            add(LawKind::bilateral, 1);
            law.row = row;
            if (sort == Sort::orthotropic_rail) law.mu_second = law.mu * random.uniform(0.3, 3.0);
            return add(LawKind::scaled_slider, sort == Sort::rail ? 1 : 2);
    }
}

std::vector<int> sizes_of(const std::vector<Piece>& pieces) {
    std::vector<int> sizes;
    for (const Piece& piece : pieces) sizes.push_back(piece.size);
    return sizes;
}

Matrix with_condition(Random& random, int n, double condition, int rank) {
    Matrix Q = random.matrix(n, n);
    for (Eigen::Index j = 0; j < n; ++j) {  // orthonormal columns; twice is enough
        for (int round = 0; round < 2; ++round)
            for (Eigen::Index k = 0; k < j; ++k) Q.col(j) -= Q.col(k).dot(Q.col(j)) * Q.col(k);
        Q.col(j).normalize();
    }
    Vector values = Vector::Zero(n);
    for (int i = 0; i < rank; ++i) values(i) = std::pow(condition, -static_cast<double>(i) / std::max(1, rank - 1));
    const Matrix W = Q * values.asDiagonal() * Q.transpose();
    return 0.5 * (W + W.transpose());
}

BlockMatrix sparse(const Matrix& W, const std::vector<int>& sizes) {
    std::vector<BlockMatrix::Triplet> triplets;
    int first = 0;
    for (const int n : sizes) {
        int column = 0;
        for (const int m : sizes) {
            if (W.block(first, column, n, m).cwiseAbs().maxCoeff() > 0.0)
                for (int i = 0; i < n; ++i)
                    for (int j = 0; j < m; ++j) triplets.push_back({first + i, column + j, W(first + i, column + j)});
            column += m;
        }
        first += n;
    }
    return BlockMatrix::from_triplets(triplets, sizes);
}

namespace {

/// Contacts among rigid bodies and the ground: relative velocities H u of rows normal, sliding, drilling, rolling, and
/// W = H M⁻¹ Hᵀ. With few bodies its rank is theirs, 6 each.
struct Structure {
    Matrix H;
    Vector inverse_mass;
    Matrix delassus() const { return H * inverse_mass.asDiagonal() * H.transpose(); }
};

/// Where one contact's rows are: between `one` and `other` (-1: the ground), arms from their centres.
struct Place {
    int one = 0, other = -1;
    Eigen::Vector3d arm_one, arm_other, normal, first, second;

    void turn_normal_to(const Eigen::Vector3d& n) {
        normal = n;
        first = n.cross(std::abs(n.x()) < 0.7 ? Eigen::Vector3d::UnitX() : Eigen::Vector3d::UnitY()).normalized();
        second = n.cross(first);
    }
};

Vector random_inverse_mass(Random& random, int bodies) {
    Vector inverse(6 * bodies);
    for (int b = 0; b < bodies; ++b) {
        const double mass = random.uniform(0.5, 2.0);
        inverse.segment(6 * b, 3).setConstant(1.0 / mass);
        inverse.segment(6 * b + 3, 3).setConstant(1.0 / (0.4 * mass));  // a ball of radius 1
    }
    return inverse;
}

/// Neighbours in the row of bodies, or a body and the ground.
Place random_place(Random& random, int bodies) {
    Place place;
    place.one = random.below(bodies);
    place.other = random.uniform() < 0.3 ? -1 : place.one + (random.uniform() < 0.5 ? 1 : -1);
    if (place.other >= bodies) place.other = -1;
    place.arm_one = random.direction();
    place.arm_other = random.direction();
    place.turn_normal_to(random.direction());
    return place;
}

/// Velocity of the one body's point relative to the other's.
Eigen::Vector3d relative_velocity(const Place& place, const Vector& u) {
    const auto at = [&](int body, const Eigen::Vector3d& arm) -> Eigen::Vector3d {
        if (body < 0) return Eigen::Vector3d::Zero();
        const Eigen::Vector3d omega = u.segment(6 * body + 3, 3);
        return u.segment(6 * body, 3) + omega.cross(arm);
    };
    return at(place.one, place.arm_one) - at(place.other, place.arm_other);
}

void put_rows(Matrix& H, int row, const Law& law, int size, const Place& place) {
    const auto translation = [&](int i, const Eigen::Vector3d& d) {
        H.block(row + i, 6 * place.one, 1, 3) = d.transpose();
        H.block(row + i, 6 * place.one + 3, 1, 3) = place.arm_one.cross(d).transpose();
        if (place.other < 0) return;
        H.block(row + i, 6 * place.other, 1, 3) = -d.transpose();
        H.block(row + i, 6 * place.other + 3, 1, 3) = -place.arm_other.cross(d).transpose();
    };
    const auto rotation = [&](int i, const Eigen::Vector3d& d) {
        H.block(row + i, 6 * place.one + 3, 1, 3) = d.transpose();
        if (place.other >= 0) H.block(row + i, 6 * place.other + 3, 1, 3) = -d.transpose();
    };
    if (law.kind == LawKind::slider || law.kind == LawKind::scaled_slider) {
        translation(0, place.first);
        if (size > 1) translation(1, place.second);
        return;
    }
    translation(0, place.normal);
    if (size > 1) translation(1, place.first);
    if (size > 2) translation(2, place.second);
    if (law.kind == LawKind::rolling5) {
        rotation(3, place.first);
        rotation(4, place.second);
    } else if (size > 3) {
        rotation(3, place.normal);
        if (size > 4) rotation(4, place.first);
        if (size > 5) rotation(5, place.second);
    }
}

Structure random_structure(Random& random, const std::vector<Piece>& pieces, int bodies) {
    Structure structure;
    int rows = 0;
    for (const Piece& piece : pieces) rows += piece.size;
    structure.inverse_mass = random_inverse_mass(random, bodies);
    structure.H = Matrix::Zero(rows, 6 * bodies);
    Place place;
    int row = 0;
    for (const Piece& piece : pieces) {
        if (piece.law.kind != LawKind::scaled_slider) place = random_place(random, bodies);  // friction: the same place
        put_rows(structure.H, row, piece.law, piece.size, place);
        row += piece.size;
    }
    return structure;
}

/// A force in the disk of this radius, on its edge against a velocity or inside at rest.
void choose_bounded(Random& random, int size, double bound, double* r, double* v) {
    double direction[2] = {random.normal(), size > 1 ? random.normal() : 0.0};
    const double length = std::hypot(direction[0], direction[1]);
    const bool slips = random.uniform() < 0.5;
    const double share = slips ? 1.0 : 0.95 * random.uniform();
    for (int i = 0; i < size; ++i) {
        r[i] = share * bound * direction[i] / length;
        v[i] = slips ? -direction[i] : 0.0;
    }
}

/// In the ellipse with the half axes a₁ and a₂; on its edge −v is along the gradient (r₁/a₁², r₂/a₂²), with a speed of
/// about `size`/a.
void choose_elliptic(Random& random, double a1, double a2, double size, double* r, double* v) {
    const double angle = random.uniform(0.0, 2.0 * std::numbers::pi);
    const bool slips = random.uniform() < 0.5;
    const double share = slips ? 1.0 : 0.95 * random.uniform();
    r[0] = share * a1 * std::cos(angle);
    r[1] = share * a2 * std::sin(angle);
    const double speed = random.uniform(0.1, 2.0);
    v[0] = slips ? -speed * std::cos(angle) * size / a1 : 0.0;
    v[1] = slips ? -speed * std::sin(angle) * size / a2 : 0.0;
}

/// The nearest point of the body to one outside, with a velocity against the difference.
void choose_in_patch(Random& random, const Law& law, double* r, double* v) {
    const sets::Contensou body(law.mu * r[0], law.radius);
    const bool slips = random.uniform() < 0.5;
    const double reach = (slips ? 2.0 : 0.4) * law.mu * r[0];
    const Eigen::Vector3d d = random.direction();
    const double outside[3] = {reach * d[0], reach * d[1], reach * d[2] * law.radius};
    body.project(outside, r + 1);
    for (int i = 0; i < 3; ++i) v[i + 1] = r[i + 1] - outside[i];
}

}  // namespace

void choose_solution(const Piece& piece, Random& random, double scaling, double* r, double* v) {
    const Law& law = piece.law;
    std::fill_n(r, piece.size, 0.0);
    std::fill_n(v, piece.size, 0.0);
    switch (law.kind) {
        case LawKind::bilateral:
            for (int i = 0; i < piece.size; ++i) r[i] = random.normal();
            return;
        case LawKind::slider:
            if (law.mu_second >= 0.0)
                return choose_elliptic(random, law.mu * law.bound, law.mu_second * law.bound, law.bound, r, v);
            return choose_bounded(random, piece.size, law.bound, r, v);
        case LawKind::scaled_slider: {
            const double load = std::abs(scaling);
            if (law.mu_second >= 0.0) return choose_elliptic(random, law.mu * load, law.mu_second * load, load, r, v);
            return choose_bounded(random, piece.size, law.mu * load, r, v);
        }
        default: break;
    }
    const double state = random.uniform();
    if (state < 0.3) {  // open, one in ten of them just so
        for (int i = 0; i < piece.size; ++i) v[i] = random.normal();
        v[0] = state < 0.03 ? 0.0 : std::abs(v[0]);
        return;
    }
    r[0] = random.uniform(0.1, 1.1);
    if (orthotropic(law)) return choose_elliptic(random, law.mu * r[0], law.mu_second * r[0], r[0], r + 1, v + 1);
    switch (law.kind) {
        case LawKind::friction2: return choose_bounded(random, 1, law.mu * r[0], r + 1, v + 1);
        case LawKind::friction3: return choose_bounded(random, 2, law.mu * r[0], r + 1, v + 1);
        case LawKind::contensou4: return choose_in_patch(random, law, r, v);
        case LawKind::drilling4:
            choose_bounded(random, 2, law.mu * r[0], r + 1, v + 1);
            return choose_bounded(random, 1, law.mu_drilling * r[0], r + 3, v + 3);
        case LawKind::rolling5:
            choose_bounded(random, 2, law.mu * r[0], r + 1, v + 1);
            return choose_bounded(random, 2, law.mu_rolling * r[0], r + 3, v + 3);
        case LawKind::rolling6:
            choose_bounded(random, 2, law.mu * r[0], r + 1, v + 1);
            choose_bounded(random, 1, law.mu_drilling * r[0], r + 3, v + 3);
            return choose_bounded(random, 2, law.mu_rolling * r[0], r + 4, v + 4);
        default: return;
    }
}

Constructed constructed(unsigned seed, const std::vector<Sort>& sorts, const Recipe& recipe) {
    Random random(seed);
    std::vector<Piece> pieces;
    for (const Sort sort : sorts) append(sort, random, pieces);
    for (Piece& piece : pieces)
        for (double* mu : {&piece.law.mu, &piece.law.mu_second, &piece.law.mu_drilling, &piece.law.mu_rolling})
            *mu *= recipe.friction;
    const std::vector<int> sizes = sizes_of(pieces);
    Constructed c;
    int n = 0;
    for (const Piece& piece : pieces) {
        c.problem.laws.push_back(piece.law);
        c.r.resize(ix(n + piece.size));
        c.v.resize(ix(n + piece.size));
        const double scaling = piece.law.row >= 0 ? c.r[ix(piece.law.row)] : 0.0;
        choose_solution(piece, random, scaling, c.r.data() + n, c.v.data() + n);
        n += piece.size;
    }
    Matrix W = recipe.bodies > 0
                   ? random_structure(random, pieces, recipe.bodies).delassus()
                   : with_condition(random, n, recipe.condition, std::max(1, static_cast<int>(recipe.rank * n)));
    W.diagonal().array() += recipe.compliance * W.diagonal().mean();
    if (recipe.asymmetry > 0.0)
        W = W.unaryExpr([&](double w) { return w * (1.0 + recipe.asymmetry * random.normal()); }).eval();
    W *= recipe.w_unit;
    const double r_unit = recipe.q_unit / recipe.w_unit;
    for (double& x : c.r) x *= r_unit;
    for (double& x : c.v) x *= recipe.q_unit;
    for (Law& law : c.problem.laws) law.bound *= r_unit;
    c.problem.W = recipe.bodies > 0 ? sparse(W, sizes) : BlockMatrix::from_dense(W, sizes);
    c.problem.q.resize(c.r.size());
    c.problem.W.multiply(c.r, c.problem.q);
    for (std::size_t i = 0; i < c.r.size(); ++i) c.problem.q[i] = c.v[i] - c.problem.q[i];
    return c;
}

FrictionProblem pile(unsigned seed, const std::vector<Sort>& sorts, int bodies) {
    Random random(seed);
    std::vector<Piece> pieces;
    for (const Sort sort : sorts) append(sort, random, pieces);
    int rows = 0;
    for (const Piece& piece : pieces) rows += piece.size;
    Structure structure;
    structure.inverse_mass = random_inverse_mass(random, bodies);
    structure.H = Matrix::Zero(rows, 6 * bodies);
    const Vector out = random.vector(6 * bodies);
    FrictionProblem p;
    int row = 0;
    for (const Piece& piece : pieces) {
        Place place = random_place(random, bodies);
        place.turn_normal_to((relative_velocity(place, out).normalized() + 0.3 * random.direction()).normalized());
        put_rows(structure.H, row, piece.law, piece.size, place);
        p.laws.push_back(piece.law);
        row += piece.size;
    }
    p.W = sparse(structure.delassus(), sizes_of(pieces));
    p.q = to_vector(structure.H * (-out + 0.5 * random.vector(6 * bodies)));
    return p;
}

std::vector<Sort> mixed(unsigned seed, const std::vector<Sort>& list, int count) {
    Random random(seed ^ 0x5a17u);
    std::vector<Sort> sorts;
    for (int i = 0; i < count; ++i) sorts.push_back(list[ix(random.below(static_cast<int>(list.size())))]);
    return sorts;
}

}  // namespace saltus::solvers::test
