// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <string>

#include "support.hpp"

namespace saltus::test {

/// Writes the model of three disks in a box and returns its path: 15 contacts, and equilibria wherever nothing touches.
/// The search for its equilibrium sets, and its motion, take minutes.
inline std::string billiard(const Folder& folder) {
    const std::string path = (folder.path() / "billiard.toml").string();
    std::ofstream out(path);
    out << "[system]\nname = \"billiard\"\nq = [\"x1\",\"y1\",\"x2\",\"y2\",\"x3\",\"y3\"]\n"
           "T = \"(x1'^2+y1'^2+x2'^2+y2'^2+x3'^2+y3'^2)/2\"\n";
    for (const char* const pair : {"12", "13", "23"})
        out << "[[contact]]\nname = \"" << pair << "\"\ngN = \"sqrt((x" << pair[0] << "-x" << pair[1] << ")^2+(y"
            << pair[0] << "-y" << pair[1] << ")^2) - 0.2\"\neN = 1\n";
    for (const char* const q : {"x1", "y1", "x2", "y2", "x3", "y3"})
        out << "[[contact]]\nname = \"" << q << " low\"\ngN = \"" << q << " - 0.1\"\neN = 1\n[[contact]]\nname = \""
            << q << " high\"\ngN = \"0.9 - " << q << "\"\neN = 1\n";
    out << "[initial]\nq = { x1 = 0.2, y1 = 0.3, x2 = 0.5, y2 = 0.6, x3 = 0.8, y3 = 0.2 }\n"
           "u = { x1 = 1.0, y1 = 0.7, x2 = -0.3, y2 = 0.4, x3 = -0.5, y3 = 0.9 }\n[simulate]\nt_end = 1e6\n";
    return path;
}

}  // namespace saltus::test
