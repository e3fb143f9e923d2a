#include "partwise/server/gate.h"

#include "partwise/server/routes.h"

#include <gtest/gtest.h>

namespace partwise::server {
namespace {

const Gate kHere{"127.0.0.1", 8080, ""};
const Gate kElsewhere{"0.0.0.0", 8080, "0123456789abcdef0123456789abcdef"};

Request get(std::map<std::string, std::string> headers, const std::string& path = "/api/runs") {
  headers.emplace("host", "localhost:8080");
  return {"GET", *path_segments(path), {}, std::move(headers), ""};
}

int status_of(const Gate& gate, const Request& request) {
  const auto stopped = stopped_at(gate, request);
  return stopped ? stopped->status : 200;
}

TEST(Gate, KnowsItsOwnNames) {
  for (const auto* host : {"localhost:8080", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080"})
    EXPECT_EQ(status_of(kHere, get({{"host", host}})), 200) << host;
  for (const auto* host : {"", "localhost", "localhost:80", "evil.example:8080", "evil.example",
                           "127.0.0.1.evil.example:8080", "localhost.:8080", "10.0.0.1:8080"})
    EXPECT_EQ(status_of(kHere, get({{"host", host}})), 403) << host;
}

TEST(Gate, RefusesPagesOfOtherSites) {
  EXPECT_EQ(status_of(kHere, get({{"origin", "http://localhost:8080"}})), 200);
  for (const auto* origin : {"http://evil.example", "null", "https://localhost:8080",
                             "http://localhost:9090", "http://127.0.0.1:8080"})
    EXPECT_EQ(status_of(kHere, get({{"origin", origin}})), 403) << origin;
  EXPECT_EQ(status_of(kHere, get({{"sec-fetch-site", "cross-site"}})), 403);
  EXPECT_EQ(status_of(kHere, get({{"sec-fetch-site", "cross-site"}}, "/")), 200);  // a link to us
  EXPECT_EQ(status_of(kHere, get({{"sec-fetch-site", "same-origin"}})), 200);
}

TEST(Gate, WantsAHeaderForChanges) {
  auto request = get({});
  request.method = "PUT";
  EXPECT_EQ(status_of(kHere, request), 403);
  request.headers["x-partwise"] = "1";
  EXPECT_EQ(status_of(kHere, request), 200);
  request.method = "DELETE";
  EXPECT_EQ(status_of(kHere, request), 405);
}

TEST(Gate, DemandsTheTokenEverywhere) {
  const auto& token = kElsewhere.token;
  for (const auto* path : {"/", "/app.js", "/api/runs"})
    EXPECT_EQ(status_of(kElsewhere, get({}, path)), 403) << path;
  EXPECT_EQ(status_of(kElsewhere, get({{"authorization", "Bearer " + token}})), 200);
  EXPECT_EQ(status_of(kElsewhere, get({{"cookie", "a=b; partwise=" + token}})), 200);
  EXPECT_EQ(status_of(kElsewhere, get({{"cookie", "partwise=" + token + "0"}})), 403);
  EXPECT_EQ(status_of(kElsewhere, get({{"cookie", "partwise="}})), 403);
  auto opening = get({}, "/");
  opening.query["token"] = token;
  const auto answer = stopped_at(kElsewhere, opening);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 303);
  EXPECT_NE(answer->headers.at("Set-Cookie").find("HttpOnly; SameSite=Strict"), std::string::npos);
  opening.query["token"] = std::string(32, '0');
  EXPECT_EQ(status_of(kElsewhere, opening), 403);
}

TEST(Gate, LooksAtABodyBeforeItIsRead) {
  const auto with = [](std::map<std::string, std::string> headers) {
    headers["x-partwise"] = "1";
    auto request = get(std::move(headers));
    request.method = "POST";
    return request;
  };
  EXPECT_EQ(status_of(kHere, with({{"content-length", "33554432"}})), 200);
  EXPECT_EQ(status_of(kHere, with({{"content-length", "33554433"}})), 413);
  EXPECT_EQ(status_of(kHere, with({{"content-length", "99999999999999999999"}})), 400);
  EXPECT_EQ(status_of(kHere, with({{"content-length", "-1"}})), 400);
  EXPECT_EQ(status_of(kHere, with({{"transfer-encoding", "chunked"}})), 411);
  EXPECT_EQ(status_of(kHere, with({{"content-encoding", "gzip"}})), 415);
  EXPECT_EQ(status_of(kHere, with({{"content-type", "multipart/form-data; boundary=x"}})), 415);
}

TEST(Token, IsLongAndNeverTheSame) {
  EXPECT_EQ(new_token().size(), 32U);
  EXPECT_NE(new_token(), new_token());
}

TEST(Loopback, IsThisMachineAlone) {
  for (const auto* host : {"127.0.0.1", "127.1.2.3", "localhost", "::1", "[::1]"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const auto* host : {"0.0.0.0", "::", "10.0.0.1", "127.evil.example", "machine"})
    EXPECT_FALSE(is_loopback(host)) << host;
}

TEST(PathSegments, AreDecodedOneByOne) {
  using Segments = std::vector<std::string>;
  EXPECT_EQ(path_segments("/"), Segments{});
  EXPECT_EQ(path_segments("/api/runs/a%20b/c%2Fd"), (Segments{"api", "runs", "a b", "c/d"}));
  EXPECT_EQ(path_segments("/a/../b"), (Segments{"a", "..", "b"}));
  EXPECT_EQ(path_segments("/a//b/"), (Segments{"a", "", "b", ""}));
  for (const auto* path : {"", "a", "/%", "/%2", "/%zz", "/a%00b", "http://x/"})
    EXPECT_FALSE(path_segments(path)) << path;
}

TEST(Routes, AreFoundByTheirPatterns) {
  const std::vector<Route> routes{
      {"GET", "/api/runs/{run}/log",
       [](const Request&, const Named& named) { return json_response(named.at("run")); }}};
  const auto status = [&](const std::string& method, const std::string& path) {
    return routed(routes, {method, *path_segments(path), {}, {}, ""}).status;
  };
  EXPECT_EQ(status("GET", "/api/runs/a/log"), 200);
  EXPECT_EQ(status("HEAD", "/api/runs/a/log"), 200);
  EXPECT_EQ(status("PUT", "/api/runs/a/log"), 405);
  for (const auto* path : {"/", "/api", "/api/runs//log", "/api/runs/a/log/", "/api/runs/a/b/log"})
    EXPECT_EQ(status("GET", path), 404) << path;
}

}  // namespace
}  // namespace partwise::server
