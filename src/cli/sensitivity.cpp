// SPDX-License-Identifier: Apache-2.0
#include "cli/sensitivity.hpp"

#include <cmath>

#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/files.hpp"
#include "saltus/io/read_model.hpp"
#include "saltus/io/sensitivity_report.hpp"

namespace saltus::cli {

namespace {

constexpr std::size_t many = 12;

double positive(const char* option, double value) {
    if (!(value > 0.0) || !std::isfinite(value))
        throw Error(std::string(option + 2) + " is " + number_text(value) + ", it must be a number > 0",
                    {option, 0, 0});
    return value;
}

std::vector<std::string> words(const std::vector<std::string>& texts) {
    std::vector<std::string> list;
    for (const std::string& text : texts)
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t comma = std::min(text.find(',', at), text.size());
            std::size_t begin = at, end = comma;
            while (begin < end && text[begin] == ' ') ++begin;
            while (end > begin && text[end - 1] == ' ') --end;
            if (end > begin) list.push_back(text.substr(begin, end - begin));
            at = comma + 1;
        }
    return list;
}

integrate::Method method_of(const SensitivityCommand& c, const model::Model& m) {
    const std::string name = !c.method.empty()                ? c.method
                             : m.simulate.method == "penalty" ? m.simulate.method
                                                              : std::string("event");
    const auto tolerances = [&](auto method) {
        method.rtol = positive("--rtol", c.rtol.value_or(m.simulate.rtol.value_or(method.rtol)));
        method.atol = positive("--atol", c.atol.value_or(m.simulate.atol.value_or(method.atol)));
        return method;
    };
    if (name == "event") return tolerances(integrate::EventDriven{});
    if (name == "moreau")
        throw Error("time-stepping does not resolve its events, and derivatives need them", {"--method", 0, 0},
                    "allowed are event and penalty");
    if (name != "penalty")
        throw Error("unknown method '" + name + "'", {"--method", 0, 0}, "allowed are event and penalty");
    for (const model::Contact& contact : m.contacts)
        if (contact.penalty_k == model::no_coefficient)
            throw Error("method 'penalty' needs a stiffness, and contact '" + contact.name + "' has none",
                        {c.common.model, 0, 0}, "give the model a [penalty] with k");
    return tolerances(integrate::Penalty{});
}

}  // namespace

int sensitivity(const SensitivityCommand& c) {
    const model::Description description = io::read_model(c.common.model);
    model::BuildOptions build;
    build.project_initial = c.common.project_initial;
    build.perturbed = c.perturbed;
    build.set = assignments(c.common);
    const model::Model m = model::build(description, build);
    if (c.perturbed && !m.perturbable)
        throw Error("the model has no [perturbation]", {c.common.model, 0, 0}, "add one, or leave --perturbed out");
    if (c.adjoint && c.output.empty())
        throw Error("needs one output to go back from", {"--adjoint", 0, 0},
                    "give --output \"x\" or another expression");

    io::SensitivityReport report;
    sensitivity::Options options;
    const std::vector<std::string> names = words(c.wrt);
    const std::vector<sensitivity::Variable> wrt =
        names.empty() ? sensitivity::all_variables(m) : sensitivity::variables(m, names, &description);
    if (names.empty() && wrt.size() > many && !c.adjoint)
        report.warnings.push_back("derivatives with respect to all " + std::to_string(wrt.size()) +
                                  " initial values and parameters; name those you want with --wrt");
    if (!c.output.empty()) sensitivity::output_of(m, c.output, 0.0, m.q0, m.u0);  // refused before the work
    options.method = method_of(c, m);
    const std::optional<double> t_end = c.t_end ? c.t_end : m.simulate.t_end;
    if (!t_end)
        throw Error("nothing says how long to simulate", {c.common.model, 0, 0},
                    "give --t-end, or t_end in [simulate]");
    options.t_end = positive("--t-end", *t_end);
    options.output = report.output = c.output;
    options.adjoint = report.adjoint = c.adjoint;
    options.keep_course = !c.common.out.empty();
    listen_for_interrupts();
    options.interrupted = interrupt_asked;
    Progress progress(0.0, options.t_end, !c.common.quiet);
    options.progress = [&](double t) { progress.at(t); };
    report.result = sensitivity::sensitivity(m, wrt, options);
    report.warnings.insert(report.warnings.end(), report.result.motion.warnings.begin(),
                           report.result.motion.warnings.end());
    if (c.check && report.result.available && !interrupt_asked())
        report.check = sensitivity::differences(description, build, report.result, options);

    const std::string json = c.common.json || !c.common.out.empty() ? io::sensitivity_json(report) : "";
    if (!c.common.out.empty()) {
        io::write_file(c.common.out, "event-times.csv", io::sensitivity_events_csv(report));
        if (const std::string course = io::sensitivity_course_csv(report); !course.empty())
            io::write_file(c.common.out, "derivatives.csv", course);
        io::write_file(c.common.out, "sensitivity.json", json);
    }
    if (c.common.json)
        print(json);
    else if (!c.common.quiet)
        print(io::sensitivity_text(report));
    if (interrupt_asked()) return interrupted;
    return report.result.motion.status == trajectory::Status::completed ? done : failed;
}

}  // namespace saltus::cli
