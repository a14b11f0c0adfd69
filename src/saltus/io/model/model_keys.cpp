// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/model/model_keys.hpp"

#include <algorithm>

#include "saltus/base/error.hpp"

namespace saltus::io {

namespace {

const char* const required = "required";

/// Every key of a model file: {name, type of the value, meaning, default}. Keys that several blocks share come first.
std::vector<ModelBlock> make_blocks() {
    const ModelKey style{"style", "word", "`body`, `ground` or `line`", "`body`"};
    const ModelKey mu{"mu", "expression, or two", "friction coefficient, ≥ 0; two: orthotropic; of t, q, u", "0"};
    const ModelKey mu_static{
        "mu_static", "expression",
        "stick holds up to this coefficient, ≥ mu, slip has mu; Coulomb friction with one mu, both "
        "of parameters",
        "mu"};
    const ModelKey eN{"eN", "expression", "normal restitution, in [0, 1]; of parameters", "0"};
    const ModelKey eT{"eT", "expression", "tangential restitution, in [-1, 1]; of parameters", "0"};
    const ModelKey impact{"impact", "word", "`newton`, `poisson` or `energy`", "`newton`"};
    const ModelKey c{"c", "expression", "with `impact = \"energy\"`, instead of eN: e = 1 - c·(approach speed)", ""};
    const ModelKey gammaT{"gammaT", "expression, or a list",
                          "slip velocity, affine in the velocities; it need not be integrable", "frictionless"};
    const ModelKey repeated{"for", "text",
                            "`i in 1..30` repeats the block; i may be used in its expressions, `{i}` in its name", ""};
    const ModelKey from{"from", "point", "first end", required}, to{"to", "point", "second end", required};
    return {
        {"file",
         "a model file",
         {{"system", "table", "coordinates and energies", ""},
          {"parameters", "table", "numbers, or expressions of other parameters; any order, not cyclic", ""},
          {"let", "table",
           "auxiliary expressions of t, q, u and parameters, to be used in others by their names; any order, not "
           "cyclic",
           ""},
          {"contact", "tables", "unilateral contacts", ""},
          {"constraint", "tables", "bilateral constraints", ""},
          {"slider", "tables", "friction with a known normal force", ""},
          {"clutch", "tables", "one-way clutches", ""},
          {"jump", "tables", "resets of the state where a quantity passes through zero", ""},
          {"control", "table", "feedback", ""},
          {"penalty", "table", "contact springs instead of rigid contacts, for `--method penalty`", ""},
          {"perturbation", "table", "the perturbed motion of a pair", ""},
          {"initial", "table", "the state at t = 0", ""},
          {"simulate", "table", "defaults of the commands", ""},
          {"certify", "table", "region of certificates", ""},
          {"points", "table", "mass points", ""},
          {"springs", "tables", "between mass points", ""},
          {"volume", "tables", "constant volumes of cells of mass points", ""},
          {"obstacle", "tables", "planes that no mass point penetrates", ""},
          {"output", "table",
           "derived quantities of t, q, u, parameters and reactions: name = expression, or name = { value, unit }", ""},
          {"draw", "table", "how the model is drawn", ""}}},
        {"system",
         "[system]",
         {{"name", "text", "for titles", "the file's name"},
          {"q", "list of names", "coordinates", "required, unless there are `[points]`"},
          {"T", "expression",
           "kinetic energy, of t, q, u; at most quadratic in the velocities (linear and constant terms from moving "
           "frames are fine)",
           "required with q"},
          {"U", "expression", "potential energy, of t, q", "0"},
          {"R", "expression", "Rayleigh dissipation, of t, q, u; its force is -∂R/∂u", "0"},
          {"f", "table by coordinate", "other generalised forces, of t, q, u", "0"},
          {"unit", "table of texts",
           "units for the axes of plots, `{ x = \"m\", phi = \"rad\" }`: of coordinates, and of `time` (s), `length` "
           "(m), "
           "`force` (N), `energy` (J); nothing is converted",
           "axes without units"}}},
        {"contact",
         "[[contact]]",
         {{"name", "text", "unique among all contacts, constraints, sliders, clutches", required},
          {"gN", "expression", "gap, ≥ 0; the contact is closed where it is 0; of t, q", required},
          {"gammaT", "expression, or a list",
           "slip velocity, affine in the velocities; a list of 2 for spatial, 3 for contensou, 5 for rolling friction; "
           "it need not be integrable",
           "frictionless"},
          mu,
          mu_static,
          eN,
          eT,
          c,
          impact,
          {"friction", "word",
           "`coulomb`; `contensou` (two sliding velocities, drilling; a round patch under uniform pressure) with "
           "`radius`; `rolling` (two sliding "
           "velocities, "
           "drilling, two rolling velocities) with `radii`",
           "`coulomb`"},
          {"radius", "expression", "of the contact patch, for contensou", ""},
          {"radii", "two expressions", "of drilling and of rolling, for rolling", ""},
          {"if", "inequality", "the contact exists only while it holds, such as `x > 0`; of t, q, u", "always"},
          repeated}},
        {"constraint",
         "[[constraint]]",
         {{"name", "text", "unique among all contacts, constraints, sliders, clutches", required},
          {"g", "expression", "stays 0; of t, q", "or `gamma`"},
          {"gamma", "expression",
           "velocity that stays 0, affine in the velocities; it need not be integrable (nonholonomic)", "or `g`"},
          gammaT,
          {"mu", "expression, or two", "friction coefficient; scaled by the magnitude of the constraint's reaction",
           "0"},
          mu_static,
          repeated}},
        {"slider",
         "[[slider]]",
         {{"name", "text", "unique among all contacts, constraints, sliders, clutches", "`slider`, with a number"},
          {"gammaT", "expression, or a list", "slip velocity, affine in the velocities", required},
          mu,
          mu_static,
          {"FN", "expression", "normal force, ≥ 0; of t, q, u, and lambda(constraint)", required},
          eT,
          repeated}},
        {"clutch",
         "[[clutch]]",
         {{"name", "text", "unique among all contacts, constraints, sliders, clutches", "`clutch`, with a number"},
          {"gamma", "expression", "velocity that stays ≥ 0", required},
          repeated}},
        {"jump",
         "[[jump]]",
         {{"name", "text", "unique among all contacts, constraints, sliders, clutches, jumps", required},
          {"when", "expression", "the quantity that passes through zero; continuous, of t, q, u", required},
          {"direction", "word", "`down`, `up` or `both`: the sense in which it passes through zero", "`both`"},
          {"if", "inequality", "the jump happens only if it holds just before, such as `x > 0`; of t, q, u", "always"},
          {"q", "table by coordinate", "new positions; of t, q, u just before; the others stay", "all stay"},
          {"u", "table by coordinate", "new velocities; of t, q, u just before; the others stay", "all stay"},
          repeated}},
        {"control",
         "[control]",
         {{"actuated", "list of coordinates", "the outputs y", required},
          {"Kp", "number, list or matrix", "gain of y - reference; a list is a diagonal", "0"},
          {"Kv", "number, list or matrix", "gain of y'", "0"},
          {"reference", "table by coordinate",
           "desired value of y; of t and parameters. If it depends on t then the law is u = -Kp (y - r) - Kv (y' - r')",
           "0"},
          {"feedforward", "table by coordinate",
           "force that is added to the feedback; of t, q, u; with `period` also of lambda(...), lambdaT(...), "
           "gap(...), "
           "Lambda(...) and of the held forces NAME_hold",
           "0"},
          {"saturation", "expression, or a table by coordinate",
           "largest |u|: the force is cut there; of parameters, > 0", "none"},
          {"velocity", "word",
           "`measured`, or `estimated`: the law uses an estimate of y', made from y by a filter of first order",
           "`measured`"},
          {"bandwidth", "expression", "of the estimate, in 1/s; of parameters, > 0", "required with `estimated`"},
          {"period", "expression",
           "of sampling, in s: the law is evaluated at multiples of it, and its force is held in between "
           "(zero-order hold); of parameters, > 0",
           "the law acts continuously"},
          {"shaping", "expression", "desired potential Ũ of a fully actuated system, of q; may mention Kp and Kv",
           ""}}},
        {"penalty",
         "[penalty]",
         {{"k", "expression, or a table by contact",
           "stiffness: the spring's force is k*depth; of parameters, and of `depth` = -gN and `rate` = depth'",
           "required for `--method penalty`"},
          {"d", "expression, or a table by contact",
           "damping while in contact: the damper's force is d*rate; of parameters, `depth` and `rate`", "0"},
          {"D", "number, list or matrix, or a table of them by contact",
           "damping of all coordinates while a contact is open: the dissipation is u·D u/2; of parameters, symmetric, "
           "positive semidefinite. A model with several contacts needs the table",
           "0"},
          {"D_hat", "number, list or matrix, or a table of them by contact",
           "the same while the contact is closed (gN ≤ 0)", "0"}}},
        {"output",
         "an entry of [output]",
         {{"value", "expression", "the quantity; of t, q, u, parameters, gap(...), lambda(...), Lambda(...)", required},
          {"unit", "text", "for tables and axes", "none"}}},
        {"perturbation",
         "[perturbation]",
         {{"delta", "table by coordinate", "added to the forces; of t", "0"},
          {"eta", "table by constraint", "the constraint is g = η instead of g = 0; of t", "0"},
          {"theta", "table by contact or obstacle", "the contact is gN ≥ θ instead of gN ≥ 0; of t", "0"},
          {"initial", "table", "`q` and `u`, tables by coordinate, added to the start", "0"}}},
        {"perturbation.initial",
         "initial of [perturbation]",
         {{"q", "table by coordinate", "", "0"}, {"u", "table by coordinate", "", "0"}}},
        {"initial",
         "[initial]",
         {{"q", "table by coordinate", "positions; of parameters", "0"},
          {"u", "table by coordinate", "velocities; of parameters", "0"}}},
        {"simulate",
         "[simulate]",
         {{"t_end", "number", "end of the simulation", "none: give `--t-end`"},
          {"method", "word", "`event`, `moreau` or `penalty`", "`event`"},
          {"h", "number", "step of moreau", "1e-3"},
          {"rtol", "number", "relative tolerance of event and penalty", "1e-9"},
          {"atol", "number", "absolute tolerance of event and penalty", "1e-12"}}},
        {"certify",
         "[certify]",
         {{"region", "inequality, or a list", "certificates hold inside it, such as `abs(phi) < 1.2`; of q, u",
           "everywhere"}}},
        {"points",
         "[points]",
         {{"generate", "table",
           "a row of hexahedra along +x whose front section has its centre at the origin. Section s has the points 4s "
           "… "
           "4s+3 at (-,-), (+,-), (+,+), (-,+)",
           "or `positions`"},
          {"positions", "list of `[x, y, z]`", "one for each point", "or `generate`"},
          {"mass", "table, expression, or a list", "`{ total, distribution }`, or one for each point", required},
          {"velocity", "`[x, y, z]`, or one for each point", "at the start", "0"},
          {"shear", "`[a, b]`", "initial x += a·y + b·z", "0"},
          {"gravity", "`[x, y, z]`", "acceleration", "0"}}},
        {"points.generate",
         "generate of [points]",
         {{"kind", "word", "`hexahedra-row`", required},
          {"segments", "whole number", "hexahedra", required},
          {"length", "number", "of a segment", required},
          {"width", "`[y, z]`", "of the sections", required},
          {"origin", "`[x, y, z]`", "centre of the front section", "0"}}},
        {"points.mass",
         "mass of [points]",
         {{"total", "expression", "of all points", required},
          {"distribution", "word", "`equal`, or `lumped`: the two end sections have half", "`equal`"}}},
        {"springs",
         "[[springs]]",
         {{"over", "word", "`longitudinal`, `transverse` or `side-diagonals` of a generated row", "or `pairs`"},
          {"pairs", "list of `[i, j]`", "numbers of points", "or `over`"},
          {"k", "expression", "stiffness; may depend on `t`", "0"},
          {"c", "expression", "damping along the line", "0"},
          {"rest", "`\"initial\"`, or an expression", "length without force; may depend on `t`", "`\"initial\"`"},
          {"for", "text", "`i in 0..8` repeats the block; i may be used in its expressions and in `pairs`", ""}}},
        {"volume",
         "[[volume]]",
         {{"name", "text", "unique among all contacts, constraints, sliders, clutches", "`volume`, with a number"},
          {"cells", "`\"all\"`, or a list",
           "numbers of generated cells, or eight corner points each (four of one face going round, then the four "
           "opposite); their total volume stays",
           "`\"all\"`"}}},
        {"obstacle",
         "[[obstacle]]",
         {{"name", "text", "its contacts are called `name.p0`, `name.p1`, …", required},
          {"normal", "`[x, y, z]`", "points into the free side", required},
          {"offset", "expression", "n·x ≥ offset with the unit vector n = normal/|normal|; of t", required},
          mu,
          eN,
          eT,
          c,
          impact,
          repeated}},
        {"draw",
         "[draw]",
         {{"view", "`[xmin, ymin, xmax, ymax]`", "visible part of the plane", "everything that moves"},
          {"segments", "tables", "lines; ground lies to the right of from → to", ""},
          {"springs", "tables", "", ""},
          {"circles", "tables", "an angle is drawn as a radius", ""},
          {"polygons", "tables", "", ""},
          {"traces", "tables", "the path of a point so far", ""},
          {"contacts", "table by contact, constraint or slider", "position of its mark and arrows", ""}}},
        {"draw.segments", "segments of [draw]", {from, to, style}},
        {"draw.springs", "springs of [draw]", {from, to, style}},
        {"draw.circles",
         "circles of [draw]",
         {{"at", "point", "centre", required},
          {"radius", "expression", "", required},
          {"angle", "expression", "drawn as a radius", "not drawn"},
          style}},
        {"draw.polygons", "polygons of [draw]", {{"points", "list of points", "at least three", required}, style}},
        {"draw.traces", "traces of [draw]", {{"at", "point", "", required}, style}},
        {"draw.contacts",
         "contacts of [draw]",
         {{"at", "point", "point of contact", required},
          {"normal", "point", "direction in which the normal force acts on the body", "no arrow"},
          {"tangent", "point", "direction of the friction force", "the normal turned clockwise"}}},
    };
}

}  // namespace

std::span<const ModelBlock> model_blocks() {
    static const std::vector<ModelBlock> blocks = make_blocks();
    return blocks;
}

std::vector<std::string> keys_of(std::string_view block) {
    const std::span<const ModelBlock> blocks = model_blocks();
    const auto at = std::find_if(blocks.begin(), blocks.end(), [&](const ModelBlock& b) { return b.name == block; });
    SALTUS_EXPECT(at != blocks.end());
    std::vector<std::string> keys;
    for (const ModelKey& k : at->keys) keys.emplace_back(k.name);
    return keys;
}

std::string reference_table(const ModelBlock& block) {
    std::string text = "| key | value | meaning | default |\n|---|---|---|---|\n";
    for (const ModelKey& k : block.keys) {
        text += "| `" + std::string(k.name) + "` | " + std::string(k.type) + " | " + std::string(k.meaning) + " | " +
                std::string(k.default_value) + " |\n";
    }
    return text;
}

std::string model_reference() {
    std::string text;
    for (const ModelBlock& b : model_blocks())
        text += "<!-- keys: " + std::string(b.name) + " -->\n" + reference_table(b) + "<!-- end -->\n";
    return text;
}

}  // namespace saltus::io
