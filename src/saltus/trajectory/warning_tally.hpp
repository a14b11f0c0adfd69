// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace saltus::trajectory {

/// The warning that the forces at the end are one distribution of several contains this text.
inline constexpr std::string_view final_forces_not_unique = " at the end are not unique";

/// The warnings about a motion, for results that show no forces: without the one about its final forces.
std::vector<std::string> about_motion(const std::vector<std::string>& warnings);

/// A warning without the time at which it was given: "… at t = 0.3: …" becomes "…: …", and other times become "…".
/// Warnings of different motions about the same thing are then equal.
std::string without_times(std::string_view warning);

/// Counts the warnings of many motions, so that a study can tell them without listing every motion.
class WarningTally {
public:
    /// Adds one motion. `name` says which one; the first motion with a warning is named.
    void add(const std::vector<std::string>& warnings, const std::string& name);
    std::size_t motions() const { return motions_; }
    /// One text for each kind of warning, in the order of their first occurrence: "2 of 40 motions (the first: run 7):
    /// the motion is not unique". `what` replaces the word "motions".
    std::vector<std::string> texts(const std::string& what = "motions") const;

private:
    struct Kind {
        std::string text, first;
        std::size_t count = 0;
    };
    std::size_t motions_ = 0;
    std::vector<Kind> kinds_;
    std::map<std::string, std::size_t> place_;  // of each text in kinds_
};

}  // namespace saltus::trajectory
