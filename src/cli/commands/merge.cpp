// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/basin.hpp"

#include <filesystem>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/ensemble/table.hpp"
#include "saltus/io/results/provenance.hpp"

namespace saltus::cli {

namespace fs = std::filesystem;

namespace {

/// Goes to the folder where the parts were computed, if their model file is not found from here.
void go_where_the_model_is(const std::string& model, const std::string& folder) {
    std::error_code error;
    if (fs::exists(model, error)) return;
    if (!fs::exists(fs::path(folder) / model, error))
        throw Error("the model of the parts is not here", {model, 0, 0},
                    "run `saltus merge` in the folder where the parts were computed: " + folder);
    fs::current_path(folder);
}

}  // namespace

/// The whole command is run again, as if it had been interrupted after its last run: it finds all runs in the folder,
/// refines and labels a basin, and writes the results.
int merge(const MergeCommand& c) {
    const auto found = ensemble::find_tables(c.folder);
    if (!found)
        throw Error("there are no parts of a run", {c.folder, 0, 0},
                    "compute them by `saltus basin ... --shard 1/3 --out " + c.folder + "`");
    if (found->done < found->head.runs)
        throw Error(std::to_string(found->head.runs - found->done) + " of " + std::to_string(found->head.runs) +
                        " runs are in none of the " + std::to_string(found->files) + " parts",
                    {c.folder, 0, 0}, "repeat the missing parts with --resume, or run the command without --shard");
    std::vector<std::string> words = io::split_words(found->head.line);
    const bool known = words.size() > 2 && words[0] == "saltus" &&
                       (words[1] == "basin" || words[1] == "simulate" || words[1] == "diagram" || words[1] == "orbit" ||
                        words[1] == "sensitivity");
    if (!known) throw Error("the parts do not say how they were computed", {c.folder, 0, 0});
    words.erase(words.begin());
    const std::string folder = fs::absolute(c.folder).string();
    for (const std::string& word : words)
        if (word.ends_with(".toml")) go_where_the_model_is(word, found->head.folder);
    for (const std::string& word : {std::string("--resume"), std::string("--out"), folder}) words.push_back(word);
    if (c.virtual_parts && words[0] != "basin")
        throw Error("is for the parts of a basin", {"--virtual", 0, 0}, "merge without --virtual");
    if (c.virtual_parts) words.emplace_back("--virtual");
    if (c.seconds > 0.0) {
        words.emplace_back("--seconds");
        words.push_back(number_text(c.seconds));
    }
    if (c.json) words.emplace_back("--json");
    if (c.quiet) words.emplace_back("--quiet");
    if (c.threads > 0) {
        words.emplace_back("--threads");
        words.push_back(std::to_string(c.threads));
    }
    return run(words);
}

}  // namespace saltus::cli
