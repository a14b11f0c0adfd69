// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/basin_live.hpp"

#include <fmt/format.h>

#include "saltus/ensemble/statistics.hpp"
#include "saltus/io/page/detail/svg_plot.hpp"

namespace saltus::io {

std::string basin_live_page(const BasinReport& r, std::size_t seen, std::size_t done, std::size_t of,
                            const std::string& picture) {
    std::size_t pending = 0;
    const stability::Basin& b = r.basin;
    b.record.scan(0, b.base, [&](std::size_t, const stability::BasinMotion& m) {
        pending += m.fate == stability::Fate::pending ? 1 : 0;
    });
    std::string page = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"2\">\n"
        "<title>{0}: {1:.1f} %</title>\n<style>body{{font-family:sans-serif;margin:1.5em}}td,th{{padding:0.1em "
        "0.8em;text-align:right}}td:first-child,th:first-child{{text-align:left}}img{{max-width:100%}}</style>"
        "</head>\n<body><h1>{0}</h1>\n<p>{2} of {3} motions, {1:.1f} %. Labels may still change.</p>\n",
        escaped(r.model), of > 0 ? 100.0 * static_cast<double>(done) / static_cast<double>(of) : 0.0, done, of);
    // The number after the name keeps a browser from showing an old picture.
    if (!picture.empty())
        page += fmt::format("<p><img src=\"{}?{}\" alt=\"labels of the starts so far\"></p>\n", escaped(picture), done);
    page += "<table><tr><th>label</th><th>motions</th><th>share</th><th>95 % of the share</th></tr>\n";
    for (std::size_t k = 0; k < b.labels.size(); ++k) {
        const stability::BasinLabel& l = b.labels[k];
        const std::size_t count = k == 0 ? l.count - std::min(l.count, pending) : l.count;
        if (count == 0) continue;
        const ensemble::Interval w = ensemble::wilson(count, seen);
        page +=
            fmt::format("<tr><td>{}</td><td>{}</td><td>{:.4f}</td><td>{:.4f} to {:.4f}</td></tr>\n", escaped(l.text),
                        count, static_cast<double>(count) / static_cast<double>(seen), w.low, w.high);
    }
    page += "</table>\n";
    if (seen < done)
        page += fmt::format(
            "<p>The picture and the table show {} motions that are evenly spread over the starts.</p>\n", seen);
    return page + "</body></html>\n";
}

}  // namespace saltus::io
