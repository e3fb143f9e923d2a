#include "partwise/server/gate.h"

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <unistd.h>

namespace partwise::server {
namespace {

constexpr auto kCookie = "partwise";

bool is_address(const std::string& host) {
  return !host.empty() &&
         (host.front() == '[' || host.find_first_not_of("0123456789.") == std::string::npos);
}

bool is_everywhere(const std::string& host) {
  return host == "0.0.0.0" || host == "::" || host == "[::]";
}

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// "localhost:8080" names us, "localhost:9" or "evil.example:8080" does not.
bool names_us(const Gate& gate, std::string host) {
  const auto colon = host.rfind(':');
  const bool has_port = colon != std::string::npos && host.find(']', colon) == std::string::npos;
  if (has_port) {
    if (host.substr(colon + 1) != std::to_string(gate.port)) return false;
    host.resize(colon);
  } else if (gate.port != 80) {
    return false;
  }
  host = in_lower_case(host);
  const auto bound = in_lower_case(gate.host);
  if (host == "localhost" || host == "127.0.0.1" || host == "[::1]" || host == bound ||
      host == "[" + bound + "]")
    return true;
  return is_everywhere(gate.host) && (is_address(host) || host == in_lower_case(machine_name()));
}

// In a time that does not tell how much of it is right.
bool same_token(const std::string& given, const std::string& token) {
  unsigned char differs = given.size() == token.size() ? 0 : 1;
  for (std::size_t i = 0; i < token.size(); ++i)
    differs |= static_cast<unsigned char>((i < given.size() ? given[i] : 0) ^ token[i]);
  return differs == 0;
}

std::string cookie_in(const std::string& header) {
  const std::string start = std::string(kCookie) + "=";
  std::size_t at = 0;
  while (at < header.size()) {
    const auto end = std::min(header.find(';', at), header.size());
    const auto first = header.find_first_not_of(' ', at);
    if (first < end && header.compare(first, start.size(), start) == 0)
      return header.substr(first + start.size(), end - first - start.size());
    at = end + 1;
  }
  return "";
}

std::string bearer_in(const std::string& header) {
  constexpr std::string_view kBearer = "Bearer ";
  return header.starts_with(kBearer) ? header.substr(kBearer.size()) : "";
}

std::optional<Response> stopped_by_token(const Gate& gate, const Request& request) {
  if (gate.token.empty()) return std::nullopt;
  const auto& given = request.parameter("token");
  if (!given.empty() && request.path.empty() && same_token(given, gate.token)) {
    Response response{303, "text/plain; charset=utf-8", "", {}};
    response.headers["Location"] = "/";
    response.headers["Set-Cookie"] =
        fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", kCookie, gate.token);
    return response;
  }
  if (same_token(cookie_in(request.header("cookie")), gate.token) ||
      same_token(bearer_in(request.header("authorization")), gate.token))
    return std::nullopt;
  return problem(403, "no token; open the address that `partwise serve` printed, token included");
}

std::optional<Response> stopped_by_body(const Request& request) {
  if (!request.header("transfer-encoding").empty())
    return problem(411, "a body without Content-Length; send it in one piece");
  if (!request.header("content-encoding").empty())
    return problem(415, "a compressed body; send it as it is");
  if (request.header("content-type").starts_with("multipart/"))
    return problem(415, "a form; send the bytes of the file themselves");
  const auto& length = request.header("content-length");
  if (length.empty()) return std::nullopt;
  const auto bytes = number_in(length);
  if (!bytes) return problem(400, "Content-Length is not a number");
  if (*bytes > kMostBody)
    return problem(413, fmt::format("{} bytes are more than the {} accepted; make it smaller first",
                                    *bytes, kMostBody));
  return std::nullopt;
}

}  // namespace

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host == "[::1]" ||
         (host.starts_with("127.") && is_address(host));
}

std::string new_token() {
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", device());
  return token;
}

std::optional<Response> stopped_at(const Gate& gate, const Request& request) {
  static const std::set<std::string> kMethods{"GET", "HEAD", "PUT", "POST"};
  if (!names_us(gate, request.header("host")))
    return problem(403, fmt::format("Host '{}' is not this server; open the address that `partwise "
                                    "serve` printed",
                                    request.header("host")));
  const auto& origin = request.header("origin");
  if (!origin.empty() && origin != "http://" + request.header("host"))
    return problem(403, fmt::format("a page of {} may not ask here", origin));
  const auto& site = request.header("sec-fetch-site");
  if (request.is_for_api() && (site == "cross-site" || site == "same-site"))
    return problem(403, "a page of another site may not ask here");
  if (!kMethods.contains(request.method))
    return problem(405, fmt::format("method {} is not known here", request.method));
  if (auto stopped = stopped_by_token(gate, request)) return stopped;
  if (request.changes() && request.header(kChangeHeader).empty())
    return problem(403, "a change without the header X-Partwise: 1");
  return stopped_by_body(request);
}

const std::map<std::string, std::string>& security_headers() {
  static const std::map<std::string, std::string> kHeaders{
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
       "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
  };
  return kHeaders;
}

}  // namespace partwise::server
