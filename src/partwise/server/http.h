#pragma once

#include "partwise/base/error.h"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace partwise::server {

// A request as the rest of the room sees it: nothing of the library that read it.
struct Request {
  std::string method;
  std::vector<std::string> path;  // segments, decoded: "/api/runs/a%20b" is api, runs, a b
  std::map<std::string, std::string> query;    // decoded; the first of each name
  std::map<std::string, std::string> headers;  // names in lower case; the first of each
  std::string body;

  const std::string& header(const std::string& name) const;  // "": there is none
  const std::string& parameter(const std::string& name) const;
  bool changes() const { return method == "PUT" || method == "POST"; }
  bool is_for_api() const { return !path.empty() && path.front() == "api"; }
};

struct Response {
  int status = 200;
  std::string type = "application/json; charset=utf-8";
  std::string body;
  std::map<std::string, std::string> headers = {};
};

Response json_response(const nlohmann::json& json, int status = 200);
// {"error": words}
Response problem(int status, const std::string& words);

// What is asked cannot be done; the answer has this status.
class Refusal : public Error {
 public:
  Refusal(int status, const std::string& words) : Error(words), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

// "/a/b%20c" as its segments; nothing for what does not begin with '/', holds an encoding that is
// none, or a zero byte. "/" has none.
std::optional<std::vector<std::string>> path_segments(std::string_view path);

// A whole number without sign; nothing for anything else.
std::optional<int64_t> number_in(std::string_view text);

}  // namespace partwise::server
