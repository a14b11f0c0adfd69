// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/orbit/detail/return_map.hpp"

/// Translations q ↦ q + v under which all formulas of a model stay as they are. Such a translation takes motions to
/// motions, so that an orbit may close up to it: a toy climbs down a pole, a body walks, a wheel turns.
namespace saltus::orbit {

/// All translations that are found from the formulas.
///
/// The positions enter the formulas through linear forms a·q: in sin and cos of a·q + (terms without positions), or in
/// any other way. A translation v changes nothing if a·v = 0 for the forms of the second kind, and if a·v is a multiple
/// of 2π for those of the first kind. So the translations are
///     v = directions·c + lattice·m   for all real c and integer m.
/// The condition is sufficient; formulas may have translations that are hidden by the way they are written.
struct Translations {
    /// n × k. In the row pivots[j] the j-th column is 1 and all others are 0.
    Matrix directions;
    std::vector<Eigen::Index> pivots;
    /// n × r, with zeros in the rows of the pivots: every translation that is no multiple of `directions` alone.
    Matrix lattice;

    bool empty() const { return pivots.empty() && lattice.cols() == 0; }
    /// A difference of two positions, or of two states (q, u), without the part along `directions` and without the
    /// nearest element of the lattice.
    Vector reduced(Vector difference) const;
    /// The nearest element of the lattice to a difference of two positions. The part along `directions` is ignored.
    Vector nearest_shift(const Vector& difference) const;
};

/// Whether a linear map of the positions takes all translations to translations.
bool maps_to_themselves(const Translations& translations, const Matrix& map);

/// The translations of a model. There are none if a part of it has no formulas.
Translations translations_of(const model::Mechanics& model);

/// The condition of a section (section_of). If the lattice changes it by multiples of a number, as a turn changes
/// "phi = 0", then the motion passes the section at these multiples, too.
PhaseCondition section_modulo(const model::Model& model, const std::string& expression,
                              const Translations& translations);

/// How an orbit closes: the state x at the start and the state y at the end obey
///     y − D (y − x)_pivots − shift = x.
/// The pivots keep their values at the start, because the closing condition says nothing about them.
class Closing {
public:
    Closing() = default;
    /// `shift` is an element of the lattice: n positions.
    Closing(const Translations& translations, const Vector& shift);

    /// Whether the end must be equal to the start.
    bool plain() const { return pivots_.empty() && shift_.size() == 0; }
    /// The end of a motion, moved back by a translation. Its pivots are those of the start.
    Vector back(const Vector& end, const Vector& start) const;
    /// The matrix I − D Eᵀ, which takes the pivots to 0, times a matrix with one row for each component of the state.
    Matrix reduced(Matrix m) const;
    Vector reduced(Vector x) const;
    /// The components that are not pivots. The derivative of the return map in the space of states modulo `directions`
    /// is reduced(Φ') in these rows and columns, because Φ(x + D c) = Φ(x) + D c.
    std::vector<Eigen::Index> kept(Eigen::Index states) const;
    const std::vector<Eigen::Index>& pivots() const { return pivots_; }
    /// Pivots that move alone: nothing depends on them.
    std::vector<Eigen::Index> free_positions() const;
    /// The same for an orbit that is `times` as long.
    Closing repeated(double times) const;
    /// The largest |Φ' D − D| of a component, relative to the sizes: the error of the multipliers that are 1 because of
    /// the directions.
    double unit_error(const Matrix& slope, const Vector& size) const;
    /// Whether the translations of another model have the same directions, and contain the shift.
    bool same_in(const Translations& translations) const;
    /// Positions that a translation of this orbit may move.
    std::vector<Eigen::Index> moved() const;

private:
    Matrix D_;  ///< 2n × k
    std::vector<Eigen::Index> pivots_;
    Vector shift_;  ///< 2n, or empty
};

}  // namespace saltus::orbit
