// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/model_maker.hpp"

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/build.hpp"

namespace saltus::ensemble {

ModelMaker::ModelMaker(const model::Description& description, model::BuildOptions build, std::vector<std::string> names)
    : description_(description), build_(std::move(build)), names_(std::move(names)) {}

model::Model ModelMaker::at(std::span<const double> values) const {
    SALTUS_EXPECT(values.size() == names_.size());
    model::BuildOptions build = build_;
    for (std::size_t k = 0; k < values.size(); ++k) build.set.emplace_back(names_[k], number_text(values[k]));
    try {
        return model::build(description_, build);
    } catch (const Error& e) {
        std::string where;
        for (std::size_t k = 0; k < values.size(); ++k)
            where += (k == 0 ? "" : ", ") + names_[k] + " = " + number_text(values[k]);
        throw Error("with " + where + ": " + e.message(), e.place(), e.remedy());
    }
}

}  // namespace saltus::ensemble
