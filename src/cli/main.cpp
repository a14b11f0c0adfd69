// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/commands/basin.hpp"
#include "cli/commands/branch/continue.hpp"
#include "cli/commands/certify.hpp"
#include "cli/commands/check.hpp"
#include "cli/commands/compare.hpp"
#include "cli/commands/diagram.hpp"
#include "cli/commands/equilibria.hpp"
#include "cli/commands/gallery.hpp"
#include "cli/commands/impact.hpp"
#include "cli/commands/orbit.hpp"
#include "cli/commands/report.hpp"
#include "cli/commands/sensitivity.hpp"
#include "cli/commands/simulate.hpp"
#include "cli/commands/solve.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/report_option.hpp"
#include "cli/studio/studio.hpp"
#include "saltus/base/plain_text.hpp"
#include "saltus/base/text.hpp"
#include "saltus/base/version.hpp"
#include "saltus/io/model/model_keys.hpp"
#include "saltus/io/model/model_schema.hpp"
#include "saltus/io/report/device_report.hpp"
#include "saltus/io/results/hdf5_faults.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/proof/theorem.hpp"

namespace {

using namespace saltus;

/// One command of the program.
struct Command {
    const CLI::App* app;         ///< its name and options on the command line
    std::function<int()> run;    ///< runs it with the options that were parsed, and returns the exit code
    cli::OutputOptions* output;  ///< where its results go; nullptr: the command has no --report
    bool tells = false;          ///< whether it says itself that it was interrupted
};

void add_threads(CLI::App& command, int& threads) {
    command.add_option("--threads", threads, "Threads to use; 0: as many as there are cores")
        ->check(CLI::NonNegativeNumber);
}

void add_output_options(CLI::App& command, cli::OutputOptions& options) {
    command.add_option("--out", options.out, "Folder for result files; without it no file is written")
        ->type_name("DIR");
    add_threads(command, options.threads);
    command.add_flag("--report{" + std::string(cli::default_report) + "}", options.report,
                     "Also write a page of the results: --report FILE.html, or report.html in the folder of --out");
    command.add_flag("--json", options.json, "One JSON document on standard output, nothing else");
    command.add_flag("--quiet", options.quiet, "Print nothing but errors");
    command.add_flag_callback("--progress", cli::write_progress_lines,
                              "Lines \"progress 0.25\" on standard error, for other programs");
}

/// A complaint if a word is not a time limit. NaN is no limit, and CLI11 would take it for one.
std::string refusal_of_time_limit(const std::string& word) {
    double seconds = 0.0;
    if (CLI::detail::lexical_cast(word, seconds) && seconds >= 0.0 && std::isfinite(seconds)) return "";
    return "'" + word + "' is not a number of seconds >= 0";
}

void add_time_limit(CLI::App& command, double& seconds,
                    const char* what =
                        "Wall-clock time after which the run ends, keeps its results and says what is "
                        "missing") {
    command.add_option("--seconds", seconds, what)->check(refusal_of_time_limit);
}

void add_common(CLI::App& command, cli::Common& options, bool needs_model = true) {
    command.add_option("model", options.model, "Model file (TOML)")->required(needs_model);
    command.add_option("--set", options.set, "Parameter or initial value (x or x') to change, name=value; repeatable")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    add_output_options(command, options);
    add_time_limit(command, options.seconds);
    command.add_flag("--project-initial", options.project_initial,
                     "Repair an initial state that penetrates or violates a constraint");
}

CLI::App* add_check(CLI::App& app, cli::Common& options) {
    CLI::App* command = app.add_subcommand("check", "Parse and validate a model, and summarise it");
    add_common(*command, options);
    command->footer("Example:  saltus check models/rocking-bar.toml --json");
    return command;
}

/// A complaint if a word is no seed. CLI11 would take -1 for 2^64 - 1, and larger numbers too.
std::string refusal_of_seed(const std::string& word) {
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), seed);
    if (error == std::errc{} && end == word.data() + word.size()) return "";
    return "'" + word + "' is not a whole number from 0 to 2^64 - 1";
}

/// --box and --seed of commands that make many runs.
void add_box_options(CLI::App& command, cli::SampleOptions& c) {
    command
        .add_option("--box", c.box,
                    "Random initial values or parameters, x=from:to or x=normal:mean:deviation; repeatable")
        ->allow_extra_args(false);
    command.add_option("--seed", c.seed, "Seed of the random starts (1)")->check(refusal_of_seed);
}

/// Where and in which parts many runs are made.
void add_ensemble_options(CLI::App& command, cli::EnsembleOptions& c) {
    command.add_flag("--resume", c.resume, "Continue from the runs that are in --out");
    command.add_option("--shard", c.shard, "Only part I of N of the runs; `saltus merge` joins the parts")
        ->type_name("I/N");
    command
        .add_option("--device", c.device,
                    "Where motions are integrated; auto: on a GPU if there is one and many starts, else on the CPU")
        ->type_name("auto|cpu|cuda|opencl");
}

CLI::App* add_simulate(CLI::App& app, cli::SimulateCommand& c) {
    CLI::App* command = app.add_subcommand("simulate", "How does it move? The motion of a model");
    add_common(*command, c.common);
    command->add_option("--t-end", c.t_end, "End time; default: t_end of the model's [simulate]");
    command->add_option("--method", c.method, "event (default), moreau or penalty")->type_name("event|moreau|penalty");
    command->add_option("--h", c.h, "Step of moreau (1e-3)");
    command->add_option("--theta", c.theta, "Theta of moreau: 0.5 midpoint, 1 end of the step (0.5)");
    command
        ->add_option("--restitution", c.restitution,
                     "Contacts with restitution in moreau: all closed ones in steps with an impact, or in all steps")
        ->type_name("impacts|literal");
    command->add_option("--rtol", c.rtol, "Relative tolerance of event and penalty (1e-9)");
    command->add_option("--atol", c.atol, "Absolute tolerance of event and penalty (1e-12)");
    command->add_flag("--implicit", c.implicit, "Use implicit steps from the start, for stiff models");
    command->add_option("--max-step", c.max_step, "No step of event and penalty is longer (no limit)");
    command->add_option("--samples", c.random.samples, "Times in states.csv (1001); with --box random runs");
    command->add_option("--restart", c.restart, "Continue from the end of this trajectory.h5");
    command->add_flag("--perturbed", c.perturbed, "Apply the model's [perturbation]");
    command->add_flag("--balance", c.balance, "Print what reduced V = T + U; with --out always");
    command->add_flag("--strict-energy", c.strict_energy, "End the run at the first impact that creates energy");
    command->add_flag("--repair-energy", c.repair_energy, "Repair impacts that create energy (event)");
    command
        ->add_option("--vary", c.vary,
                     "Many values of parameters, x or x': NAME=FROM:TO:COUNT[:log] or NAME=A,B,...; repeatable")
        ->allow_extra_args(false);
    add_box_options(*command, c.random);
    command
        ->add_option("--ask", c.ask,
                     "Of many runs: end, rest, first(impact), count(slip, left), lowest(x), highest(x), mean(x), "
                     "section(x = 0); repeatable")
        ->allow_extra_args(false);
    add_ensemble_options(*command, c.ensemble);
    command->add_option("--solve-for", c.solve_for, "Find a parameter, NAME or NAME=LOW:HIGH, ...");
    command->add_option("--target", c.target, "... for which this holds, \"lambda(stop) = 5\"");
    command->add_option("--at", c.at, "Where the target holds: steady, or end of the motion");
    command->add_option("--section", c.section, "List where the motion passes \"x = 0\" upwards");
    command->add_option("--band", c.band, "Relative band of the settling time (0.02)");
    command->footer("Example:  saltus simulate models/bouncing-ball.toml --t-end 3 --set e=0.9 --out run");
    return command;
}

CLI::App* add_compare(CLI::App& app, cli::CompareCommand& c) {
    CLI::App* command =
        app.add_subcommand("compare", "Event-driven, Moreau and penalty side by side, with observed orders");
    add_common(*command, c.common);
    command->add_option("--t-end", c.t_end, "End time; default: t_end of the model's [simulate]");
    command->add_option("--h", c.h, "Largest step of moreau; default: h of the model's [simulate], or 1e-3");
    command->add_option("--rtol", c.rtol, "Relative tolerance of event and penalty (1e-9)");
    command->add_option("--atol", c.atol, "Absolute tolerance of event and penalty (1e-12)");
    command->add_option("--refinements", c.refinements, "How often h is halved and k multiplied by ten (3)");
    command->add_option("--penalty", c.penalty,
                        "Compare spring stiffnesses, k=1e3:1e9:7, with rigid contacts and e = 1");
    command->add_option("--horizon", c.horizon, "With --penalty: time span of the actions; default: one bounce");
    command->add_flag("!--no-action", c.action, "With --penalty: do not compute the sequences of actions");
    command->footer("Example:  saltus compare models/single-link-arm.toml");
    return command;
}

CLI::App* add_impact(CLI::App& app, cli::ImpactCommand& c) {
    CLI::App* command =
        app.add_subcommand("impact", "Do impacts create energy? One collision, or all impacts of a motion");
    add_common(*command, c.common, false);
    command
        ->add_option("--u-plus", c.u_plus, "Velocities after the impact, x=1,y=2; default: by the model's impact law")
        ->allow_extra_args(false);
    command->add_option("--u-minus", c.u_minus, "Velocities before the impact; default: the initial ones")
        ->allow_extra_args(false);
    command->add_option("--q", c.q, "Positions; default: the initial ones")->allow_extra_args(false);
    command->add_option("--closed", c.closed, "Contacts that take part; default: those with gap 0")
        ->allow_extra_args(false);
    command
        ->add_option("--Lambda", c.Lambda,
                     "Contact impulses, name=N or name=N,T1,T2; without --u-plus they determine it")
        ->allow_extra_args(false);
    command->add_option("--impulse", c.impulse, "External impulse, x=1,y=2")->allow_extra_args(false);
    command->add_option("--alpha", c.alpha, "Allowed contact work (0)");
    command->add_flag("--laws", c.laws,
                      "Also which u+ each impact law reaches for e = 0 to 1, and whether it is consistent");
    command->add_option("--number", c.number, "Audit impact number N of the model's motion");
    command->add_option("--trajectory", c.trajectory, "Audit every impact of this trajectory.h5");
    command->add_option("--event", c.event, "With --trajectory: audit impact number N alone, in full");
    command->footer("Example:  saltus impact models/forklift.toml --u-plus y=1.9,phi=0.2");
    return command;
}

/// --certificate and --check.
void add_certificate(CLI::App& command, cli::CertificateOptions& c) {
    command.add_option("--certificate", c.file, "Write a certificate file that other programs can check");
    command.add_flag("--check", c.check, "Have it checked by tools/check_certificate (needs Python 3.11)");
}

CLI::App* add_equilibria(CLI::App& app, cli::EquilibriaCommand& c) {
    CLI::App* command = app.add_subcommand("equilibria", "Equilibrium sets, or whether one position is an equilibrium");
    add_common(*command, c.common);
    command
        ->add_option("--at", c.at,
                     "Position to examine, x=1,y=2; other coordinates follow from the set with these values")
        ->allow_extra_args(false);
    command
        ->add_option("--region", c.region,
                     "Where to prove that no set is missing, x=-1:1; repeatable; default: as far as possible")
        ->allow_extra_args(false);
    command->add_option("--time", c.time, "Freeze a model that depends on time at this time");
    add_certificate(*command, c.certificate);
    command->footer("Example:  saltus equilibria models/rocking-bar.toml --at x=0.1,y=0,phi=0");
    return command;
}

CLI::App* add_sensitivity(CLI::App& app, cli::SensitivityCommand& c) {
    CLI::App* command = app.add_subcommand("sensitivity", "How sensitive is the motion? Its derivatives");
    add_common(*command, c.common);
    command
        ->add_option("--wrt", c.wrt, "With respect to: x (initial position), x' (initial velocity), parameters; x,x',k")
        ->allow_extra_args(false);
    command->add_option("--output", c.output, "An expression of the final state, \"x + l*sin(phi)\"");
    command->add_flag("--adjoint", c.adjoint, "Derivatives of the output only, backwards in time: for many parameters");
    command->add_flag("--check", c.check, "Compare with central differences of whole motions");
    command->add_option("--t-end", c.t_end, "End time; default: t_end of the model's [simulate]");
    command->add_option("--method", c.method, "event (default) or penalty")->type_name("event|penalty");
    command->add_option("--rtol", c.rtol, "Relative tolerance of the motion (1e-10)");
    command->add_option("--atol", c.atol, "Absolute tolerance of the motion (1e-13)");
    command->add_flag("--perturbed", c.perturbed, "Derivatives of the motion with the model's [perturbation]");
    command
        ->add_option("--vary", c.vary,
                     "Event times over a parameter: a=0.001:0.01:10, a=1e-4:1e-2:5:log or a=1,2,5; repeatable")
        ->allow_extra_args(false);
    command->add_flag("--resume", c.ensemble.resume, "With --vary: continue from the runs that are in --out");
    command->add_option("--shard", c.ensemble.shard, "With --vary: only part I of N of the runs")->type_name("I/N");
    command->footer("Example:  saltus sensitivity models/bouncing-ball.toml --wrt y,y',e --check");
    return command;
}

CLI::App* add_basin(CLI::App& app, cli::BasinCommand& c) {
    CLI::App* command = app.add_subcommand("basin", "Which equilibrium set or orbit each initial condition reaches");
    add_common(*command, c.common);
    command
        ->add_option("--grid", c.grid,
                     "Initial values or parameters, x=from:to:n, x=1,2,5 or x=value; x' is a velocity; repeatable")
        ->allow_extra_args(false);
    command->add_option("--samples", c.samples.samples, "Number of random starts from --box, instead of a grid");
    add_box_options(*command, c.samples);
    command->add_option("--t-max", c.t_max, "End time of each motion; default: t_end of the model's [simulate]");
    command->add_option("--method", c.method, "moreau (default) or event")->type_name("moreau|event");
    command->add_option("--h", c.h, "Step of moreau (1e-3)");
    command->add_option("--theta", c.theta, "Theta of moreau: 0.5 is the midpoint (0.5)");
    command->add_option("--rtol", c.rtol, "Relative tolerance of event (1e-9)");
    command->add_option("--atol", c.atol, "Absolute tolerance of event (1e-12)");
    command->add_option("--rest", c.rest,
                        "Speed that counts as rest, relative to the typical speed of the starts (1e-8)");
    command->add_flag("--to-rest", c.to_rest, "Continue inside the certified level set until rest");
    command->add_flag("--no-certify", c.no_certify, "Do not look for a certified level set");
    command->add_option("--refine", c.refine, "How often to halve the grid where labels differ (0)");
    command->add_option("--boundary", c.boundary, "Locate the boundary on every grid edge to this length");
    command->add_option("--paths", c.paths,
                        "Also N motions from the edge of the plane, and those from the tips of the sets, as curves");
    command->add_option("--period", c.period,
                        "Label motions by periodic orbits, too: period of the excitation, an expression of parameters");
    command->add_option("--section", c.section, "The same without excitation: where orbits are compared, \"x = 0\"");
    command->add_option("--multiple", c.multiple, "Most periods or returns after which an orbit closes (8)");
    add_ensemble_options(*command, c.ensemble);
    command->add_option("--backend", c.ensemble.device, "The same as --device; threads: cpu")->group("");
    command->add_flag("--virtual", c.virtual_parts, "For `saltus merge --virtual`")->group("");
    command->add_flag("--one-by-one", c.no_lanes, "One motion at a time on each core");
    command->footer(
        "Example:  saltus basin models/rocking-bar.toml --grid phi=-1.2:1.2:24 --grid \"phi'=-4:4:24\" "
        "--t-max 20");
    return command;
}

CLI::App* add_certify(CLI::App& app, cli::CertifyCommand& c) {
    CLI::App* command =
        app.add_subcommand("certify", "Is rest attractive? Does the controller reach its goal? Theorems");
    add_common(*command, c.common);
    command->add_option("--theorem", c.theorem, listing(proof::theorem_names(), "or") + "; default: the one that fits");
    command->add_option("--at", c.at, "Where to search for the equilibrium, x=1,y=2; default: the initial position")
        ->allow_extra_args(false);
    command->add_option_function<std::string>(
        "--V", [&c](const std::string& text) { c.V = text, c.V_given = true; },
        "Lyapunov function of coordinates, velocities, parameters, T and U; default: the energy");
    command->add_option("--budget", c.budget, "Number of boxes that each search of a proof may examine (20000)");
    add_certificate(*command, c.certificate);
    command->footer("Example:  saltus certify models/rocking-bar.toml --set mu=0.4");
    return command;
}

/// How an orbit is looked for: options of `orbit` and `continue`.
void add_orbit_options(CLI::App& command, cli::OrbitCommand& c) {
    command.add_option("--period", c.period, "Period of the excitation, an expression of parameters: \"2*pi/w\"");
    command.add_option("--section", c.section, "Without excitation: where the orbit begins, \"x = 0\", passed upwards");
    command.add_option("--symmetry", c.symmetry, "Half orbits: the other half is the image, \"x = -x, phi = -phi\"");
    command.add_option("--multiple", c.multiple, "The orbit closes after so many periods, or returns (1)");
    command.add_option("--settle", c.settle, "The guess is the end of a motion of this length");
    command.add_option("--guess", c.guess, "State at t = 0, x=1,x'=2; default: the initial state")
        ->allow_extra_args(false);
    command.add_option("--search", c.search, "Search from this many starts, and list all orbits found");
    command.add_option("--rtol", c.rtol, "Relative tolerance of the motion (1e-12)");
    command.add_option("--atol", c.atol, "Absolute tolerance of the motion (1e-14)");
}

CLI::App* add_orbit(CLI::App& app, cli::OrbitCommand& c) {
    CLI::App* command =
        app.add_subcommand("orbit", "What does it do in the long run? A periodic orbit and its multipliers");
    add_common(*command, c.common);
    add_orbit_options(*command, c);
    command->add_flag("--resume", c.ensemble.resume, "With --search: continue from the starts that are in --out");
    command->add_option("--shard", c.ensemble.shard, "With --search: only part I of N of the starts")->type_name("I/N");
    command->footer("Example:  saltus orbit models/ball-on-moving-plane.toml --period \"2*pi/w\" --settle 2");
    return command;
}

CLI::App* add_continue(CLI::App& app, cli::ContinueCommand& c) {
    CLI::App* command =
        app.add_subcommand("continue", "Follow periodic orbits or equilibria over a parameter, and name what changes");
    add_common(*command, c.orbit.common);
    command->add_option("--over", c.over, "The parameter and its range, NAME=FROM:TO");
    command->add_option("--and", c.also,
                        "Follow folds, doublings and grazings over a second parameter, too: NAME, or NAME=FROM:TO");
    command->add_flag("--equilibria", c.equilibria, "Follow equilibria; default without --period, --section, --settle");
    command->add_option("--step", c.step, "Largest step of the parameter, relative to the range (0.02)");
    command->add_option("--points", c.points, "Most points of a branch in one direction (1000)");
    command->add_option("--doublings", c.doublings, "How often branches of doubled period are followed (1)");
    command->add_flag("--resume", c.resume, "Continue the interrupted run in --out");
    add_orbit_options(*command, c.orbit);
    command->footer(
        "Example:  saltus continue models/ball-on-moving-plane.toml --over Gamma=0.9:2 --period \"2*pi/w\" --settle 2");
    return command;
}

CLI::App* add_diagram(CLI::App& app, cli::DiagramCommand& c) {
    CLI::App* command =
        app.add_subcommand("diagram", "Long motions for many values of a parameter: a bifurcation diagram");
    add_common(*command, c.common);
    command->add_option("--over", c.over, "The parameter and its values, NAME=FROM:TO:COUNT[:log] or NAME=A,B,...");
    command->add_option("--period", c.period, "Take the state once in this period, an expression of parameters");
    command->add_option("--section", c.section, "Without excitation: take the state where the motion passes upwards");
    command->add_option("--transient", c.transient, "Number of points that are dropped (100)");
    command->add_option("--keep", c.keep, "Number of points that are kept (50)");
    command->add_option("--sweep", c.sweep, "Where motions begin: restart (initial state), up, down, both (restart)");
    command->add_flag("--exponents", c.exponents, "Compute Lyapunov exponents, too");
    add_ensemble_options(*command, c.ensemble);
    command->add_option("--t-max", c.t_max, "With --section: longest motion of one value (20 times t_end)");
    command->add_option("--rtol", c.rtol, "Relative tolerance of the motion (1e-9)");
    command->add_option("--atol", c.atol, "Absolute tolerance of the motion (1e-12)");
    command->footer("Example:  saltus diagram models/impact-oscillator.toml --over F0=0.5:1.5:50 --period \"2*pi/w\"");
    return command;
}

CLI::App* add_solve(CLI::App& app, cli::SolveCommand& c) {
    CLI::App* command = app.add_subcommand("solve", "Solve contact problem files");
    command->add_option("problem", c.files, "Problem files: text, or FCLIB (HDF5)")->required();
    command->add_option("--kind", c.kind, "fc, gfc, rfc, grfc, lcp, mlcp or relay, if the content is ambiguous");
    command->add_option("--method", c.options.method, "automatic (default) or one of its parts")
        ->type_name("automatic|gauss-seidel|newton|proximal|lemke");
    command->add_option("--tolerance", c.options.tolerance, "Residual that counts as solved (1e-8)");
    add_time_limit(*command, c.seconds);
    command->add_flag("--all", c.options.all, "List every solution of small planar problems and of single contacts");
    add_output_options(*command, c);
    command->footer("Example:  saltus solve stack.dat rover.dat --tolerance 1e-10");
    return command;
}

CLI::App* add_report(CLI::App& app, cli::ReportCommand& c) {
    CLI::App* command = app.add_subcommand("report", "Show results as one HTML page that opens anywhere, offline");
    command->add_option("result", c.results, "Result folders, trajectory.h5 files, or JSON of the commands")
        ->required();
    command->add_option("-o,--output", c.out, "Path of the page (report.html)");
    command->add_option("--model", c.model, "Model of the motions, if it is not next to them");
    command->add_option("--title", c.title, "Title of the page; default: the model's name");
    command->add_flag("--static", c.plain, "Static plots instead of interactive ones");
    add_time_limit(*command, c.seconds, "Wall-clock time after which the command ends without a page");
    command->add_flag("--quiet", c.quiet, "Print nothing but errors");
    command->footer("Example:  saltus simulate models/rocking-bar.toml --out run && saltus report run -o bar.html");
    return command;
}

CLI::App* add_merge(CLI::App& app, cli::MergeCommand& c) {
    CLI::App* command = app.add_subcommand("merge", "Join the parts that a command with --shard has computed");
    command->add_option("folder", c.folder, "The folder of --out that all parts were written to")->required();
    add_threads(*command, c.threads);
    add_time_limit(*command, c.seconds);
    command->add_flag("--json", c.json, "One JSON document on standard output, nothing else");
    command->add_flag("--quiet", c.quiet, "Print nothing but errors");
    command->add_flag("--virtual", c.virtual_parts,
                      "Of a basin: basin.h5 refers to an HDF5 file of each part, in place of a copy of their motions");
    command->footer("Example:  saltus merge run");
    return command;
}

CLI::App* add_devices(CLI::App& app, bool& json) {
    CLI::App* command = app.add_subcommand("devices", "What can integrate many motions at once: CPU, GPUs");
    command->add_flag("--json", json, "One JSON document on standard output, nothing else");
    command->footer("Example:  saltus devices");
    return command;
}

CLI::App* add_gallery(CLI::App& app, cli::GalleryCommand& c) {
    CLI::App* command = app.add_subcommand("gallery", "Every shipped model with its study, as pages with an index");
    command->add_option("-o,--out", c.out, "Folder for the pages and their data")->required();
    command->add_option("--only", c.only, "Only this model, by name; repeatable")->allow_extra_args(false);
    command->add_flag("--quick", c.quick, "Coarser grids, for an overview");
    add_threads(*command, c.threads);
    add_time_limit(*command, c.seconds);
    command->add_flag("--quiet", c.quiet, "Print nothing but errors");
    command->footer("Example:  saltus gallery -o gallery --quick");
    return command;
}

CLI::App* add_studio(CLI::App& app, cli::StudioCommand& c) {
    CLI::App* command = app.add_subcommand("studio", "A live page that follows a model file while it is edited");
    command->add_option("model", c.model, "Model file (TOML)")->required();
    command->add_option("--port", c.port, "Port on the loopback address; 0: any free one (0)");
    command->footer("Example:  saltus studio models/rocking-bar.toml");
    return command;
}

CLI::App* add_completion(CLI::App& app, std::string& kind) {
    CLI::App* command =
        app.add_subcommand("completion", "Print completion for a shell, the manual page, or the keys of model files");
    command->add_option("kind", kind, "bash, zsh, man, or model-file: every key of a model file, in Markdown")
        ->required()
        ->type_name("bash|zsh|man|model-file");
    command->footer("Example:  source <(saltus completion bash)");
    return command;
}

CLI::App* add_schema(CLI::App& app) {
    CLI::App* command = app.add_subcommand("schema", "Print the JSON Schema of the model file, for editors");
    command->footer("Example:  saltus schema > model.schema.json");
    return command;
}

// ---- the command line as a value, for help texts, completion and the manual page

cli::OptionHelp option_help(const CLI::Option& option) {
    static const std::vector<std::string> common{"--set",   "--out",     "--threads",         "--report",   "--json",
                                                 "--quiet", "--seconds", "--project-initial", "--progress", "model"};
    static const std::vector<std::string> many{"--seed", "--resume", "--shard", "--device"};
    cli::OptionHelp o;
    o.positional = option.nonpositional() == false;
    for (const std::string& n : option.get_snames()) o.names.push_back("-" + n);
    for (const std::string& n : option.get_lnames()) o.names.push_back("--" + n);
    if (o.positional) o.names = {option.get_single_name()};
    o.required = option.get_required();
    o.repeatable = option.get_items_expected_max() > 1;
    o.text = option.get_description();
    o.value = option.get_items_expected_max() == 0 ? "" : option.get_type_name();
    if (o.value == "FLOAT" || o.value == "FLOAT:NONNEGATIVE") o.value = "NUMBER";
    if (o.value.starts_with("INT") || o.value.starts_with("UINT")) o.value = "N";
    if (o.value == "TEXT ..." || o.value == "TEXT") o.value = "TEXT";
    if (o.positional && o.value == "TEXT") {
        o.value = option.get_single_name();
        std::transform(o.value.begin(), o.value.end(), o.value.begin(),
                       [](unsigned char c) { return std::toupper(c); });
        if (o.repeatable) o.value += "...";
    }
    if (o.names.back() == "--report") o.value = "[FILE.html]";
    o.common = std::find(common.begin(), common.end(), o.names.back()) != common.end();
    o.of_many_runs = std::find(many.begin(), many.end(), o.names.back()) != many.end();
    return o;
}

cli::CommandHelp command_help(const CLI::App& command) {
    cli::CommandHelp c{command.get_name(), command.get_description(), command.get_footer(), {}};
    for (const CLI::Option* option : command.get_options())
        if (option->get_single_name() != "help" && !option->get_group().empty())  // without a group: hidden
            c.options.push_back(option_help(*option));
    // The common options are explained once, for commands that take a model. Other commands explain them in full.
    const bool of_model = !c.options.empty() && c.options[0].names[0] == "model";
    const bool many_runs = std::any_of(c.options.begin(), c.options.end(),
                                       [](const cli::OptionHelp& o) { return o.names.back() == "--shard"; });
    for (cli::OptionHelp& o : c.options) {
        o.common = o.common && of_model;
        o.of_many_runs = o.of_many_runs && of_model && many_runs;
    }
    return c;
}

cli::CommandLine command_line(const CLI::App& app) {
    cli::CommandLine line{app.get_description(), "saltus " + library_version(), app.get_footer(), {}};
    for (const CLI::App* command : app.get_subcommands(nullptr)) line.commands.push_back(command_help(*command));
    return line;
}

class Help : public CLI::Formatter {
public:
    std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
        return app->get_parent() == nullptr ? cli::help_text(command_line(*app)) : cli::help_text(command_help(*app));
    }
};

int print_completion(const CLI::App& app, const std::string& kind) {
    if (kind == "bash")
        cli::print(cli::bash_completion(command_line(app)));
    else if (kind == "zsh")
        cli::print(cli::zsh_completion(command_line(app)));
    else if (kind == "man")
        cli::print(cli::manual_page(command_line(app)));
    else if (kind == "model-file")
        cli::print(io::model_reference());
    else
        throw Error("unknown kind '" + kind + "'", {"completion", 0, 0}, "allowed are bash, zsh, man and model-file");
    return cli::done;
}

void refuse_unknown_command(const CLI::App& app, const std::vector<std::string>& words) {
    if (words.empty() || words[0].starts_with('-')) return;
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
    if (std::find(names.begin(), names.end(), words[0]) == names.end())
        throw Error("unknown command '" + words[0] + "'", {}, did_you_mean(words[0], names));
}

/// Refuses an option whose value is an empty word, as in `--out "$FOLDER"` if the variable is not set: the run would go
/// on without the option, and write nothing.
void refuse_empty_value(const std::vector<std::string>& words) {
    for (std::size_t k = 0; k < words.size(); ++k) {
        const bool empty = k > 0 && words[k].empty() && words[k - 1].starts_with("-");
        const std::string option = empty ? words[k - 1] : words[k].substr(0, words[k].find('='));
        if (empty || (words[k].starts_with("--") && words[k] == option + "="))
            throw Error("has an empty value", {option, 0, 0}, "give a value, or omit the option");
    }
}

/// After words were left over by the parser: names the first of them that looks like an option, and the nearest option
/// of the command. Other words that are left over, such as a second file, are named by the parser itself.
void refuse_unknown_option(const CLI::App& app, const std::vector<std::string>& words) {
    const std::vector<std::string> left = app.remaining(true);
    const auto command = app.get_subcommands();
    if (command.empty()) return;
    for (const std::string& word : words) {
        const std::string name = word.substr(0, word.find('='));
        const bool option = name.size() > 1 && name[0] == '-' && (name[1] == '-' || is_letter(name[1]));
        if (!option || std::find(left.begin(), left.end(), word) == left.end()) continue;
        std::vector<std::string> known;
        for (const CLI::Option* o : command[0]->get_options())
            for (const std::string& long_name : o->get_lnames()) known.push_back("--" + long_name);
        const std::string meant = nearest(name, known);
        throw Error("unknown option '" + name + "' of saltus " + command[0]->get_name(), {},
                    meant.empty() ? "saltus " + command[0]->get_name() + " --help lists the options"
                                  : "did you mean '" + meant + "'?");
    }
}

/// The parser's own complaint in the form of all other messages: what is wrong, then what helps.
Error error_of(const CLI::App& app, const CLI::ParseError& e) {
    const auto chosen = app.get_subcommands();
    const std::string command = chosen.empty() ? "saltus" : "saltus " + chosen[0]->get_name(),
                      help = command + " --help lists " + (chosen.empty() ? "the commands" : "the options"),
                      text = e.what();
    if (chosen.empty()) return {"a command is missing", {}, help};
    if (text == "model is required") return {command + " needs a model file", {}, "write " + command + " MODEL.toml"};
    if (const std::string extra = "The following argument was not expected: "; text.starts_with(extra))
        return {"the word '" + text.substr(extra.size()) + "' is not expected here", {}, help};
    const std::string conversion = "Could not convert: ";
    if (const std::size_t equals = text.find(" = "); text.starts_with(conversion) && equals != std::string::npos)
        return {text.substr(conversion.size(), equals - conversion.size()) + ": '" + text.substr(equals + 3) +
                    "' is not a number of the kind that is expected",
                {},
                help};
    // The range of numbers that are not negative is printed with 300 digits.
    if (const std::size_t range = text.find(" not in range 0.000000 to 17976931348623157"); range != std::string::npos)
        return {text.substr(0, range) + " is negative", {}, help};
    return {text, {}, help};
}

/// The command line as it is recorded with the results: without the options that do not change them (where they go,
/// how many threads compute them, and for how long at a time).
std::string recorded_line(const std::vector<std::string>& words) {
    const std::vector<std::string> with_value{"--out", "--threads", "--seconds", "--certificate", "--shard"},
        alone{"--quiet", "--json", "--resume", "--check", "--progress", "--virtual"};
    const auto is = [](const std::string& word, const std::vector<std::string>& list) {
        return std::any_of(list.begin(), list.end(),
                           [&](const std::string& o) { return word == o || word.starts_with(o + "="); });
    };
    std::string line = "saltus";
    for (std::size_t k = 0; k < words.size(); ++k) {
        if (is(words[k], alone) || words[k].starts_with("--report")) continue;
        if (is(words[k], with_value)) {
            if (words[k].find('=') == std::string::npos) ++k;
            continue;
        }
        line += " " + io::quoted_word(words[k]);
    }
    return line;
}

int parse_and_run(const std::vector<std::string>& words) {
    CLI::App app{"Saltus: nonsmooth mechanics. One model, six questions.", "saltus"};
    app.set_version_flag("--version", "saltus " + library_version());
    app.require_subcommand(1);
    app.formatter(std::make_shared<Help>());
    app.footer("Example:  saltus check models/rocking-bar.toml --set mu=0.5");

    cli::Common check_options;
    cli::SimulateCommand simulate_options;
    cli::CompareCommand compare_options;
    cli::ImpactCommand impact_options;
    cli::EquilibriaCommand equilibria_options;
    cli::SensitivityCommand sensitivity_options;
    cli::BasinCommand basin_options;
    cli::CertifyCommand certify_options;
    cli::OrbitCommand orbit_options;
    cli::ContinueCommand continue_options;
    cli::DiagramCommand diagram_options;
    cli::SolveCommand solve_options;
    cli::ReportCommand report_options;
    cli::MergeCommand merge_options;
    bool devices_json = false;
    cli::GalleryCommand gallery_options;
    cli::StudioCommand studio_options;
    std::string completion_kind;
    const std::vector<Command> commands{
        {add_check(app, check_options), [&] { return cli::check(check_options); }, &check_options},
        {add_simulate(app, simulate_options), [&] { return cli::simulate(simulate_options); },
         &simulate_options.common},
        {add_compare(app, compare_options), [&] { return cli::compare(compare_options); }, &compare_options.common},
        {add_impact(app, impact_options), [&] { return cli::impact(impact_options); }, &impact_options.common},
        {add_equilibria(app, equilibria_options), [&] { return cli::equilibria(equilibria_options); },
         &equilibria_options.common},
        {add_sensitivity(app, sensitivity_options), [&] { return cli::sensitivity(sensitivity_options); },
         &sensitivity_options.common},
        {add_basin(app, basin_options), [&] { return cli::basin(basin_options); }, &basin_options.common},
        {add_certify(app, certify_options), [&] { return cli::certify(certify_options); }, &certify_options.common},
        {add_orbit(app, orbit_options), [&] { return cli::orbit(orbit_options); }, &orbit_options.common},
        {add_continue(app, continue_options), [&] { return cli::continuation(continue_options); },
         &continue_options.orbit.common},
        {add_diagram(app, diagram_options), [&] { return cli::diagram(diagram_options); }, &diagram_options.common},
        {add_solve(app, solve_options), [&] { return cli::solve(solve_options); }, &solve_options},
        {add_report(app, report_options), [&] { return cli::report(report_options); }, nullptr, true},
        {add_devices(app, devices_json),
         [&] {
             const auto found = ensemble::find_devices();
             if (devices_json)
                 cli::print_document(io::devices_json(found));
             else
                 cli::print(io::devices_text(found));
             return int{cli::done};
         },
         nullptr},
        {add_merge(app, merge_options), [&] { return cli::merge(merge_options); }, nullptr, true},
        {add_gallery(app, gallery_options), [&] { return cli::gallery(gallery_options); }, nullptr},
        {add_studio(app, studio_options), [&] { return cli::studio(studio_options); }, nullptr},
        {add_schema(app),
         [] {
             cli::print_document(io::model_schema());
             return int{cli::done};
         },
         nullptr},
        {add_completion(app, completion_kind), [&] { return print_completion(app, completion_kind); }, nullptr},
    };
    try {
        refuse_unknown_command(app, words);
        refuse_empty_value(words);
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& e) {  // a mistake, or a wish for help
        if (e.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) refuse_unknown_option(app, words);
        if (e.get_exit_code() != 0) throw error_of(app, e);
        std::ostringstream help, complaint;
        app.exit(e, help, complaint);
        cli::print(help.str());
        return cli::done;
    }
    for (const Command& command : commands) {
        if (!command.app->parsed()) continue;
        if (command.output != nullptr) command.output->line = recorded_line(words);
        if (command.output != nullptr) cli::limit_time(command.output->seconds);
        if (command.output != nullptr && command.output->json)
            cli::document_if_ended(command.output == &solve_options ? "[{\"status\": \"interrupted\"}]\n"
                                                                    : "{\"status\": \"interrupted\"}\n");
        cli::take_interrupts();
        cli::guard_interrupts();
        const int code = command.output == nullptr ? command.run() : cli::with_report(*command.output, command.run);
        if (code == cli::interrupted && !command.tells)
            cli::tell("saltus: " + cli::interrupt_reason() + "; the results are partial");
        return code;
    }
    return cli::done;
}

}  // namespace

int saltus::cli::run(const std::vector<std::string>& words) {
    try {
        return parse_and_run(words);
    } catch (const Error& e) {
        cli::report(e);
        return cli::bad_input;
    } catch (const std::bad_alloc&) {
        cli::tell("saltus: failure: there is not enough memory; no result was written, earlier results remain");
        return cli::failed;
    } catch (const std::filesystem::filesystem_error& e) {  // a name that is too long, a folder that may not be read
        cli::tell("saltus: error: " + e.path1().string() + ": " + e.code().message() + "; check the path");
        return cli::bad_input;
    } catch (const std::system_error& e) {
        const bool no_thread = e.code() == std::errc::resource_unavailable_try_again;
        cli::tell(
            "saltus: failure: " + std::string(e.what()) +
            (no_thread ? "; a thread cannot be started: raise the limit of memory or of processes (ulimit)" : ""));
        return cli::failed;
    } catch (const std::exception& e) {
        cli::tell("saltus: failure: " + std::string(e.what()));
        return cli::failed;
    }
}

namespace {

/// In a small address space (ulimit -v) all threads share one arena of malloc. An arena of their own needs a
/// reservation of 128 MiB, and if that fails then glibc tries it again for each allocation: a quarter of a million
/// times in three seconds, and `certify` of the rocking bar took 60 s in place of 3 s with 60 MB.
void limit_arenas() {
#ifdef M_ARENA_MAX
    constexpr double arena = 128.0 * (1U << 20U), stack = 8.0 * (1U << 20U), program = 256.0 * (1U << 20U);  // bytes
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    const double threads = 2.0 + std::thread::hardware_concurrency();
    if (static_cast<double>(limit.rlim_cur) < program + threads * (arena + stack)) ::mallopt(M_ARENA_MAX, 1);
#endif
}

/// Whether the stack has room for the deepest formulas and tables that are read. Their readers call themselves, up to
/// fixed depths: tables of 256 levels overflow a stack of 256 kB.
bool has_stack() {
    constexpr rlim_t least = rlim_t{1} << 20U;  // bytes
    rlimit limit{};
    return ::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= least;
}

/// Gives the standard streams that are closed a descriptor on which output fails. Otherwise the first file that the
/// program opens would take their place, and text for the terminal would be written into it.
void occupy_standard_streams() {
    for (int stream = 0; stream <= 2; ++stream)
        if (::fcntl(stream, F_GETFD) == -1) ::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
}

/// A full disk, a limit of the file size and a closed pipe become errors of the call that writes, instead of signals
/// that end the program.
void ignore_write_signals() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace

int main(int argc, char** argv) {
    limit_arenas();
    occupy_standard_streams();
    ignore_write_signals();
    if (!has_stack()) {
        saltus::cli::tell("saltus: error: the stack is smaller than 1 MiB; raise its limit with `ulimit -s 8192`");
        return saltus::cli::bad_input;
    }
    saltus::io::end_on_faults_of_hdf5(saltus::cli::bad_input);
    return saltus::cli::run(saltus::cli::join_report_file(argc - 1, argv + 1));
}
