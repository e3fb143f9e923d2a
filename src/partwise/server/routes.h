#pragma once

#include "partwise/server/http.h"

#include <functional>
#include <map>
#include <span>
#include <string>

namespace partwise::server {

// What stood in a path where its pattern has names.
using Named = std::map<std::string, std::string>;

// One row of the table of addresses. A pattern's segments are words, or {names} that stand for any
// one segment: "/api/runs/{run}/log".
struct Route {
  const char* method;
  const char* pattern;
  std::function<Response(const Request&, const Named&)> answer;
};

// The first that fits answers. 404 where no pattern fits, 405 where only another method does.
Response routed(std::span<const Route> routes, const Request& request);

}  // namespace partwise::server
