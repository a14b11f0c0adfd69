// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "saltus/base/version.hpp"
#include "saltus/io/page/detail/json_text.hpp"
#include "saltus/io/page/detail/svg_drawing.hpp"
#include "saltus/io/page/detail/svg_plot.hpp"
#include "saltus/io/page/gallery.hpp"
#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

using json::Json;

namespace {

const char* const style = R"(<style>
:root{--page:#f6f7f9;--panel:#fff;--text:#1c2530;--muted:#5b6775;--grid:#e4e8ed;--body:#22303f;--fill:#c9d8ea;--ground:#8b95a1;--ink:#0b62a8;--bad:#c0311b}
@media(prefers-color-scheme:dark){:root{--page:#12161c;--panel:#1b2129;--text:#e6ebf1;--muted:#9aa7b5;--grid:#2a323c;--body:#dbe5f0;--fill:#35506e;--ground:#7d8894;--ink:#63b3f5;--bad:#ff8a70}}
body{margin:0 auto;max-width:1300px;padding:16px 20px 48px;background:var(--page);color:var(--text);font:15px/1.5 system-ui,sans-serif}
h1{margin:.2em 0}h2{margin:1.6em 0 .2em;font-size:1.2rem}p{max-width:80ch}a{color:inherit}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(280px,1fr));gap:14px;margin-top:10px}
.card{background:var(--panel);border:1px solid var(--grid);border-radius:8px;overflow:hidden;display:flex;flex-direction:column}
.card>a{text-decoration:none;display:block}.card svg{display:block;width:100%;background:var(--panel);border-bottom:1px solid var(--grid)}
.card .in{padding:8px 12px 12px}.card h3{margin:0;font-size:1rem}.card p{margin:.3em 0;font-size:.88rem;color:var(--muted)}
table{border-collapse:collapse;font-size:.8rem;font-variant-numeric:tabular-nums;width:100%}td,th{text-align:left;padding:2px 6px 2px 0;border-top:1px solid var(--grid);vertical-align:top}
th{color:var(--muted);font-weight:600}.fail{color:var(--bad)}
.body{stroke:var(--body);fill:var(--fill);stroke-width:2}.segment.body{stroke-width:3}.spring,.segment{fill:none}.ground{stroke:var(--ground);fill:var(--grid)}.line{stroke:var(--ground);fill:none}
.docs{columns:2 260px;padding-left:1.2em}footer{margin-top:2em;color:var(--muted);font-size:.85rem}
</style>)";

/// One study: thumbnail, title, text, numbers.
std::string card_html(const GalleryCard& c) {
    std::string text = "<div class=\"card\"><a href=\"" + escaped(c.page) + "\">" + c.thumbnail +
                       "</a><div class=\"in\"><h3><a href=\"" + escaped(c.page) + "\">" + escaped(c.title) +
                       "</a></h3><p>" + escaped(c.study->text) + "</p>";
    if (!c.numbers.empty()) {
        text += "<table><tr><th></th><th>stated</th><th>ours</th></tr>";
        for (const StatedNumber& n : c.numbers)
            text += "<tr><td>" + escaped(n.what) + "</td><td>" + escaped(n.stated) + "</td><td>" + escaped(n.ours) +
                    "</td></tr>";
        text += "</table>";
    }
    if (!c.failure.empty()) text += "<p class=\"fail\">" + escaped(c.failure) + "</p>";
    return text + "</div></div>\n";
}

}  // namespace

std::string thumbnail(const std::string& motion, double moment) {
    const Json j = Json::parse(motion, nullptr, false);
    if (j.is_discarded()) return {};
    const double from = j.value("t_begin", 0.0), to = j.value("t_end", 1.0);
    constexpr int width = 320, height = 190;  // pixels
    return drawing_svg(j, from + moment * (to - from), width, height);
}

ReportPart document_part(const std::string& source, const std::string& title, const std::string& markdown) {
    JsonText json;
    json.open('{').key("markdown").string(markdown).close('}');
    return {"document", source, "", std::move(json).text(), title, {}};
}

std::string gallery_index(const Gallery& gallery, const std::vector<GalleryCard>& cards,
                          const std::vector<GalleryDocument>& documents) {
    std::string html =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\"><title>Saltus: gallery</title>\n<link rel=\"icon\" "
        "href=\"data:,\">\n";
    html += style;
    html +=
        "</head><body>\n<h1>Saltus: gallery</h1>\n<p>Every model that ships with Saltus, with a study of it: its "
        "motion, its events, and the numbers that papers state beside the computed ones. All pages work offline; "
        "<code>saltus gallery -o DIR</code> creates them.</p>\n";
    for (const GalleryGroup& g : gallery.groups) {
        html += "<h2>" + escaped(g.title) + "</h2>\n";
        if (!g.text.empty()) html += "<p>" + escaped(g.text) + "</p>\n";
        html += "<div class=\"cards\">\n";
        for (const GalleryCard& c : cards)
            if (c.study->group == g.name) html += card_html(c);
        html += "</div>\n";
    }
    if (!documents.empty()) {
        html += "<h2>Documentation</h2>\n<ul class=\"docs\">\n";
        for (const GalleryDocument& d : documents)
            html += "<li><a href=\"" + escaped(d.page) + "\">" + escaped(d.title) + "</a></li>\n";
        html += "</ul>\n";
    }
    return html + "<footer>Saltus " + escaped(library_version()) + "</footer>\n</body></html>\n";
}

}  // namespace saltus::io
