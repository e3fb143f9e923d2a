#include "partwise/server/http.h"

#include "partwise/base/json_text.h"

#include <charconv>

namespace partwise::server {
namespace {

const std::string kNothing;

const std::string& found_in(const std::map<std::string, std::string>& all,
                            const std::string& name) {
  const auto found = all.find(name);
  return found == all.end() ? kNothing : found->second;
}

std::optional<std::string> decoded(std::string_view segment) {
  std::string text;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] != '%') {
      text += segment[i];
      continue;
    }
    if (i + 2 >= segment.size()) return std::nullopt;
    unsigned value = 0;
    const auto* first = segment.data() + i + 1;
    const auto read = std::from_chars(first, first + 2, value, 16);
    if (read.ec != std::errc() || read.ptr != first + 2 || value == 0) return std::nullopt;
    text += static_cast<char>(value);
    i += 2;
  }
  return text;
}

}  // namespace

const std::string& Request::header(const std::string& name) const {
  return found_in(headers, name);
}

const std::string& Request::parameter(const std::string& name) const {
  return found_in(query, name);
}

Response json_response(const nlohmann::json& json, int status) {
  Response response;
  response.status = status;
  response.body = json_text(json);
  response.headers["Cache-Control"] = "no-store";
  return response;
}

Response problem(int status, const std::string& words) {
  return json_response({{"error", words.substr(0, words.find('\n'))}}, status);
}

std::optional<std::vector<std::string>> path_segments(std::string_view path) {
  if (!path.starts_with('/') || path.find('\0') != std::string_view::npos) return std::nullopt;
  std::vector<std::string> segments;
  path.remove_prefix(1);
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    auto segment = decoded(path.substr(0, end));
    if (!segment) return std::nullopt;
    segments.push_back(std::move(*segment));
    if (end == path.size()) break;
    path.remove_prefix(end + 1);
    if (path.empty()) segments.emplace_back();  // "/a/" is not "/a"
  }
  return segments;
}

std::optional<int64_t> number_in(std::string_view text) {
  int64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text.empty() || read.ec != std::errc() || read.ptr != end || number < 0) return std::nullopt;
  return number;
}

}  // namespace partwise::server
