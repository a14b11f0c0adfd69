// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "saltus/stability/basin/detail/basin_models.hpp"
#include "saltus/stability/basin/detail/basin_sets.hpp"

namespace saltus::stability {

/// Gives every motion of a record its label: the equilibrium set or the periodic orbit in which it ended. It reads the
/// record several times from beginning to end and keeps a number for each motion only.
class BasinLabeller {
public:
    /// Parameters of a motion of the record, if they vary.
    using Parameters = std::function<std::vector<double>(std::size_t motion)>;

    /// All of them must outlive this object.
    BasinLabeller(const model::Model& model, const BasinOptions& options, const Decision& decision,
                  BasinModels& models);

    /// Determines the labels of the first `motions` of the record and fills in label, labels, sets, orbits, captor and
    /// the numbers of starts by their admission of `out`. BasinLabel::count is over the first `base` motions.
    void label(const BasinRecord& record, std::size_t motions, std::size_t base, const Parameters& parameters,
               Basin& out);

    /// Remarks about labels that could not be given.
    std::vector<std::string> warnings() const;

private:
    /// What is known of the model with some parameters.
    struct Family {
        std::shared_ptr<const model::Model> model;
        std::unique_ptr<ModelRules> rules;
        std::optional<Equilibria> found;                 ///< sets of this model, if they were searched
        const Equilibria* known = nullptr;               ///< sets that are known
        std::unique_ptr<RestSets> sets;                  ///< of the present call of `label`
        std::vector<BasinOrbit> orbits;                  ///< in the order in which they were found
        std::vector<int> order;                          ///< place of each orbit in the order of their energies
        std::vector<std::vector<double>> without_orbit;  ///< points (q, u) near which no stable orbit was found
        int searches = 0;
    };
    /// What distinguishes labels, in the order in which they are listed.
    struct Key {
        enum class Kind { undecided, set, orbit, failed, inadmissible } kind = Kind::undecided;
        std::uint64_t index = 0;
        std::vector<long> turn;
        friend auto operator<=>(const Key&, const Key&) = default;
    };

    Family& family_of(const std::vector<double>& parameters);
    void search_sets();
    int orbit_of(Family& family, const BasinMotion& m);
    /// RestSets::collect of all motions of one model. Fills in the numbers that it gives.
    void collect_in_parallel(const BasinRecord& record, std::size_t motions, Family& family,
                             ensemble::Labels& collected) const;
    Key key_of(const BasinMotion& m, int collected, Family* family) const;
    void describe_sets(const std::map<Key, int>& keys, Basin& out) const;
    void describe_orbits(Basin& out) const;
    std::string text_of(const Key& key, const Basin& out) const;

    const model::Model& model_;
    const BasinOptions& options_;
    const Decision& decision_;
    BasinModels& models_;
    std::map<std::vector<double>, Family> families_;
    std::size_t known_sets_ = 0;  ///< largest number of known sets of a family
    /// Motions with one label that have no family, and the extent of their end positions.
    struct Seen {
        std::size_t motions = 0;
        std::vector<double> low, high;
    };
    std::map<Key, Seen> seen_by_key_;
    bool searched_ = false, too_many_ = false;
    std::size_t without_orbit_ = 0;  ///< motions that repeat, for which no stable orbit was found
};

}  // namespace saltus::stability
