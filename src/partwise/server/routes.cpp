#include "partwise/server/routes.h"

#include <optional>

namespace partwise::server {
namespace {

std::optional<Named> fits(std::string_view pattern, const std::vector<std::string>& path) {
  Named named;
  std::size_t place = 0;
  while (!pattern.empty()) {
    pattern.remove_prefix(1);
    const auto end = std::min(pattern.find('/'), pattern.size());
    const auto word = pattern.substr(0, end);
    pattern.remove_prefix(end);
    if (place == path.size()) return std::nullopt;
    const auto& segment = path[place++];
    if (word.starts_with('{')) {
      if (segment.empty()) return std::nullopt;
      named[std::string(word.substr(1, word.size() - 2))] = segment;
    } else if (word != segment) {
      return std::nullopt;
    }
  }
  if (place != path.size()) return std::nullopt;
  return named;
}

}  // namespace

Response routed(std::span<const Route> routes, const Request& request) {
  bool known = false;
  const auto method = request.method == "HEAD" ? "GET" : request.method;
  for (const auto& route : routes) {
    const auto named = fits(route.pattern, request.path);
    if (!named) continue;
    if (method == route.method) return route.answer(request, *named);
    known = true;
  }
  if (known)
    return problem(405, fmt::format("method {} is not known at this address", request.method));
  return problem(404, "no such address");
}

}  // namespace partwise::server
