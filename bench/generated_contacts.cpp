// SPDX-License-Identifier: Apache-2.0
#include "generated_contacts.hpp"

#include <Eigen/Geometry>
#include <cmath>
#include <random>

namespace saltus::bench {

namespace {

using solvers::BlockMatrix;
using solvers::FrictionProblem;
using solvers::Law;
using solvers::LawKind;

/// One body's part in a contact: the rows of Hᵀ for its velocities, as far as they are not zero.
struct Share {
    int contact = 0;
    Matrix rows;  ///< contact directions × velocities of the body
};

struct Body {
    Vector inverse_mass, velocity;  ///< one entry a velocity of the body
    std::vector<Share> shares;
};

/// W_ij = Σ over common bodies of rows_i M⁻¹ rows_jᵀ,   q_i = Σ rows_i u
FrictionProblem condense(const std::vector<Body>& bodies, const Law& law, int contacts) {
    const int d = solvers::law_size(law.kind);
    FrictionProblem p;
    p.laws.assign(static_cast<std::size_t>(contacts), law);
    p.q.assign(static_cast<std::size_t>(contacts * d), 0.0);
    std::vector<BlockMatrix::Triplet> triplets;
    for (const Body& body : bodies)
        for (const Share& i : body.shares) {
            const Vector v = i.rows * body.velocity;
            for (int k = 0; k < d; ++k) p.q[static_cast<std::size_t>(i.contact * d + k)] += v[k];
            for (const Share& j : body.shares) {
                const Matrix block = i.rows * body.inverse_mass.asDiagonal() * j.rows.transpose();
                for (int k = 0; k < d; ++k)
                    for (int l = 0; l < d; ++l) triplets.push_back({i.contact * d + k, j.contact * d + l, block(k, l)});
            }
        }
    p.W = BlockMatrix::from_triplets(triplets, std::vector<int>(static_cast<std::size_t>(contacts), d));
    return p;
}

constexpr double step = 1e-3, gravity = 9.81, radius = 0.05, density = 2000.0, friction = 0.5, tremble = 1e-3;

class Tremble {
public:
    double operator()() { return uniform_(random_); }

private:
    std::mt19937 random_{1};
    std::uniform_real_distribution<double> uniform_{-tremble, tremble};
};

/// A disk at rest but for the fall of one step; velocities x, y, and the turning rate.
Body disk(Tremble& random) {
    const double mass = density * std::acos(-1.0) * radius * radius;
    Body body;
    body.inverse_mass = Eigen::Vector3d(1.0, 1.0, 2.0 / (radius * radius)) / mass;
    body.velocity = Eigen::Vector3d(random(), random() - step * gravity, 0.0);
    return body;
}

/// A ball likewise; velocities x, y, z and the turning rates about them.
Body ball(Tremble& random) {
    const double mass = density * 4.0 / 3.0 * std::acos(-1.0) * std::pow(radius, 3), turning = 2.5 / (radius * radius);
    Body body;
    body.inverse_mass = Vector::Constant(6, 1.0 / mass);
    body.inverse_mass.tail(3) *= turning;
    body.velocity = Vector::Zero(6);
    body.velocity.head(3) = Eigen::Vector3d(random(), random(), random() - step * gravity);
    return body;
}

/// Rows of a disk that is touched at −radius·n, n the direction in which it is pushed: v·n, and v·t with the turning.
Matrix disk_rows(const Eigen::Vector2d& n, double side) {
    const Eigen::Vector2d t(-n.y(), n.x());
    Matrix rows(2, 3);
    rows << side * n.transpose(), 0.0, side * t.transpose(), -radius;
    return rows;
}

/// Rows of a ball, with the turning ω × (∓radius n).
Matrix ball_rows(const Eigen::Vector3d& n, double side) {
    const Eigen::Vector3d other = std::abs(n.x()) < 0.5 ? Eigen::Vector3d::UnitX() : Eigen::Vector3d::UnitY();
    const Eigen::Vector3d t1 = n.cross(other).normalized(), t2 = n.cross(t1);
    Matrix rows = Matrix::Zero(3, 6);
    rows.row(0).head(3) = side * n.transpose();
    rows.row(1) << side * t1.transpose(), -radius * n.cross(t1).transpose();
    rows.row(2) << side * t2.transpose(), -radius * n.cross(t2).transpose();
    return rows;
}

}  // namespace

FrictionProblem pressed_beads(int contacts) {
    constexpr double piston_mass = 10.0, piston_speed = 1e-2;
    std::mt19937 random(1);
    std::uniform_real_distribution<double> mass(0.5, 2.0);
    Tremble shake;
    const Matrix pushed = Matrix::Constant(1, 1, 1.0), pushing = -pushed;
    std::vector<Body> bodies(static_cast<std::size_t>(contacts) + 1);
    for (int k = 0; k <= contacts; ++k) {
        Body& body = bodies[static_cast<std::size_t>(k)];
        const bool first = k == 0, last = k == contacts;
        body.inverse_mass = Vector::Constant(1, 1.0 / (first || last ? piston_mass : mass(random)));
        body.velocity = Vector::Constant(1, first ? piston_speed : last ? -piston_speed : shake());
        if (!first) body.shares.push_back({k - 1, pushed});
        if (!last) body.shares.push_back({k, pushing});
    }
    return condense(bodies, Law{.kind = LawKind::unilateral}, contacts);
}

FrictionProblem disk_pile(int base, int height) {
    Tremble random;
    std::vector<Body> bodies;
    int contacts = 0;
    const Eigen::Vector2d from_left(0.5, std::sqrt(0.75)), from_right(-0.5, std::sqrt(0.75));
    for (int width = base; width > base - height; --width) {
        const std::size_t below = bodies.size() - static_cast<std::size_t>(width == base ? 0 : width + 1);
        for (int k = 0; k < width; ++k) {
            bodies.push_back(disk(random));
            const auto touch = [&](Body* lower, const Eigen::Vector2d& n) {
                bodies.back().shares.push_back({contacts, disk_rows(n, 1.0)});
                if (lower) lower->shares.push_back({contacts, disk_rows(n, -1.0)});
                ++contacts;
            };
            const std::size_t left = below + static_cast<std::size_t>(k);
            if (width == base)
                touch(nullptr, {0.0, 1.0});
            else
                touch(&bodies[left], from_left), touch(&bodies[left + 1], from_right);
        }
    }
    return condense(bodies, Law{.kind = LawKind::friction2, .mu = friction}, contacts);
}

FrictionProblem ball_pile(int base, int height) {
    Tremble random;
    std::vector<Body> bodies;
    int contacts = 0;
    for (int width = base; width > base - height; --width) {
        const int lower_width = width + 1;
        const std::size_t below =
            bodies.size() - static_cast<std::size_t>(width == base ? 0 : lower_width * lower_width);
        for (int k = 0; k < width * width; ++k) {
            bodies.push_back(ball(random));
            const auto touch = [&](Body* lower, const Eigen::Vector3d& n) {
                bodies.back().shares.push_back({contacts, ball_rows(n, 1.0)});
                if (lower) lower->shares.push_back({contacts, ball_rows(n, -1.0)});
                ++contacts;
            };
            if (width == base) {
                touch(nullptr, Eigen::Vector3d::UnitZ());
                continue;
            }
            for (const int i : {0, 1})
                for (const int j : {0, 1}) {
                    const int lower = (k / width + i) * lower_width + k % width + j;
                    touch(&bodies[below + static_cast<std::size_t>(lower)],
                          Eigen::Vector3d(0.5 - j, 0.5 - i, std::sqrt(0.5)));
                }
        }
    }
    return condense(bodies, Law{.kind = LawKind::friction3, .mu = friction}, contacts);
}

}  // namespace saltus::bench
