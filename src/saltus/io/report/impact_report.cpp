// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/impact_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"

namespace saltus::io {

using namespace saltus::impact;
using Eigen::Index;

namespace {

constexpr std::size_t long_list = 12;    // entries of a list in the text
constexpr double rounding = 1e-14;       // numbers ≤ this × the largest of their kind are rounding residue of 0
constexpr double impulse_misfit = 1e-9;  // impulses lead to u⁺ if the rest is ≤ this × the size of the collision
constexpr double outside_cones = 1e-9;   // impulses are admissible if they leave their cones by ≤ this × the largest

std::string number(double x) { return fmt::format("{:.10g}", x + 0.0); }

/// "a = 1   b = 2"; of a long list the first ones.
std::string values(const std::vector<std::string>& names, const Vector& x, const char* suffix) {
    std::string text;
    const double residue = x.size() == 0 ? 0.0 : rounding * x.cwiseAbs().maxCoeff();
    const auto shown = [&](std::size_t k) {
        const double value = x(static_cast<Index>(k));
        return number(std::abs(value) <= residue ? 0.0 : value);
    };
    const auto n = std::min<std::size_t>(names.size(), long_list);
    for (std::size_t k = 0; k < n; ++k)
        text += fmt::format("{}{}{} = {}", k == 0 ? "" : "   ", names[k], suffix, shown(k));
    return names.size() > n ? text + fmt::format("   and {} more", names.size() - n) : text;
}

/// A velocity, or 0 if it is rounding residue compared with the velocities of the collision.
double cleaned(const ImpactReport& r, double x) {
    const FrictionalCollision& c = r.at.collision;
    double size = std::max(c.u_minus.lpNorm<Eigen::Infinity>(), c.u_plus.lpNorm<Eigen::Infinity>());
    if (c.chi.size() > 0) size = std::max(size, c.chi.lpNorm<Eigen::Infinity>());
    return std::abs(x) <= rounding * size ? 0.0 : x + 0.0;
}

/// "(1, 2)"
std::string tuple_text(const Vector& x) {
    std::string text = "(";
    const auto n = std::min<Index>(x.size(), static_cast<Index>(long_list));
    for (Index k = 0; k < n; ++k) text += (k == 0 ? "" : ", ") + fmt::format("{:.8g}", x(k));
    return text + (x.size() > n ? ", ...)" : ")");
}

std::string point(const ImpactReport& r, Vector x) {
    for (double& value : x) value = cleaned(r, value);
    return tuple_text(x);
}

/// A direction has no size of its own: components below `rounding` of the largest one are rounding residue.
std::string direction(Vector v) {
    const double size = v.size() > 0 ? v.lpNorm<Eigen::Infinity>() : 0.0;
    for (double& x : v) x = std::abs(x) <= rounding * size ? 0.0 : x;
    return tuple_text(v);
}

std::string name_of_block(const ImpactReport& r, std::size_t block) { return name_of(r.at.collision, block); }

/// The names of the contacts of these columns of the normal directions.
std::string names_of(const ImpactReport& r, const std::vector<int>& columns) {
    std::vector<std::string> names;
    for (const int k : columns)
        names.push_back(name_of_block(r, static_cast<std::size_t>(r.study.blocks[static_cast<std::size_t>(k)])));
    return names.empty() ? "nothing" : listing(names);
}

/// A line of the report.
std::string line(const std::string& label, const std::string& text) { return fmt::format("  {:<12}{}\n", label, text); }

/// The impulses that are not zero: "fork 2.6; left 0.1 T 0.05".
std::string impulses(const ImpactReport& r, const Vector& Lambda) {
    const FrictionalCollision& c = r.at.collision;
    std::vector<std::string> parts;
    const double size = Lambda.size() == 0 ? 0.0 : Lambda.cwiseAbs().maxCoeff();
    if (!std::isfinite(size)) return "none";
    each_block(c, [&](std::size_t k, Index row) {
        const auto own = Lambda.segment(row, c.sizes[k]);
        if (!(own.cwiseAbs().maxCoeff() > rounding * size)) return;
        std::string text = name_of(c, k);
        for (int i = 0; i < c.sizes[k]; ++i) {
            const bool first_slip = row_kind(c.laws[k], i) == RowKind::tangential &&
                                    (i == 0 || row_kind(c.laws[k], i - 1) != RowKind::tangential);
            text += fmt::format("{}{}", first_slip ? " T " : i == 0 ? " " : ", ", number(own(i)));
        }
        parts.push_back(std::move(text));
    });
    if (parts.empty()) return "none";
    std::string text;
    for (std::size_t k = 0; k < std::min(parts.size(), long_list); ++k) text += (k == 0 ? "" : "; ") + parts[k];
    return parts.size() > long_list ? text + fmt::format("; and {} more", parts.size() - long_list) : text;
}

std::string law_text(const ImpactReport& r, std::size_t block, Index row) {
    const FrictionalCollision& c = r.at.collision;
    if (!has_normal(c.laws[block])) return has_friction(c.laws[block]) ? "friction" : "bilateral";
    const Restitutions& e = r.at.restitutions;
    std::string text = fmt::format("{}, eN {:.6g}", to_string(e.law[block]), e.e(row));
    if (has_friction(c.laws[block])) text += fmt::format(", eT {:.6g}, mu {:.6g}", e.e(row + 1), c.laws[block].mu);
    return text;
}

std::string contact_table(const ImpactReport& r) {
    const FrictionalCollision& c = r.at.collision;
    const auto contacts = static_cast<std::size_t>(
        std::count_if(c.laws.begin(), c.laws.end(), [](const solvers::Law& law) { return has_normal(law); }));
    std::string text = line("contacts", fmt::format("{} closed at t = {}", contacts, number(r.at.t)));
    if (c.laws.empty()) return text;
    std::size_t width = 8, shown = 0;
    for (std::size_t k = 0; k < c.laws.size(); ++k) width = std::max(width, name_of(c, k).size());
    text += fmt::format("    {:<{}}  {:>13} {:>13} {:>13}  {}\n", "", width, "gamma-", "gamma+", "chi", "law");
    each_block(c, [&](std::size_t k, Index row) {
        if (shown++ >= 2 * long_list) return;
        for (int i = 0; i < c.sizes[k]; ++i)
            text += fmt::format("    {:<{}}  {:>13.6g} {:>13.6g} {:>13.6g}  {}\n",
                                i == 0 ? name_of(c, k) : fmt::format("  T{}", i), width,
                                cleaned(r, r.study.gamma_minus(row + i)), cleaned(r, r.study.gamma_plus(row + i)),
                                (c.chi.size() == 0 ? 0.0 : c.chi(row + i)) + 0.0, i == 0 ? law_text(r, k, row) : "");
    });
    if (c.laws.size() > 2 * long_list) text += fmt::format("    and {} more\n", c.laws.size() - 2 * long_list);
    while (text.find(" \n") != std::string::npos) text.erase(text.find(" \n"), 1);
    return text;
}

/// Whether γ⁺ ≥ 0 at all contacts (kinematic) and contact impulses lead from u⁻ to u⁺ (kinetic).
std::string compatibility(const ImpactReport& r) {
    const CollisionStudy& s = r.study;
    std::string text;
    const int least = s.kinematic.least();
    if (least < 0) {
        text += line("kinematic", "holds: no contact is closed");
    } else {
        std::string name;
        each_block(r.at.collision, [&](std::size_t k, Index row) {
            if (row <= least && least < row + r.at.collision.sizes[k]) name = name_of(r.at.collision, k);
        });
        text += line("kinematic", fmt::format("{}: least gamma+ {:.6g} ({})", s.kinematic.holds ? "holds" : "fails",
                                              cleaned(r, s.kinematic.slack(least)), name));
    }
    text += line("kinetic", fmt::format("{}: u+ is {:.3g} from the velocities that contact impulses reach, jump {:.6g}",
                                        s.kinetic.holds ? "holds" : "fails", s.kinetic.distance, s.kinetic.impulse));
    return text;
}

std::string parts_text(const WorkParts& p) {
    if (p.tangential == 0.0 && p.bilateral == 0.0) return {};
    std::string text = fmt::format(" (normal {:.6g}, tangential {:.6g}", p.normal + 0.0, p.tangential + 0.0);
    if (p.bilateral != 0.0) text += fmt::format(", bilateral {:.2g}", p.bilateral);
    return text + ")";
}

/// One end of the interval of contact works, with the impulses that attain it.
std::string end_lines(const ImpactReport& r, const char* label, const CollisionWorkEnd& end) {
    std::string text = fmt::format("    {:<10}{}", label, number(end.work));
    if (std::isfinite(end.work)) {
        text += parts_text(end.parts) + fmt::format("   Lambda {}\n", impulses(r, end.Lambda));
        text += fmt::format("              b0 = {}   duality gap {:.1g}\n", point(r, end.b), end.gap);
    } else {
        text += "\n";
    }
    if (!end.why.empty()) text += "              " + end.why + "\n";
    return text;
}

std::string work_lines(const ImpactReport& r) {
    const CollisionStudy& s = r.study;
    std::string text;
    if (s.given) {
        text += line("work", fmt::format("{}{} of the impulses {}", number(s.given->parts.total()),
                                         parts_text(s.given->parts), impulses(r, s.given->Lambda)));
        if (s.given->misses > impulse_misfit * s.kinetic.impulse &&
            s.given->misses > impulse_misfit * std::sqrt(s.energy_minus + s.energy_plus))
            text += line("", fmt::format("they lead to velocities at the distance {:.3g} from u+", s.given->misses));
        if (s.given->outside > outside_cones)
            text += line("", fmt::format("they are not admissible: outside their cones by {:.3g} of the largest",
                                         s.given->outside));
    }
    if (std::isnan(s.least.work)) return text + line(s.given ? "" : "work", s.least.why);
    text += line(s.given ? "" : "work",
                 s.given ? "of all impulses that lead to the same u+:" : "of all impulses that lead to u+:");
    text += end_lines(r, "least", s.least);
    text += end_lines(r, "greatest", s.greatest);
    return text;
}

std::string energy_line(const ImpactReport& r) {
    const CollisionStudy& s = r.study;
    std::string text = fmt::format("T- {} -> T+ {}, change {}", number(s.energy_minus), number(s.energy_plus),
                                   number(s.energy_change));
    const bool given = s.given && s.given->misses <= impulse_misfit * std::sqrt(s.energy_minus + s.energy_plus);
    const double work = given ? s.given->parts.total() : s.least.work;
    const double obstacles = given ? s.given->obstacle_work : s.least.obstacle_work;
    if (!std::isfinite(work)) return line("energy", text);
    text += fmt::format(" = contact work {:.6g}", work + 0.0);
    if (r.at.collision.chi.size() > 0 && !r.at.collision.chi.isZero(0.0))
        text += fmt::format(" + moving obstacles {:.6g}", obstacles + 0.0);
    if (r.at.collision.impulse.size() > 0) text += fmt::format(" + external impulse {:.6g}", s.external_work + 0.0);
    return line("energy", text);
}

std::string verdict_lines(const ImpactReport& r) {
    const CollisionStudy& s = r.study;
    std::string text = line("verdict", s.sentence);
    if (r.at.collision.impulse.size() > 0 && s.verdict_with_external_work != Verdict::invalid)
        text += line("", fmt::format("with alpha and the work of the external impulse allowed: {}",
                                     consistent(s.verdict_with_external_work) ? "consistent" : "not consistent"));
    if (s.cause) text += line("", s.cause->sentence);
    for (const Remark& remark : s.remarks) text += line("", "- " + remark.text);
    return text;
}

std::string nearest_lines(const ImpactReport& r) {
    const CollisionStudy& s = r.study;
    if (consistent(s.verdict)) return {};
    using Status = NearestConsistent::Status;
    if (s.nearest.status != Status::found)
        return line("nearest", (s.nearest.status == Status::empty ? "there is no consistent u+: " : "not found: ") +
                                   s.nearest.why);
    return line("nearest", fmt::format("consistent {}   at the M-distance {:.6g}",
                                       values(r.coordinates, s.nearest.u, "'"), s.nearest.distance));
}

std::string friction_lines(const ImpactReport& r) {
    const CollisionStudy& s = r.study;
    if (!s.dissipation) return {};
    std::string text = line("newton", s.dissipation->sentence);
    if (s.creation && s.creation->found)
        text += line("", fmt::format("for example from {}: {:.4g} % of T- is created, all contacts closed and sticking",
                                     values(r.coordinates, s.creation->u_minus, "'"), 100.0 * s.creation->work));
    else if (s.creation)
        text +=
            line("", s.creation->why.empty() ? "no collision of these contacts was found that does" : s.creation->why);
    return text;
}

std::string polyhedron_lines(const ImpactReport& r, const char* name, const VelocityPolyhedron& p) {
    using Status = VelocityPolyhedron::Status;
    if (p.status == Status::invalid) return {};
    if (p.status != Status::described) return line(name, (p.status == Status::empty ? "empty: " : "") + p.why);
    const auto corners = static_cast<std::size_t>(p.corner_points.cols());
    std::string text = line(
        name, fmt::format("{}, {}",
                          p.has_corner_points()
                              ? counted(corners, "corner point")
                              : fmt::format("{} of dimension {}", counted(corners, "minimal face"), p.lineality.cols()),
                          counted(static_cast<std::size_t>(p.rays.cols()), "ray")));
    for (Index k = 0; k < std::min<Index>(p.corner_points.cols(), static_cast<Index>(long_list)); ++k)
        text += fmt::format("    {:<32} gamma = 0 at {}\n", point(r, p.corner_points.col(k)),
                            names_of(r, p.contacts[static_cast<std::size_t>(k)]));
    if (corners > long_list) text += fmt::format("    and {} more\n", corners - long_list);
    for (Index k = 0; k < std::min<Index>(p.rays.cols(), static_cast<Index>(long_list)); ++k)
        text += fmt::format("    ray {}\n", direction(p.rays.col(k)));
    return text;
}

std::string bound_text(const ImpactReport& r, const BoundaryPiece& piece) {
    switch (piece.bound) {
        case Bound::contact: return "gamma = 0 of " + names_of(r, {piece.index});
        case Bound::impulse:
            return (r.study.friction ? "the friction cone's edge of " : "only ") + names_of(r, {piece.index}) +
                   (r.study.friction ? "" : " acts");
        case Bound::ball: return fmt::format("work = alpha against corner point {}", piece.index + 1);
    }
    return {};
}

std::string set_lines(const ImpactReport& r) {
    const CollisionStudy& s = r.study;
    const ConsistencyBoundary& b = s.boundary;
    using Status = ConsistencyBoundary::Status;
    if (s.mesh.status == Status::described)
        return line("set", fmt::format("{} points and {} triangles on its boundary, volume between {:.6g} and {:.6g}",
                                       s.mesh.points.size(), s.mesh.triangles.size(), s.mesh.least_volume,
                                       s.mesh.greatest_volume));
    if (b.status == Status::invalid) return {};
    if (b.status != Status::described) return line("set", (b.status == Status::empty ? "empty: " : "") + b.why);
    if (b.dimension == 0) return line("set", "a single point " + point(r, b.vertices[0]));
    std::string text;
    if (b.dimension == 1)
        return line("set", fmt::format("the segment from {} to {}", point(r, b.vertices[0]), point(r, b.vertices[1])));
    text = line("set", fmt::format("{} of the boundary{}", counted(b.pieces.size(), "piece"),
                                   b.area > 0.0 ? ", area " + fmt::format("{:.12g}", b.area) : ""));
    for (const BoundaryPiece& piece : b.pieces)
        text += fmt::format("    {:<8}{} to {}: {}\n", piece.arc ? "arc" : "segment", point(r, piece.from),
                            point(r, piece.to), bound_text(r, piece));
    return text;
}

std::string cone_lines(const ImpactReport& r) {
    const TangentCone& t = r.study.cone;
    if (t.polar_contacts.empty()) return {};
    std::vector<int> own;
    for (const int k : t.polar_contacts)
        if (own.empty() || own.back() != k) own.push_back(k);
    return line("jumps", "of u are combinations of the directions M^-1 w of " + names_of(r, own) +
                             (r.study.friction ? ", with friction inside its cones" : ""));
}

/// For each impact law the ranges of e in which its u⁺ is consistent, is not, or does not exist.
std::string law_lines(const ImpactReport& r) {
    std::string text;
    const auto word = [](const LawOutcomeAt& at) {
        return !at.solved ? "no outcome" : consistent(at.verdict) ? "consistent" : "not consistent";
    };
    for (const LawOutcomes& of_law : r.laws) {
        std::string ranges;
        for (std::size_t k = 0; k < of_law.at.size();) {
            std::size_t last = k;
            while (last + 1 < of_law.at.size() && word(of_law.at[last + 1]) == word(of_law.at[k])) ++last;
            ranges +=
                fmt::format("{}{} for e = {:.4g}", ranges.empty() ? "" : "; ", word(of_law.at[k]), of_law.at[k].e);
            if (last > k) ranges += fmt::format(" to {:.4g}", of_law.at[last].e);
            k = last + 1;
        }
        text += fmt::format("    {:<10}{}\n", to_string(of_law.law), ranges);
    }
    return text.empty() ? text : line("laws", "u+ of each impact law if all contacts have the same eN = e:") + text;
}

}  // namespace

std::string impact_text(const ImpactReport& r) {
    std::string text = r.model + ": a collision\n";
    text += line("u-", values(r.coordinates, r.at.collision.u_minus, "'"));
    if (r.at.collision.impulse.size() > 0)
        text += line("impulse", values(r.coordinates, r.at.collision.impulse, "") + "   external");
    text += line("u+", values(r.coordinates, r.at.collision.u_plus, "'") + "   " + r.source);
    text += contact_table(r);
    if (r.study.verdict == Verdict::invalid && r.study.least.why.empty()) {
        text += line("verdict", r.study.sentence);
    } else {
        text += compatibility(r) + work_lines(r) + energy_line(r) + verdict_lines(r) + nearest_lines(r);
        text += friction_lines(r) + polyhedron_lines(r, "P+", r.study.plus) + polyhedron_lines(r, "P-", r.study.minus);
        text += cone_lines(r) + set_lines(r) + law_lines(r);
    }
    for (const std::string& warning : r.warnings) text += line("warning", warning);
    return text;
}

}  // namespace saltus::io
