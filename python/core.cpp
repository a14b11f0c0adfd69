// SPDX-License-Identifier: Apache-2.0
// The compiled part of the Python module: models, motions and their dense output. python/saltus/ adds what can be
// written in Python. The other questions are answered by the program itself, so that their numbers are the same.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/simulate_plan.hpp"
#include "saltus/base/version.hpp"
#include "saltus/integrate/course.hpp"
#include "saltus/integrate/outputs.hpp"
#include "saltus/integrate/resume.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/report/simulate_report.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/io/results/trajectory_file.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/system.hpp"
#include "saltus/stability/lyapunov_balance.hpp"

namespace py = pybind11;
using namespace saltus;

namespace {

using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Loaded = std::shared_ptr<const io::LoadedModel>;

/// A read-only array on memory that `owner` keeps alive. Nothing is copied.
py::array view(const std::vector<double>& values, std::vector<py::ssize_t> shape, const py::object& owner) {
    py::array_t<double> out(std::move(shape), values.data(), owner);
    out.attr("setflags")(py::arg("write") = false);
    return out;
}

py::ssize_t length(std::size_t n) { return static_cast<py::ssize_t>(n); }

Loaded load(const std::string& text, const std::string& file, const io::Assignments& set, bool perturbed,
            bool project_initial) {
    model::BuildOptions build;
    build.set = set;
    build.perturbed = perturbed;
    build.project_initial = project_initial;
    io::ModelFile source{file, text, io::parse_model(text, file)};
    model::Model model = model::build(source.description, build);
    return std::make_shared<const io::LoadedModel>(io::LoadedModel{std::move(source), build, std::move(model)});
}

/// The states of a motion at a list of times. An event has two rows, before and after it.
struct Table {
    std::vector<double> t, q, u;  ///< q and u: one row after the other
    std::vector<bool> before;     ///< the row is the one before an event

    void add(double time, const std::vector<double>& position, const std::vector<double>& velocity, bool left) {
        t.push_back(time);
        q.insert(q.end(), position.begin(), position.end());
        u.insert(u.end(), velocity.begin(), velocity.end());
        before.push_back(left);
    }
};

/// The rows of states.csv: equidistant times, and each event before and after it.
Table sample(const trajectory::Trajectory& motion, int samples) {
    Table out;
    std::size_t event = 0;
    const auto add_event = [&] {
        const trajectory::Event& e = motion.events[event++];
        out.add(e.t, e.q, e.u_minus, true);
        out.add(e.t, e.q, e.u_plus, false);
    };
    for (int k = 0; k < samples; ++k) {
        const double t = motion.sample_time(k, samples - 1);
        bool at_event = false;
        while (event < motion.events.size() && motion.events[event].t <= t) {
            at_event = motion.events[event].t == t;
            add_event();
        }
        if (at_event) continue;
        const trajectory::State s = k == 0 ? motion.start : k == samples - 1 ? motion.end : motion.right(t);
        out.add(s.t, s.q, s.u, false);
    }
    while (event < motion.events.size()) add_event();
    return out;
}

/// A motion with everything that can be asked of it.
class Motion {
public:
    Motion(Loaded model, trajectory::Trajectory motion, trajectory::LyapunovBalance balance, double t_end)
        : model_(std::move(model)), motion_(std::move(motion)), balance_(std::move(balance)), t_end_(t_end) {
        if (model_) summary_ = integrate::summarise(model_->model, motion_);
    }

    const trajectory::Trajectory& motion() const { return motion_; }
    const trajectory::LyapunovBalance& balance() const { return balance_; }

    std::string json() const {
        return io::simulate_json(motion_, t_end_, balance_.empty() ? nullptr : &balance_, io::Timing::included,
                                 &summary_);
    }

    /// States at the given times: q and u as arrays with one row for each time.
    std::pair<Numbers, Numbers> at(const Numbers& times, bool before) const {
        const std::size_t n = motion_.coordinates.size();
        const auto count = static_cast<std::size_t>(times.size());
        Numbers q({length(count), length(n)}), u({length(count), length(n)});
        for (std::size_t k = 0; k < count; ++k) {
            const double t = times.data()[k];
            if (!(t >= motion_.start.t && t <= motion_.end.t))
                throw py::value_error("the time " + std::to_string(t) + " is not within the motion, which lasts from " +
                                      std::to_string(motion_.start.t) + " to " + std::to_string(motion_.end.t));
            const trajectory::State s = before ? motion_.left(t) : motion_.right(t);
            std::copy(s.q.begin(), s.q.end(), q.mutable_data() + k * n);
            std::copy(s.u.begin(), s.u.end(), u.mutable_data() + k * n);
        }
        return {q, u};
    }

    /// Force of an element at the rows of a table: the normal component, and one column for each friction component.
    /// NaN where the motion has no forces (time-stepping).
    std::pair<Numbers, Numbers> forces(const Table& table, int element) const {
        const std::size_t rows = table.t.size();
        const auto tangential =
            static_cast<std::size_t>(motion_.elements.at(static_cast<std::size_t>(element)).tangential);
        Numbers normal(length(rows)), friction({length(rows), length(tangential)});
        for_each_row(table, [&](std::size_t k, const integrate::Course* course) {
            const double none = std::numeric_limits<double>::quiet_NaN();
            const trajectory::Reaction* r = nullptr;
            if (course != nullptr && course->has_reactions())
                r = &course->reactions()[static_cast<std::size_t>(element)];
            normal.mutable_data()[k] = r != nullptr ? r->N : none;
            for (std::size_t i = 0; i < tangential; ++i)
                friction.mutable_data()[k * tangential + i] = r != nullptr && i < r->T.size() ? r->T[i] : none;
        });
        return {normal, friction};
    }

    Numbers gaps(const Table& table, int contact) const {
        Numbers out(length(table.t.size()));
        for_each_row(table, [&](std::size_t k, const integrate::Course* course) {
            out.mutable_data()[k] = course != nullptr ? course->gaps().at(static_cast<std::size_t>(contact))
                                                      : std::numeric_limits<double>::quiet_NaN();
        });
        return out;
    }

    void write(const std::string& path) const { io::write_trajectory(path, motion_, &balance_); }

private:
    /// Calls `take` for each row with the quantities there; null if the motion has no arc.
    template <class Take>
    void for_each_row(const Table& table, Take take) const {
        if (!model_)
            throw Error("this motion has no model, which forces and gaps need", {},
                        "keep model.toml, which --out writes, beside trajectory.h5");
        const std::size_t n = motion_.coordinates.size(), rows = table.t.size();
        if (motion_.arcs.empty()) {
            for (std::size_t k = 0; k < rows; ++k) take(k, nullptr);
            return;
        }
        integrate::Course course(model_->model, motion_);
        constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
        std::size_t entered = none, arc = 0;
        std::vector<double> x(2 * n);
        for (std::size_t k = 0; k < rows; ++k) {
            const double t = table.t[k];
            const auto begun = [&](std::size_t j) {
                return table.before[k] ? motion_.arcs[j].t_begin < t : motion_.arcs[j].t_begin <= t;
            };
            while (arc + 1 < motion_.arcs.size() && begun(arc + 1)) ++arc;
            if (arc != entered) course.enter(entered = arc);
            std::copy_n(table.q.begin() + static_cast<std::ptrdiff_t>(k * n), n, x.begin());
            std::copy_n(table.u.begin() + static_cast<std::ptrdiff_t>(k * n), n,
                        x.begin() + static_cast<std::ptrdiff_t>(n));
            course.evaluate(t, x.data());
            take(k, &course);
        }
    }

    Loaded model_;
    trajectory::Trajectory motion_;
    trajectory::LyapunovBalance balance_;
    trajectory::MotionSummary summary_;
    double t_end_;
};

/// Asks Python now and then whether Ctrl-C was pressed.
class PythonInterrupt {
public:
    bool operator()() {
        constexpr std::chrono::milliseconds between_looks{30};
        const auto now = std::chrono::steady_clock::now();
        if (asked_ || now < next_) return asked_;
        next_ = now + between_looks;
        const py::gil_scoped_acquire python;
        if (PyErr_CheckSignals() != 0) {
            PyErr_Clear();
            asked_ = true;
        }
        return asked_;
    }
    void ask() { asked_ = true; }

private:
    std::chrono::steady_clock::time_point next_{};
    bool asked_ = false;
};

std::unique_ptr<Motion> simulate(const Loaded& model, const cli::SimulateCommand& command, const py::object& progress) {
    const cli::Plan plan = cli::make_plan(command, *model);
    integrate::Options options;
    options.t_end = plan.t_end;
    options.energy = plan.energy;
    options.rate_jumps = true;
    if (plan.restarted) options.start = plan.start;
    PythonInterrupt interrupt;
    const auto begin = std::chrono::steady_clock::now();
    options.interrupted = [&] {
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
        return interrupt() || (command.common.seconds > 0.0 && elapsed.count() > command.common.seconds);
    };
    if (!progress.is_none()) {
        options.progress = [&, next = std::chrono::steady_clock::time_point{}](double t) mutable {
            constexpr std::chrono::milliseconds between_calls{50};
            const auto now = std::chrono::steady_clock::now();
            if (now < next) return;
            next = now + between_calls;
            const py::gil_scoped_acquire python;
            try {
                progress(t, plan.t_end);
            } catch (const py::error_already_set& e) {  // Ctrl-C may come while Python code runs
                if (!e.matches(PyExc_KeyboardInterrupt)) throw;
                interrupt.ask();
            }
        };
    }
    const py::gil_scoped_release others_may_run;
    integrate::ResumableMotion made = integrate::simulate_resumable(
        model->model, plan.method, options, integrate::Record::yes, plan.earlier ? &*plan.earlier : nullptr);
    trajectory::Trajectory motion = std::move(made.motion.motion);
    io::record_provenance(motion, *model, plan.method, options, command.restart);
    motion.warnings.insert(motion.warnings.begin(), plan.warnings.begin(), plan.warnings.end());
    trajectory::LyapunovBalance balance = stability::lyapunov_balance(model->model, motion, made.motion.recording);
    return std::make_unique<Motion>(model, std::move(motion), std::move(balance), plan.t_end);
}

/// The model of a stored motion: the file model.toml beside it, if the motion was computed with it. Otherwise null.
Loaded model_beside(const std::string& path, const trajectory::Trajectory& motion) {
    const std::filesystem::path file = std::filesystem::path(path).parent_path() / "model.toml";
    std::ifstream in(file, std::ios::binary);
    if (!in) return nullptr;
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    model::BuildOptions build = io::build_options_in(motion.options);
    if (motion.model_hash.empty() || io::model_hash(text, build.set) != motion.model_hash) return nullptr;
    constexpr bool project_initial = true;  // forces and gaps need the equations, not the initial state of the model
    return load(text, file.string(), build.set, build.perturbed, project_initial);
}

std::unique_ptr<Motion> read_motion(const Loaded& model, const std::string& path) {
    trajectory::Trajectory motion = io::read_trajectory(path);
    const double t_end = motion.end.t;
    const Loaded known = model ? model : model_beside(path, motion);
    return std::make_unique<Motion>(known, std::move(motion), io::read_balance(path), t_end);
}

std::vector<std::string> names_of(const std::vector<trajectory::Element>& elements) {
    std::vector<std::string> out;
    for (const trajectory::Element& e : elements) out.push_back(e.name);
    return out;
}

/// A system whose equations are methods of a Python object (python/saltus/_native.py has their meaning). Each
/// evaluation calls Python; the motion of a pendulum takes 55 times longer than with expressions.
class PythonSystem final : public model::System {
public:
    PythonSystem(py::object object, int coordinates, std::vector<double> restitutions)
        : object_(std::move(object)), restitutions_(std::move(restitutions)) {
        layout_.coordinates = coordinates;
        layout_.normals = layout_.coefficients = static_cast<int>(restitutions_.size());
        layout_.mass.cols = layout_.rows.cols = coordinates;
        layout_.coefficients_constant = true;
        std::vector<int> columns;
        for (int i = 0; i < coordinates; ++i) {
            columns.push_back(i);
            layout_.mass.add_row(columns);
        }
        for (int i = 0; i < layout_.normals; ++i) layout_.rows.add_row(columns);
    }
    const model::Layout& layout() const override { return layout_; }

    void mass(const model::At& at, std::span<double>, std::span<double> M) const override {
        const py::gil_scoped_acquire python;
        const auto n = static_cast<std::size_t>(layout_.coordinates);
        const Numbers full = call("mass", n * n, at.t, array(at.q));
        std::size_t k = 0;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j <= i; ++j) M[k++] = full.data()[i * n + j];
    }
    void force(const model::At& at, std::span<double>, std::span<double> h) const override {
        const py::gil_scoped_acquire python;
        copy(call("force", h.size(), at.t, array(at.q), array(at.u)), h);
    }
    void positions(const model::At& at, std::span<double>, std::span<double> g) const override {
        if (g.empty()) return;
        const py::gil_scoped_acquire python;
        copy(call("gaps", g.size(), at.t, array(at.q)), g);
    }
    void rows(const model::At& at, std::span<double>, std::span<double> W, std::span<double> chi) const override {
        if (chi.empty()) return;
        const py::gil_scoped_acquire python;
        copy(call("gap_gradients", W.size(), at.t, array(at.q)), W);
        std::fill(chi.begin(), chi.end(), 0.0);
        if (py::hasattr(object_, "gap_rates")) copy(call("gap_rates", chi.size(), at.t, array(at.q)), chi);
    }
    void curvature(const model::At& at, std::span<double>, std::span<double> zeta) const override {
        if (zeta.empty()) return;
        const py::gil_scoped_acquire python;
        copy(call("gap_curvatures", zeta.size(), at.t, array(at.q), array(at.u)), zeta);
    }
    void coefficients(const model::At&, std::span<double>, std::span<double> values) const override {
        std::copy(restitutions_.begin(), restitutions_.end(), values.begin());
    }
    model::Energy energy(const model::At& at, std::span<double> scratch) const override {
        model::Energy energy = System::energy(at, scratch);
        const py::gil_scoped_acquire python;
        if (py::hasattr(object_, "potential")) energy.potential = call("potential", 1, at.t, array(at.q)).data()[0];
        return energy;
    }

private:
    static Numbers array(std::span<const double> values) { return Numbers(length(values.size()), values.data()); }
    static void copy(const Numbers& from, std::span<double> to) { std::copy_n(from.data(), to.size(), to.begin()); }

    /// What a method returns, as `size` numbers.
    template <class... Arguments>
    Numbers call(const char* method, std::size_t size, Arguments&&... arguments) const {
        const auto result = Numbers::ensure(object_.attr(method)(std::forward<Arguments>(arguments)...));
        if (!result) throw py::error_already_set();
        if (static_cast<std::size_t>(result.size()) != size)
            throw Error(std::string(method) + "() of the model returns " + std::to_string(result.size()) +
                        " numbers; it must return " + std::to_string(size));
        return result;
    }

    py::object object_;
    std::vector<double> restitutions_;
    model::Layout layout_;
};

std::shared_ptr<io::LoadedModel> native(const py::object& system, const std::string& name,
                                        const std::vector<std::string>& coordinates, const std::vector<double>& q0,
                                        const std::vector<double>& u0, const std::vector<std::string>& contacts,
                                        const std::vector<double>& restitutions) {
    auto made = std::make_shared<PythonSystem>(system, static_cast<int>(coordinates.size()), restitutions);
    model::Model model = model::from_system(std::move(made), name, coordinates, q0, u0, {}, contacts);
    for (std::size_t i = 0; i < model.contacts.size(); ++i) model.contacts[i].e_n = static_cast<int>(i);
    return std::make_shared<io::LoadedModel>(io::LoadedModel{{name, "", {}}, {}, std::move(model)});
}

/// Errors of the library become saltus.Error, with its place and remedy.
void translate_errors(std::exception_ptr thrown) {
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& e) {
        const py::object type = py::module_::import("saltus._error").attr("Error");
        const py::object error = type(e.message(), e.place().file, e.place().line, e.place().column, e.remedy());
        PyErr_SetObject(type.ptr(), error.ptr());
    }
}

void define_command(py::module_& m) {
    py::class_<cli::SimulateCommand>(m, "SimulateOptions", "Options of a motion, as those of `saltus simulate`.")
        .def(py::init<>())
        .def_readwrite("t_end", &cli::SimulateCommand::t_end)
        .def_readwrite("h", &cli::SimulateCommand::h)
        .def_readwrite("theta", &cli::SimulateCommand::theta)
        .def_readwrite("rtol", &cli::SimulateCommand::rtol)
        .def_readwrite("atol", &cli::SimulateCommand::atol)
        .def_readwrite("method", &cli::SimulateCommand::method)
        .def_readwrite("restitution", &cli::SimulateCommand::restitution)
        .def_readwrite("max_step", &cli::SimulateCommand::max_step)
        .def_readwrite("implicit", &cli::SimulateCommand::implicit)
        .def_readwrite("strict_energy", &cli::SimulateCommand::strict_energy)
        .def_readwrite("repair_energy", &cli::SimulateCommand::repair_energy)
        .def_readwrite("restart", &cli::SimulateCommand::restart)
        .def_property(
            "seconds", [](const cli::SimulateCommand& c) { return c.common.seconds; },
            [](cli::SimulateCommand& c, double seconds) { c.common.seconds = seconds; })
        .def_property(
            "file", [](const cli::SimulateCommand& c) { return c.common.model; },
            [](cli::SimulateCommand& c, const std::string& file) {
                c.common.model = file;
                c.common.json = true;  // the motion keeps its arcs
            });
}

void define_motion(py::module_& m) {
    py::class_<Table>(m, "Table", "States of a motion at a list of times.")
        .def_property_readonly("t",
                               [](const py::object& self) {
                                   const Table& table = self.cast<const Table&>();
                                   return view(table.t, {length(table.t.size())}, self);
                               })
        .def_property_readonly("q",
                               [](const py::object& self) {
                                   const Table& table = self.cast<const Table&>();
                                   const py::ssize_t rows = length(table.t.size());
                                   return view(table.q, {rows, rows > 0 ? length(table.q.size()) / rows : 0}, self);
                               })
        .def_property_readonly("u", [](const py::object& self) {
            const Table& table = self.cast<const Table&>();
            const py::ssize_t rows = length(table.t.size());
            return view(table.u, {rows, rows > 0 ? length(table.u.size()) / rows : 0}, self);
        });
    py::class_<Motion>(m, "Motion", "A motion: its documents, and its state at any time.")
        .def("json", &Motion::json, "The document that `saltus simulate --json` prints.")
        .def("at", &Motion::at, py::arg("times"), py::arg("before") = false)
        .def("sample", [](const Motion& motion, int samples) { return sample(motion.motion(), samples); })
        .def("forces", &Motion::forces, py::arg("table"), py::arg("element"))
        .def("gaps", &Motion::gaps, py::arg("table"), py::arg("contact"))
        .def("write", &Motion::write, py::arg("path"))
        .def_property_readonly("coordinates", [](const Motion& motion) { return motion.motion().coordinates; })
        .def_property_readonly("elements", [](const Motion& motion) { return names_of(motion.motion().elements); })
        .def_property_readonly("start", [](const Motion& motion) { return motion.motion().start.t; })
        .def_property_readonly("end", [](const Motion& motion) { return motion.motion().end.t; })
        .def("balance", [](const py::object& self) {
            const trajectory::LyapunovBalance& b = self.cast<const Motion&>().balance();
            const py::ssize_t rows = length(b.t.size());
            py::dict out;
            const std::pair<const char*, const std::vector<double>*> columns[] = {
                {"t", &b.t},
                {"V", &b.V},
                {"damping", &b.damping},
                {"friction", &b.friction},
                {"springs", &b.springs},
                {"impact_friction", &b.impact_friction},
                {"impact_restitution", &b.impact_restitution},
                {"applied", &b.applied},
                {"driven", &b.driven}};
            for (const auto& [name, values] : columns) out[name] = view(*values, {rows}, self);
            return out;
        });
}

}  // namespace

PYBIND11_MODULE(_core, m) {
    m.doc() = "The compiled part of saltus.";
    m.attr("version") = library_version();
    py::register_exception_translator(&translate_errors);
    py::class_<io::LoadedModel, std::shared_ptr<io::LoadedModel>>(m, "Model", "A model that was read and built.")
        .def_property_readonly("name", [](const io::LoadedModel& l) { return l.model.name; })
        .def_property_readonly("coordinates", [](const io::LoadedModel& l) { return l.model.coordinates; })
        .def_property_readonly("parameters",
                               [](const io::LoadedModel& l) {
                                   py::dict out;
                                   for (std::size_t k = 0; k < l.model.settings->parameters.size(); ++k)
                                       out[py::str(l.model.settings->parameters[k].name)] =
                                           l.model.settings->parameters[k].value;
                                   return out;
                               })
        .def_property_readonly("initial", [](const io::LoadedModel& l) { return std::pair(l.model.q0, l.model.u0); });
    m.def(
        "load",
        [](const std::string& text, const std::string& file, const io::Assignments& set, bool perturbed,
           bool project_initial) {
            return std::const_pointer_cast<io::LoadedModel>(load(text, file, set, perturbed, project_initial));
        },
        py::arg("text"), py::arg("file"), py::arg("set"), py::arg("perturbed") = false,
        py::arg("project_initial") = false);
    m.def("native", &native, py::arg("system"), py::arg("name"), py::arg("coordinates"), py::arg("q0"), py::arg("u0"),
          py::arg("contacts"), py::arg("restitutions"));
    define_command(m);
    define_motion(m);
    m.def(
        "simulate",
        [](const std::shared_ptr<io::LoadedModel>& model, const cli::SimulateCommand& command,
           const py::object& progress) { return simulate(model, command, progress); },
        py::arg("model"), py::arg("options"), py::arg("progress") = py::none());
    m.def(
        "read_motion",
        [](const std::shared_ptr<io::LoadedModel>& model, const std::string& path) { return read_motion(model, path); },
        py::arg("model").none(true), py::arg("path"));
}
