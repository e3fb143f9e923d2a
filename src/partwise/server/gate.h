#pragma once

#include "partwise/server/http.h"

#include <cstdint>
#include <optional>
#include <string>

namespace partwise::server {

inline constexpr int64_t kMostBody = int64_t{32} << 20U;  // bytes
inline constexpr auto kChangeHeader = "x-partwise";       // a page of another site cannot send it

// Who may ask. A server bound to this machine alone is open to everyone on it; one that others
// reach demands its token everywhere.
struct Gate {
  std::string host;  // as it was bound
  int port = 0;
  std::string token;  // "": none is needed
};

bool is_loopback(const std::string& host);

// 128 bits from the system, in hex.
std::string new_token();

// Looks at a request before its body is read; the answer where it must not go further:
//   403  a Host that is not ours (DNS rebinding), another site's page, a wrong or missing token, a
//        change without X-Partwise
//   404  a path that is none
//   405  a method we do not know
//   411  a body without its length;  413  one above kMostBody;  415  a compressed one, or a form
// Opening /?token=... with the right token is answered with a cookie that holds it.
std::optional<Response> stopped_at(const Gate& gate, const Request& request);

// What every answer carries: a page that fetches nothing from elsewhere and is framed by nobody.
const std::map<std::string, std::string>& security_headers();

}  // namespace partwise::server
