#include "partwise/server/serve.h"

#include "partwise/server/answers.h"
#include "partwise/server/gate.h"
#include "partwise/server/http_server.h"

#include <atomic>

namespace partwise::server {
namespace {

// Requests about runs that are answered at once, at the most: the page's own files always find a
// thread.
constexpr int kMostAtOnce = 48;

// Counts itself.
class Place {
 public:
  explicit Place(std::atomic<int>& taken) : taken_(taken), number_(++taken) {}
  ~Place() { --taken_; }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  bool is_there() const { return number_ <= kMostAtOnce; }

 private:
  std::atomic<int>& taken_;
  int number_;
};

void append(std::vector<Route>& all, std::vector<Route> some) {
  std::move(some.begin(), some.end(), std::back_inserter(all));
}

}  // namespace

struct Explorer::Impl {
  explicit Impl(const ServeRequest& request)
      : gate{request.host, request.port, is_loopback(request.host) ? "" : new_token()},
        server(request.host, request.port),
        desk{.program = request.program,
             .library = {request.runs, request.data, request.resources, request.prepare}} {
    gate.port = server.port();
    append(routes, run_routes(desk));
    append(routes, filter_routes(desk));
    append(routes, photo_routes(desk));
    append(routes, error_routes(desk));
    append(routes, compare_routes(desk));
    append(routes, sheet_routes(desk));
    append(routes, page_routes());
    server.start([this](const Request& asked) { return stopped_at(gate, asked); },
                 [this](const Request& asked) { return answer(asked); });
  }
  ~Impl() { server.stop(); }

  Response answer(const Request& asked) {
    if (!asked.is_for_api()) return routed(routes, asked);
    const Place place(busy);
    if (!place.is_there()) return problem(503, "too much is asked at once; ask again in a moment");
    return routed(routes, asked);
  }

  Gate gate;
  HttpServer server;
  Desk desk;
  std::vector<Route> routes;
  std::atomic<int> busy{0};
};

Explorer::Explorer(const ServeRequest& request) : impl_(std::make_unique<Impl>(request)) {}
Explorer::~Explorer() = default;

int Explorer::port() const {
  return impl_->server.port();
}

std::string Explorer::address() const {
  const auto& host = impl_->gate.host;
  const auto shown = host == "0.0.0.0" || host == "::"                            ? "localhost"
                     : host.find(':') != std::string::npos && host.front() != '[' ? "[" + host + "]"
                                                                                  : host;
  return fmt::format("http://{}:{}/{}", shown, port(), token().empty() ? "" : "?token=" + token());
}

const std::string& Explorer::token() const {
  return impl_->gate.token;
}

}  // namespace partwise::server
