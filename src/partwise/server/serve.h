#pragma once

#include "partwise/models/examples.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace partwise::server {

struct ServeRequest {
  std::vector<std::string> runs;
  std::filesystem::path data;  // empty: each run's own
  std::string host = "127.0.0.1";
  int port = 8080;  // 0: any free one
  std::string program;
  models::Resources resources;
  std::function<void()> prepare;  // done on every thread that works with networks
};

// The explorer over runs: a server that answers as docs/explorer.md says, until it goes out of
// scope.
class Explorer {
 public:
  // Takes the port first, so that a taken one is an Error before any work begins.
  explicit Explorer(const ServeRequest& request);
  ~Explorer();

  int port() const;
  // To be opened in a browser; with the token where there is one.
  std::string address() const;
  const std::string& token() const;  // "": none is needed

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace partwise::server
