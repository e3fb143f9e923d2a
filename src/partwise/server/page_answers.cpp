#include "partwise/base/files.h"
#include "partwise/server/answers.h"
#include "partwise/server/page.h"

namespace partwise::server {
namespace {

struct FileType {
  std::string_view ending;
  const char* type;
};

constexpr FileType kFileTypes[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
};

std::string type_of_file(std::string_view name) {
  for (const auto& known : kFileTypes) {
    if (name.ends_with(known.ending)) return known.type;
  }
  return "application/octet-stream";
}

Response page_file(const Request& request, const std::string& name) {
  for (const auto& file : page_files()) {
    if (file.name != name) continue;
    Response response;
    response.type = type_of_file(name);
    response.headers["ETag"] = fmt::format("\"{}\"", content_hash(file.bytes));
    response.headers["Cache-Control"] = "no-cache";
    if (request.header("if-none-match") == response.headers["ETag"]) {
      response.status = 304;
    } else {
      response.body = file.bytes;
    }
    return response;
  }
  return problem(404, "no such address");
}

}  // namespace

std::vector<Route> page_routes() {
  return {
      {"GET", "",
       [](const Request& request, const Named&) { return page_file(request, "index.html"); }},
      {"GET", "/{file}",
       [](const Request& request, const Named& named) {
         return page_file(request, named.at("file"));
       }},
  };
}

}  // namespace partwise::server
