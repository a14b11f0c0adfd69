// SPDX-License-Identifier: Apache-2.0
// A model file, its motion and the six questions, by the stable header alone.
#include <cstdio>

#include "saltus/saltus.hpp"

int main(int, char** argv) {
    try {
        const saltus::Study bar = saltus::load(argv[1], {{"mu", "0.4"}});
        // How does it move?
        const saltus::StudyMotion motion = bar.simulate(1.0);
        std::printf("%s, %zu events, phi(0.1) = %.6f\n", motion.status().c_str(), motion.events().size(),
                    motion.at(0.1).q[2]);
        // The answers are JSON documents, with the keys of the program's.
        const std::string answers[] = {
            bar.sensitivity({"mu"}, 0.5),             // How sensitive is the motion?
            bar.impact(1),                            // Do impacts create energy?
            bar.equilibria(),                         // Is rest attractive?
            bar.certify(),                            // ... and from where?
            bar.basin({{"phi", -0.3, 0.3, 3}}, 2.0),  // ... which set does each start reach?
        };
        for (const std::string& json : answers) std::printf("%zu bytes\n", json.size());
        const bool attractive = answers[3].find("\"verdict\": \"attractive\"") != std::string::npos;
        std::printf("rest is %s\n", attractive ? "attractive" : "not known to be attractive");
    } catch (const saltus::Error& e) {
        std::printf("%s\n", e.what());  // file, line, column, what is wrong, and a remedy
        return 2;
    }
}
