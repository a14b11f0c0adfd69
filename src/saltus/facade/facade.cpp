// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <utility>

#include "saltus/base/text.hpp"
#include "saltus/control/regulation/regulation.hpp"
#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/outputs.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/page/motion_view.hpp"
#include "saltus/io/page/report_page.hpp"
#include "saltus/io/report/basin_report.hpp"
#include "saltus/io/report/certify_report.hpp"
#include "saltus/io/report/equilibria_report.hpp"
#include "saltus/io/report/impact_report.hpp"
#include "saltus/io/report/orbit/orbit_report.hpp"
#include "saltus/io/report/regulation_report.hpp"
#include "saltus/io/report/sensitivity_report.hpp"
#include "saltus/io/report/simulate_report.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/orbit/orbit.hpp"
#include "saltus/saltus.hpp"
#include "saltus/sensitivity/sensitivity.hpp"
#include "saltus/sensitivity/variables.hpp"
#include "saltus/stability/basin/basin.hpp"
#include "saltus/stability/basin/basin_capture.hpp"
#include "saltus/stability/certify/attractivity.hpp"
#include "saltus/stability/certify/certificate_grade.hpp"
#include "saltus/stability/certify/certify.hpp"
#include "saltus/stability/lyapunov_balance.hpp"

namespace saltus {

struct Study::Data {
    io::LoadedModel loaded;
};

struct StudyMotion::Data {
    std::shared_ptr<const Study::Data> study;
    trajectory::Trajectory motion;
    trajectory::LyapunovBalance balance;
    trajectory::MotionSummary summary;
    double t_end = 0.0;  ///< that was asked for
};

namespace {

double end_time(const io::LoadedModel& loaded, std::optional<double> given) {
    const std::optional<double> t_end = given ? given : loaded.model.settings->simulate.t_end;
    if (!t_end) throw Error("no end time is given", {loaded.file.path, 0, 0}, "give one, or t_end in [simulate]");
    if (!(*t_end > 0.0) || !std::isfinite(*t_end))
        throw Error("the end time is " + number_text(*t_end) + ", it must be a number > 0");
    return *t_end;
}

integrate::EventDriven method_of(const model::Model& m, double factor = 1.0) {
    integrate::EventDriven method;
    method.rtol = m.settings->simulate.rtol.value_or(factor * method.rtol);
    method.atol = m.settings->simulate.atol.value_or(factor * method.atol);
    return method;
}

/// True after a minute: searches end without a proof then, as those of the program do, and the conditions say so.
std::function<bool()> after_a_minute() {
    constexpr std::chrono::seconds limit{60};
    return [end = std::chrono::steady_clock::now() + limit] { return std::chrono::steady_clock::now() > end; };
}

/// How the claims of a certificate are searched: what is not shown by them is graded numerical, as by the program.
stability::ClaimOptions claim_options(const io::LoadedModel& loaded, std::function<bool()> stop = {}) {
    stability::ClaimOptions options;
    options.stop = std::move(stop);
    options.obstacle = stability::certificate_obstacle(loaded.file.description);
    return options;
}

/// The model for a search of an equilibrium: the initial state is where the search begins, and may be inadmissible.
model::Model projected(const io::LoadedModel& loaded) {
    model::BuildOptions build = loaded.build;
    build.project_initial = true;
    return model::build(loaded.file.description, build);
}

}  // namespace

StudyMotion::StudyMotion(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

double StudyMotion::begin() const { return data_->motion.start.t; }
double StudyMotion::end() const { return data_->motion.end.t; }
std::string StudyMotion::status() const { return std::string(trajectory::to_string(data_->motion.status)); }
bool StudyMotion::completed() const { return data_->motion.status == trajectory::Status::completed; }

MotionState StudyMotion::at(double t) const {
    if (!(t >= begin() && t <= end()))
        throw Error("the time " + number_text(t) + " is not within the motion, which lasts from " +
                    number_text(begin()) + " to " + number_text(end()));
    const trajectory::State s = data_->motion.right(t);
    return {t, s.q, s.u};
}

std::vector<MotionEvent> StudyMotion::events() const {
    std::vector<MotionEvent> list;
    for (const trajectory::Event& e : data_->motion.events) {
        MotionEvent event{e.t, std::string(trajectory::to_string(e.kind)), {}};
        for (const int element : e.elements)
            event.elements.push_back(data_->motion.elements[static_cast<std::size_t>(element)].name);
        list.push_back(std::move(event));
    }
    return list;
}

std::string StudyMotion::json() const {
    return io::simulate_json(data_->motion, data_->t_end, &data_->balance, io::Timing::included, &data_->summary);
}

std::string StudyMotion::page() const {
    const io::LoadedModel& loaded = data_->study->loaded;
    io::MotionView view = io::motion_view(data_->motion, &loaded.model);
    view.units = io::units_of(loaded.file.description, data_->motion.coordinates);
    io::Report report;
    report.title = loaded.model.name;
    report.parts.push_back({"motion", "", "", io::motion_json(view, &loaded.model), loaded.model.name});
    return io::report_html(report);
}

Study::Study(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

Study load(const std::string& file, const std::vector<std::pair<std::string, std::string>>& set) {
    model::BuildOptions build;
    build.set = set;
    return Study(std::make_shared<const Study::Data>(Study::Data{io::load_model(file, build)}));
}

Study parse(const std::string& text, const std::vector<std::pair<std::string, std::string>>& set) {
    model::BuildOptions build;
    build.set = set;
    io::ModelFile file{"model.toml", text, io::parse_model(text, "model.toml")};
    model::Model model = model::build(file.description, build);
    return Study(std::make_shared<const Study::Data>(
        Study::Data{io::LoadedModel{std::move(file), std::move(build), std::move(model)}}));
}

std::string Study::name() const { return data_->loaded.model.name; }
std::vector<std::string> Study::coordinates() const { return data_->loaded.model.coordinates; }

std::vector<std::pair<std::string, double>> Study::parameters() const {
    std::vector<std::pair<std::string, double>> list;
    for (const model::Parameter& p : data_->loaded.model.settings->parameters) list.emplace_back(p.name, p.value);
    return list;
}

StudyMotion Study::simulate(std::optional<double> t_end) const {
    const io::LoadedModel& loaded = data_->loaded;
    integrate::Options options;
    options.t_end = end_time(loaded, t_end);
    options.rate_jumps = true;
    const integrate::EventDriven method = method_of(loaded.model);
    integrate::RecordedMotion made = integrate::simulate_recorded(loaded.model, method, options);
    auto data = std::make_shared<StudyMotion::Data>();
    data->study = data_;
    data->t_end = options.t_end;
    data->motion = std::move(made.motion);
    io::record_provenance(data->motion, loaded, method, options);
    data->balance = stability::lyapunov_balance(loaded.model, data->motion, made.recording);
    data->summary = integrate::summarise(loaded.model, data->motion);
    return StudyMotion(std::move(data));
}

std::string Study::sensitivity(const std::vector<std::string>& with_respect_to, std::optional<double> t_end) const {
    const io::LoadedModel& loaded = data_->loaded;
    constexpr double tolerance_factor = 0.1;  // as in the program: differences of forces lose digits
    io::SensitivityReport report;
    report.model = loaded.model.name;
    sensitivity::Options options;
    integrate::EventDriven method = method_of(loaded.model, tolerance_factor);
    method.keep_arcs = false;
    options.method = method;
    options.t_end = end_time(loaded, t_end);
    const std::vector<sensitivity::Variable> variables =
        sensitivity::variables(loaded.model, with_respect_to, &loaded.file.description);
    report.result = sensitivity::sensitivity(loaded.model, variables, options);
    report.warnings = report.result->motion.warnings;
    return io::sensitivity_json(report);
}

std::string Study::impact(int number) const {
    const model::Model& m = data_->loaded.model;
    integrate::EventDriven method = method_of(m);
    method.keep_arcs = false;
    integrate::Options options;
    options.t_end = end_time(data_->loaded, std::nullopt);
    const trajectory::Trajectory motion = integrate::simulate(m, method, options);
    int seen = 0;
    const auto event = std::find_if(motion.events.begin(), motion.events.end(), [&](const trajectory::Event& e) {
        return !e.impulses.empty() && ++seen == number;
    });
    if (event == motion.events.end())
        throw Error("there is no impact " + std::to_string(number) + ", the motion has " +
                        counted(static_cast<std::size_t>(seen), "impact"),
                    {}, "they are counted from 1");
    std::vector<char> closed(m.contacts.size() + m.constraints.size() + m.sliders.size() + m.clutches.size(), 0);
    for (const trajectory::Reaction& r : event->impulses) closed[static_cast<std::size_t>(r.element)] = 1;
    io::ImpactReport report;
    report.model = m.name;
    report.coordinates = m.coordinates;
    report.warnings = m.warnings;
    report.at = integrate::collision_at(m, event->t, event->q, event->u_minus, closed);
    if (report.at.singular) throw Error("the mass matrix is not positive definite at this impact");
    report.at.collision.u_plus =
        Eigen::Map<const Vector>(event->u_plus.data(), static_cast<Eigen::Index>(event->u_plus.size()));
    report.source = "of the motion";
    if (!report.at.note.empty()) report.warnings.push_back(report.at.note);
    impact::CollisionStudyOptions study;
    study.subdivisions = 4;  // as in the program: the edges of a consistency set look sharp
    study.restitutions = report.at.restitutions;
    study.Lambda = integrate::impulses_of(report.at, event->impulses);
    report.study = impact::study_collision(report.at.collision, study);
    return io::impact_json(report);
}

std::string Study::equilibria() const {
    const model::Model& m = data_->loaded.model;
    io::EquilibriaReport report;
    report.equilibria = stability::equilibria(m, {});
    stability::grade_by_claims(m, report.equilibria, claim_options(data_->loaded));
    report.elements = integrate::elements_of(m);
    report.warnings = m.warnings;
    report.along = stability::forces_along_curves(m, report.equilibria.sets, report.equilibria.time, {});
    return io::equilibria_json(report);
}

std::string Study::certify() const {
    const model::Model m = projected(data_->loaded);
    stability::CertifyOptions options;
    options.stop = after_a_minute();
    io::CertifyReport report{m.name, m.coordinates, stability::certify(m, std::nullopt, options)};
    stability::grade_by_claims(m, report.certificate, claim_options(data_->loaded, options.stop));
    return io::certify_json(report);
}

std::string Study::regulation() const {
    const model::Model m = projected(data_->loaded);
    control::RegulationOptions options;
    options.stop = after_a_minute();
    io::RegulationReport report{m.name, m.coordinates, {}, control::certify_regulation(m, options), {}};
    stability::grade_by_claims(m, report.certificate.table, claim_options(data_->loaded, options.stop));
    for (const model::Contact& contact : m.contacts) report.contacts.push_back(contact.name);
    return io::regulation_json(report);
}

std::string Study::basin(const std::vector<Axis>& grid, double t_max) const {
    const model::Model& m = data_->loaded.model;
    io::BasinReport report;
    report.model = m.name;
    report.coordinates = m.coordinates;
    stability::BasinOptions& options = report.options;
    if (grid.empty()) throw Error("no starts are given", {}, "give an axis of the grid");
    for (const Axis& a : grid) {
        const bool velocity = a.name.ends_with('\'');
        const std::string coordinate = velocity ? a.name.substr(0, a.name.size() - 1) : a.name;
        const auto at = std::find(m.coordinates.begin(), m.coordinates.end(), coordinate);
        if (at == m.coordinates.end())
            throw Error("unknown coordinate '" + coordinate + "'", {}, did_you_mean(coordinate, m.coordinates));
        if (!(a.from < a.to) || !std::isfinite(a.from) || !std::isfinite(a.to) || a.count < 2)
            throw Error("the axis '" + a.name + "' is empty", {}, "give the smaller end first, and at least 2 values");
        ensemble::Axis axis;
        axis.name = a.name;
        axis.from = a.from;
        axis.to = a.to;
        axis.n = a.count;
        options.starts.axes.push_back(axis);
        options.components.push_back(static_cast<int>(at - m.coordinates.begin()) + (velocity ? m.size() : 0));
    }
    options.t_max = end_time(data_->loaded, t_max);
    integrate::Moreau method;
    method.h = m.settings->simulate.h.value_or(method.h);
    options.method = method;
    report.options_text = "--method moreau --h " + number_text(method.h) + " --theta " + number_text(method.theta) +
                          " --t-max " + number_text(options.t_max);
    for (const auto& [name, value] : data_->loaded.build.set) report.options_text += " --set " + name + "=" + value;
    stability::EquilibriaOptions search;
    constexpr long boxes_for_labels = 5000;  // as in the program: the list of sets need not be complete
    search.max_boxes = boxes_for_labels;
    options.equilibria = stability::equilibria(m, search);
    report.warnings = options.equilibria->warnings;
    proof::Certificate certificate = stability::certify_attractivity(m, {});
    stability::grade_by_claims(m, certificate, claim_options(data_->loaded));
    options.level = stability::capture_set(certificate);
    if (control::regulates(m)) {
        proof::Certificate regulation = control::certify_regulation(m).table;
        stability::grade_by_claims(m, regulation, claim_options(data_->loaded));
        options.level = stability::wider(stability::capture_set(regulation), options.level);
    }
    report.basin = stability::basin(m, options);
    return io::basin_json(report);
}

std::string Study::orbit(double period, double settle) const {
    const model::Model& m = data_->loaded.model;
    if (!(period >= 0.0) || !(settle >= 0.0)) throw Error("period and settle must not be negative");
    orbit::Options options;
    if (period > 0.0) options.period = period;
    options.settle = settle;
    io::OrbitReport report;
    report.model = m.name;
    report.autonomous = !options.period;
    report.orbit = orbit::find_orbit(m, options);
    if (report.orbit.converged()) report.orbit.averages = orbit::averages_of(m, options, report.orbit);
    return io::orbit_json(report);
}

}  // namespace saltus
