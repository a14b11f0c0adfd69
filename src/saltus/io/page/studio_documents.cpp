// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/studio_documents.hpp"

#include "saltus/base/version.hpp"
#include "saltus/io/page/detail/json_text.hpp"
#include "saltus/io/page/detail/page_frame.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::io {

namespace {

constexpr int all_digits = 17;  // a double is read back as it was

void write_error(JsonText& j, const Error& e) {
    j.key("error").open('{').key("message").string(e.message()).key("file").string(e.place().file);
    j.key("line").number(e.place().line).key("column").number(e.place().column);
    j.key("remedy").string(e.remedy()).close('}');
}

void write_values(JsonText& j, const char* key, const std::vector<double>& values) {
    j.key(key).numbers(values, all_digits);
}

void write_parameters(JsonText& j, const model::Model& m) {
    j.key("parameters").open('[');
    for (const model::Parameter& p : m.settings->parameters) {
        j.open('{').key("name").string(p.name).key("value").number(p.value, all_digits);
        j.key("derived").boolean(p.column < 0).close('}');
    }
    j.close(']');
    write_values(j, "q0", m.q0);
    write_values(j, "u0", m.u0);
}

void write_strings(JsonText& j, const char* key, const std::vector<std::string>& list) {
    j.key(key).open('[');
    for (const std::string& s : list) j.string(s);
    j.close(']');
}

}  // namespace

std::string studio_html(const std::string& file) {
    JsonText j;
    j.open('{').key("format").string("saltus studio").key("title").string(file);
    j.key("version").string(library_version()).key("parts").open('[').close(']').close('}');
    return page_with(std::move(j).text());
}

std::string studio_model_json(const StudioModel& s) {
    JsonText j;
    j.open('{').key("revision").number(static_cast<double>(s.revision), all_digits).key("text").string(s.text);
    if (s.error != nullptr) write_error(j, *s.error);
    if (s.shown != nullptr) {
        const model::Model& m = *s.shown;
        const model::SimulationDefaults& defaults = m.settings->simulate;
        j.key("model").open('{').key("revision").number(static_cast<double>(s.shown_revision), all_digits);
        j.key("name").string(m.name);
        write_strings(j, "coordinates", m.coordinates);
        write_parameters(j, m);
        j.key("contacts").number(static_cast<double>(m.contacts.size()));
        j.key("controlled").boolean(m.control != nullptr);
        if (defaults.t_end) j.key("t_end").number(*defaults.t_end, all_digits);
        j.key("method").string(defaults.method);
        write_strings(j, "warnings", m.warnings);
        j.close('}');
    }
    j.close('}');
    return std::move(j).text();
}

std::string studio_motion_json(long revision, const model::Model& m, const std::string& motion) {
    JsonText j;
    j.open('{').key("revision").number(static_cast<double>(revision), all_digits);
    write_parameters(j, m);
    j.key("motion").raw(motion).close('}');
    return std::move(j).text();
}

std::string studio_error_json(long revision, const Error& error) {
    JsonText j;
    j.open('{').key("revision").number(static_cast<double>(revision), all_digits);
    write_error(j, error);
    j.close('}');
    return std::move(j).text();
}

std::string studio_job_json(const StudioJob& job) {
    JsonText j;
    j.open('{').key("job").number(static_cast<double>(job.number), all_digits).key("command").string(job.command);
    j.key("status").string(job.status).key("seconds").number(job.seconds);
    if (job.share >= 0.0) j.key("share").number(job.share);
    if (!job.message.empty()) j.key("message").string(job.message);
    if (job.result != nullptr) j.key("report").raw(report_json(*job.result));
    j.close('}');
    return std::move(j).text();
}

}  // namespace saltus::io
