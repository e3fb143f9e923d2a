#pragma once

#include "partwise/server/http.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace partwise::server {

// Reads requests from a port and answers them, many at a time. The only file that sees cpp-httplib;
// a program built without it has none, and the constructor says so.
class HttpServer {
 public:
  // Looks at a request without its body: nothing, or the answer where it goes no further.
  using Check = std::function<std::optional<Response>(const Request&)>;
  using Answer = std::function<Response(const Request&)>;

  // Takes the port (0: any free one); an Error where it cannot.
  HttpServer(const std::string& host, int port);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  // Serves on threads of its own until stop. Every answer carries the security headers; `answer`
  // may be called from several threads at once. What it throws is answered with 500, an Error with
  // 400.
  void start(Check check, Answer answer);
  // Waits for the answers at hand.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace partwise::server
