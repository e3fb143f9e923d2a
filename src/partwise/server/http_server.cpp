#include "partwise/server/http_server.h"

#include "partwise/base/progress.h"
#include "partwise/server/gate.h"

#ifdef PARTWISE_HTTP
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <thread>
#endif

namespace partwise::server {

#ifdef PARTWISE_HTTP

namespace {

constexpr std::size_t kThreads = 64;  // most of them wait for a network
constexpr int kWaiting = 128;         // connections nobody has looked at yet
constexpr std::size_t kLongestTarget = 4096;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// A body that is too large is thrown away as it comes, up to a point: a browser that is cut off
// while it sends does not read the answer.
constexpr int64_t kMostDrained = int64_t{1} << 30U;
constexpr std::chrono::seconds kDraining{5};

bool can_be_drained(const httplib::Request& request) {
  return (request.method == "PUT" || request.method == "POST") &&
         !request.has_header("Transfer-Encoding") &&
         number_in(request.get_header_value("Content-Length")).value_or(kMostDrained) <
             kMostDrained;
}

// Nothing for a path that is none.
std::optional<Request> translated(const httplib::Request& from) {
  if (from.target.size() > kLongestTarget) return std::nullopt;
  auto path = path_segments(std::string_view(from.target).substr(0, from.target.find('?')));
  if (!path) return std::nullopt;
  Request request;
  request.method = from.method;
  request.path = std::move(*path);
  for (const auto& [name, value] : from.params) request.query.emplace(name, value);
  for (const auto& [name, value] : from.headers) request.headers.emplace(lower(name), value);

  return request;
}

void write_answer(const Response& from, httplib::Response& to) {
  to.status = from.status;
  for (const auto& [name, value] : security_headers()) to.set_header(name, value);
  for (const auto& [name, value] : from.headers) to.set_header(name, value);
  to.set_content(from.body, from.type);
}

}  // namespace

struct HttpServer::Impl {
  httplib::Server server;
  int port = 0;
  std::atomic<bool> ended{false};
  std::thread thread;
};

HttpServer::HttpServer(const std::string& host, int port) : impl_(std::make_unique<Impl>()) {
  auto& server = impl_->server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  // One request per connection: an idle one would hold a thread, and what is left of a refused body
  // can never be taken for the next request.
  server.set_keep_alive_max_count(1);
  server.set_read_timeout(5);
  server.set_write_timeout(10);
  server.set_payload_max_length(static_cast<std::size_t>(kMostDrained));
  server.set_tcp_nodelay(true);
  // Not SO_REUSEPORT, httplib's own choice: two servers would share a port.
  socket_t listening = -1;
  server.set_socket_options([&listening](socket_t socket) {
    listening = socket;
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  const auto name = host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
  impl_->port = port;
  bool bound = false;
  if (port == 0) {
    impl_->port = server.bind_to_any_port(name);
    bound = impl_->port > 0;
  } else {
    bound = server.bind_to_port(name, port);
  }
  ensure(bound,
         "{}:{} cannot be served: the port is taken or the address is not this machine's; "
         "choose another with --port (0: any free one) or --host",
         host, port);
  // httplib lets five wait, and a sixth tries again after a second: fewer than a page's pictures.
  ::listen(listening, kWaiting);
  server.set_socket_options([](socket_t) {});
}

HttpServer::~HttpServer() {
  stop();
}

int HttpServer::port() const {
  return impl_->port;
}

void HttpServer::start(Check check, Answer answer) {
  auto& server = impl_->server;
  const auto respond = [answer](const httplib::Request& from, std::string body,
                                httplib::Response& to) {
    auto request = translated(from);
    if (!request) return write_answer(problem(404, "no such address"), to);
    request->body = std::move(body);
    try {
      write_answer(answer(*request), to);
    } catch (const Refusal& refusal) {
      write_answer(problem(refusal.status(), refusal.what()), to);
    } catch (const Error& error) {
      write_answer(problem(400, error.what()), to);
    } catch (const std::exception& bug) {
      say(fmt::format("{} {}: {}", from.method, from.path, bug.what()));
      write_answer(problem(500, fmt::format("internal error, please report it: {}", bug.what())),
                   to);
    }
  };
  const auto stopped = [check](const httplib::Request& from) -> std::optional<Response> {
    const auto request = translated(from);
    return request ? check(*request) : problem(404, "no such address");
  };
  server.set_expect_100_continue_handler(
      [stopped](const httplib::Request& from, httplib::Response& to) {
        const auto refused = stopped(from);
        if (!refused) return 100;
        write_answer(*refused, to);
        return refused->status;
      });
  // Before the body is read, and before httplib matches paths with regular expressions.
  server.set_pre_routing_handler(
      [stopped, respond](const httplib::Request& from, httplib::Response& to) {
        using Outcome = httplib::Server::HandlerResponse;
        if (const auto refused = stopped(from)) {
          if (refused->status == 413 && can_be_drained(from)) return Outcome::Unhandled;
          write_answer(*refused, to);
          return Outcome::Handled;
        }
        if (from.method == "PUT" || from.method == "POST") return Outcome::Unhandled;
        respond(from, "", to);
        return Outcome::Handled;
      });
  // Bytes as they come, whatever type they are said to be of.
  const auto respond_to_body = [stopped, respond](const httplib::Request& from,
                                                  httplib::Response& to,
                                                  const httplib::ContentReader& read) {
    if (const auto refused = stopped(from)) {
      const auto end = std::chrono::steady_clock::now() + kDraining;
      read([&](const char*, std::size_t) { return std::chrono::steady_clock::now() < end; });
      return write_answer(*refused, to);
    }
    std::string body;
    const bool whole = read([&](const char* bytes, std::size_t count) {
      body.append(bytes, count);
      return body.size() <= static_cast<std::size_t>(kMostBody);
    });
    if (!whole) return write_answer(problem(400, "the body ended too early; send it again"), to);
    respond(from, std::move(body), to);
  };
  server.Put("/.*", respond_to_body);
  server.Post("/.*", respond_to_body);
  server.set_error_handler([](const httplib::Request&, httplib::Response& to) {
    if (to.body.empty() && to.status >= 400 && to.status != 304)
      write_answer(problem(to.status, to.status == 413 ? "too large" : "not understood"), to);
  });
  impl_->thread = std::thread([this] {
    impl_->server.listen_after_bind();
    impl_->ended = true;
  });
  // Whoever stops a server of httplib that has not begun yet is not heard.
  while (!server.is_running() && !impl_->ended)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void HttpServer::stop() {
  if (!impl_->thread.joinable()) return;
  impl_->server.stop();
  impl_->thread.join();
}

#else

struct HttpServer::Impl {};

HttpServer::HttpServer(const std::string&, int) {
  throw Error(
      "this program was built without a server; install libcpp-httplib-dev and build again");
}
HttpServer::~HttpServer() = default;
int HttpServer::port() const {
  return 0;
}
void HttpServer::start(Check, Answer) {}
void HttpServer::stop() {}

#endif

}  // namespace partwise::server
