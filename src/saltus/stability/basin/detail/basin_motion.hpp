// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/stability/basin/basin.hpp"

namespace saltus::stability {

/// When a motion is decided.
struct Decision {
    double slow = 0.0;  ///< kinetic energy below which a motion counts as slow
    double t_max = 0.0;
    const CaptureSet* level = nullptr;
    std::vector<double> periods;  ///< of the coordinates, 0: none
    bool to_rest = false;
    std::function<bool()> interrupted;  ///< asked now and then; an interrupted motion stays pending

    static constexpr int slow_steps = 16;    ///< in a row, for rest
    static constexpr int steps_to_look = 8;  ///< between two looks at the level set

    bool inside(double kinetic, double potential, std::span<const double> q) const;
    double height(double kinetic, double potential) const {
        return kinetic + potential - (level != nullptr ? level->reference : 0.0);
    }
};

struct Start {
    std::vector<double> q, u;
    Admission admission = Admission::admissible;
    double kinetic = 0.0, potential = 0.0;
};

/// The model's initial state with some components replaced, admitted.
class Starts {
public:
    Starts(const model::Model& model, std::span<const int> components);
    void make(std::span<const double> values, Start& start);

private:
    const model::Model& model_;
    std::vector<int> components_;
    Admitter admitter_;
    model::Workspace workspace_;
};

struct Ending {
    Fate fate = Fate::undecided;
    double t = 0.0;
    std::int64_t steps = 0;
    std::vector<double> q;
};

Ending by_moreau(const model::Model& model, const integrate::Moreau& method, const Decision& decision,
                 const Start& start, bool captured_counts);
Ending by_events(const model::Model& model, const integrate::EventDriven& method, const Decision& decision,
                 const Start& start, bool captured_counts);

}  // namespace saltus::stability
