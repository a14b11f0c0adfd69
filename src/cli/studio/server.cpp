// SPDX-License-Identifier: Apache-2.0
#include "cli/studio/server.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "cli/studio/live_motion.hpp"
#include "cli/studio/question.hpp"
#include "cli/studio/watched_model.hpp"
#include "saltus/base/error.hpp"
#include "saltus/io/page/report_page.hpp"
#include "saltus/io/page/studio_documents.hpp"
#include "saltus/model/model.hpp"

// Last: it includes resolv.h, whose macro _res breaks Eigen.
#include <httplib.h>

namespace saltus::cli {

namespace {

constexpr const char* loopback = "127.0.0.1";
constexpr const char* html = "text/html; charset=utf-8";
/// JSON. The library compresses "application/json", which takes longer than the motion; this name it does not know.
constexpr const char* json = "application/vnd.saltus+json";
/// Each page that is open holds a connection for pushes, and a browser holds up to five others for some seconds.
constexpr std::size_t threads = 64;
constexpr std::size_t max_request = 1 << 20;  // bytes: a form with some hundred values has some kB

/// The pages that are open, and what is to be pushed to them.
class Subscribers {
public:
    using Queue = std::deque<std::string>;

    void push(const std::string& event, const std::string& data) {
        const std::lock_guard lock(mutex_);
        for (Queue& q : queues_) q.push_back("event: " + event + "\ndata: " + data + "\n\n");
        changed_.notify_all();
    }
    void end() {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        changed_.notify_all();
    }
    std::list<Queue>::iterator add() {
        const std::lock_guard lock(mutex_);
        return queues_.insert(queues_.end(), Queue{});
    }
    /// Pushes to one page alone.
    void push(std::list<Queue>::iterator queue, const std::string& event, const std::string& data) {
        const std::lock_guard lock(mutex_);
        queue->push_back("event: " + event + "\ndata: " + data + "\n\n");
        changed_.notify_all();
    }
    void remove(std::list<Queue>::iterator queue) {
        const std::lock_guard lock(mutex_);
        queues_.erase(queue);
    }
    /// What is to be written next: events, or after a second a comment by which a closed connection is noticed.
    /// Nothing: the server ends.
    std::optional<std::string> next(std::list<Queue>::iterator queue) {
        std::unique_lock lock(mutex_);
        constexpr std::chrono::seconds longest_silence{1};
        changed_.wait_for(lock, longest_silence, [&] { return ended_ || !queue->empty(); });
        if (ended_) return std::nullopt;
        std::string text = queue->empty() ? ": still here\n\n" : "";
        for (; !queue->empty(); queue->pop_front()) text += queue->front();
        return text;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::list<Queue> queues_;
    bool ended_ = false;
};

/// The newest request of each page, so that older ones can end early.
class Newest {
public:
    void take(const std::string& page, long number) {
        const std::lock_guard lock(mutex_);
        long& newest = newest_[page];
        newest = std::max(newest, number);
    }
    bool superseded(const std::string& page, long number) const {
        const std::lock_guard lock(mutex_);
        const auto found = newest_.find(page);
        return found != newest_.end() && found->second > number;
    }

private:
    mutable std::mutex mutex_;
    std::map<std::string, long> newest_;
};

/// Whether both texts are the same, in a time that depends on their lengths only.
bool same_secret(const std::string& a, const std::string& b) {
    unsigned char difference = a.size() == b.size() ? 0 : 1;
    for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
        difference = static_cast<unsigned char>(difference | (a[k] ^ b[k]));
    return difference == 0;
}

double number_in(const httplib::Request& request, const char* name) {
    const std::string text = request.get_param_value(name);
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        throw Error("'" + text + "' is not a number", {name, 0, 0});
    return value;
}

long whole_number_in(const httplib::Request& request, const char* name) {
    const double value = number_in(request, name);
    constexpr double largest = 1e15;
    if (!(value >= 0.0 && value <= largest)) throw Error("is not a number of a request", {name, 0, 0});
    return static_cast<long>(value);
}

/// The assignments "set=NAME=VALUE" of a form.
std::vector<std::pair<std::string, std::string>> assignments_in(const httplib::Request& request) {
    std::vector<std::pair<std::string, std::string>> list;
    for (std::size_t k = 0; k < request.get_param_value_count("set"); ++k) {
        const std::string text = request.get_param_value("set", k);
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0)
            throw Error("'" + text + "' is not an assignment", {"set", 0, 0});
        list.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return list;
}

class Studio {
public:
    explicit Studio(const StudioServer& options)
        : options_(options),
          questions_([this](long number) { pages_.push("question", std::to_string(number)); }),
          model_(options.model, [this](long revision) { pages_.push("model", std::to_string(revision)); }) {
        server_.new_task_queue = [] { return new httplib::ThreadPool(threads); };
        server_.set_tcp_nodelay(true);
        server_.set_keep_alive_max_count(100000);
        server_.set_keep_alive_timeout(1);  // s; the end of the studio waits for idle connections
        server_.set_payload_max_length(max_request);
        // The library's default also sets SO_REUSEPORT, with which another program could share the port.
        server_.set_socket_options([](socket_t socket) {
            const int on = 1;
            ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        });
        server_.set_pre_routing_handler(
            [this](const httplib::Request& request, httplib::Response& response) { return guard(request, response); });
        server_.set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
            response.status = 500;
            response.set_content("the studio failed to answer", "text/plain");
        });
        add_routes();
    }

    void run(const std::function<void(const std::string&)>& ready, const std::function<bool()>& ends) {
        const int port = options_.port == 0                              ? server_.bind_to_any_port(loopback)
                         : server_.bind_to_port(loopback, options_.port) ? options_.port
                                                                         : -1;
        if (port <= 0)
            throw Error("port " + std::to_string(options_.port) + " of the loopback address cannot be used",
                        {"--port", 0, 0}, "another program may use it; give another --port");
        host_ = std::string(loopback) + ":" + std::to_string(port);
        std::thread serving([this] { server_.listen_after_bind(); });
        ready("http://" + host_ + "/" + options_.secret + "/");
        constexpr std::chrono::milliseconds between_looks{50};
        while (!ends()) std::this_thread::sleep_for(between_looks);
        ending_ = true;
        pages_.end();
        server_.stop();
        serving.join();
    }

private:
    using Result = httplib::Server::HandlerResponse;
    static constexpr Result handled = Result::Handled, unhandled = Result::Unhandled;

    /// Lets a request pass only if it is for this server by name, comes from its own page (or from no page), and knows
    /// the secret. The name is checked because a foreign page can have a name that leads to this address.
    Result guard(const httplib::Request& request, httplib::Response& response) const {
        const auto refuse = [&](int status, const char* why) {
            response.status = status;
            response.set_content(why, "text/plain");
            return handled;
        };
        response.set_header("Cache-Control", "no-store");
        response.set_header("Referrer-Policy", "no-referrer");  // the address contains the secret
        response.set_header("X-Content-Type-Options", "nosniff");
        response.set_header("X-Frame-Options", "DENY");
        response.set_header("Cross-Origin-Resource-Policy", "same-origin");
        response.set_header("Content-Security-Policy",
                            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                            "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'");
        const std::string name = request.get_header_value("Host"), port = host_.substr(host_.find(':'));
        if (name != host_ && name != "localhost" + port) return refuse(403, "wrong host");
        const std::string origin = request.get_header_value("Origin");
        if (!origin.empty() && origin != "http://" + name) return refuse(403, "wrong origin");
        const std::string site = request.get_header_value("Sec-Fetch-Site");
        if (site == "cross-site" || site == "same-site") return refuse(403, "wrong origin");
        const std::size_t end = request.path.find('/', 1);
        const std::string secret = request.path.substr(1, end == std::string::npos ? end : end - 1);
        if (!same_secret(secret, options_.secret))
            return refuse(403, "wrong address: use the one that saltus studio printed");
        return unhandled;
    }

    void add_routes() {
        const std::string root = "/" + options_.secret + "/";
        const auto answer = [this](auto function) {
            return [this, function](const httplib::Request& request, httplib::Response& response) {
                try {
                    (this->*function)(request, response);
                } catch (const Error& e) {
                    response.status = 400;
                    response.set_content(io::studio_error_json(model_.now().revision, e), json);
                }
            };
        };
        server_.Get(root, answer(&Studio::page));
        server_.Get(root + "events", answer(&Studio::events));
        server_.Get(root + "model", answer(&Studio::model));
        server_.Get(root + "question", answer(&Studio::question));
        server_.Post(root + "simulate", answer(&Studio::simulate));
        server_.Post(root + "ask", answer(&Studio::ask));
        server_.Post(root + "cancel", answer(&Studio::cancel));
        server_.Post(root + "report", answer(&Studio::report));
    }

    void page(const httplib::Request&, httplib::Response& response) {
        response.set_content(io::studio_html(options_.model), html);
    }

    /// Server-sent events: "model" with the number of a new version, "question" with the number of one that has ended.
    void events(const httplib::Request&, httplib::Response& response) {
        const auto queue = pages_.add();  // first, so that no change is missed
        pages_.push(queue, "model", std::to_string(model_.now().revision));
        response.set_chunked_content_provider(
            "text/event-stream",
            [this, queue](std::size_t, httplib::DataSink& sink) {
                const std::optional<std::string> text = pages_.next(queue);
                if (!text) return false;
                return sink.write(text->data(), text->size());
            },
            [this, queue](bool) { pages_.remove(queue); });
    }

    void model(const httplib::Request&, httplib::Response& response) {
        const ModelVersion version = model_.now();
        io::StudioModel document;
        document.revision = version.revision;
        document.text = version.text;
        document.error = version.error ? &*version.error : nullptr;
        if (version.good) {
            document.shown_revision = version.good->revision;
            document.shown = &version.good->loaded.model;
        }
        response.set_content(io::studio_model_json(document), json);
    }

    /// The motion that a form describes.
    LiveMotion motion_in(const httplib::Request& request) const {
        LiveMotion motion;
        motion.set = assignments_in(request);
        SimulateCommand& c = motion.command;
        c.common.model = options_.model;
        c.common.json = true;  // the motion keeps its arcs
        c.common.project_initial = request.has_param("project");
        c.method = request.get_param_value("method");
        if (request.has_param("t_end")) c.t_end = number_in(request, "t_end");
        if (request.has_param("h")) c.h = number_in(request, "h");
        if (request.has_param("seconds")) motion.seconds = std::clamp(number_in(request, "seconds"), 0.01, 60.0);
        motion.planes = request.has_param("planes");
        return motion;
    }

    std::shared_ptr<const GoodVersion> good_version() const {
        const ModelVersion version = model_.now();
        if (version.good) return version.good;
        throw version.error ? *version.error : Error("there is no model yet");
    }

    void simulate(const httplib::Request& request, httplib::Response& response) {
        LiveMotion motion = motion_in(request);
        const std::string page = request.get_param_value("page");
        const long number = request.has_param("number") ? whole_number_in(request, "number") : 0;
        if (!page.empty()) newest_.take(page, number);
        motion.superseded = [this, page, number] {
            return ending_ || (!page.empty() && newest_.superseded(page, number));
        };
        response.set_content(live_motion_json(*good_version(), motion), json);
    }

    /// The words of a question: command, set=NAME=VALUE, option=--NAME=VALUE.
    static QuestionWords words_in(const httplib::Request& request) {
        QuestionWords words;
        words.command = request.get_param_value("command");
        for (const auto& [name, value] : assignments_in(request))
            words.options.emplace_back("--set", name + "=" + value);
        if (request.has_param("project")) words.options.emplace_back("--project-initial", "");
        for (std::size_t k = 0; k < request.get_param_value_count("option"); ++k) {
            const std::string text = request.get_param_value("option", k);
            const std::size_t equals = std::min(text.find('='), text.size());
            words.options.emplace_back(text.substr(0, equals), equals < text.size() ? text.substr(equals + 1) : "");
        }
        return words;
    }

    void ask(const httplib::Request& request, httplib::Response& response) {
        const auto version = good_version();
        const long number = questions_.ask(words_in(request), options_.model, version->loaded.file.text);
        response.set_content(questions_.json(number), json);
    }

    void question(const httplib::Request& request, httplib::Response& response) {
        const std::string text = questions_.json(whole_number_in(request, "number"));
        if (text.empty()) throw Error("there is no such question");
        response.set_content(text, json);
    }

    void cancel(const httplib::Request& request, httplib::Response& response) {
        questions_.cancel(whole_number_in(request, "number"));
        response.set_content("{}", json);
    }

    /// The motion of the form and the results of questions as a report, for the browser to save.
    void report(const httplib::Request& request, httplib::Response& response) {
        const auto version = good_version();
        LiveMotion motion = motion_in(request);
        motion.planes = true;
        io::Report report;
        report.title = version->loaded.model.name;
        report.parts.push_back(live_motion_part(*version, motion));
        for (std::size_t k = 0; k < request.get_param_value_count("question"); ++k) {
            const std::string text = request.get_param_value("question", k);
            long number = 0;
            std::from_chars(text.data(), text.data() + text.size(), number);
            for (io::ReportPart& part : questions_.result(number)) report.parts.push_back(std::move(part));
        }
        response.set_content(io::report_html(report), html);
    }

    StudioServer options_;
    Subscribers pages_;
    Newest newest_;
    std::atomic<bool> ending_ = false;
    Questions questions_;
    WatchedModel model_;
    httplib::Server server_;
    std::string host_;  ///< "127.0.0.1:PORT"
};

}  // namespace

bool has_studio_server() { return true; }

void serve_studio(const StudioServer& server, const std::function<void(const std::string&)>& ready,
                  const std::function<bool()>& ends) {
    Studio(server).run(ready, ends);
}

}  // namespace saltus::cli
