#include "partwise/server/serve.h"

#include "partwise/atlas/shown_run_fixture.h"
#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/findings/findings_file.h"
#include "partwise/images/codec.h"

#include <arpa/inet.h>
#include <chrono>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

namespace partwise::server {
namespace {

// What came back over a socket.
struct Reply {
  int status = 0;
  std::string head;
  std::string body;
  nlohmann::json json() const { return nlohmann::json::parse(body, nullptr, false); }
};

Reply talk(int port, const std::string& bytes) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  if (::connect(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return {};
  for (std::size_t sent = 0; sent < bytes.size();) {
    const auto count =
        ::send(socket.number(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) break;
    sent += static_cast<std::size_t>(count);
  }
  std::string all;
  std::array<char, 65536> some{};
  for (;;) {
    const auto count = ::recv(socket.number(), some.data(), some.size(), 0);
    if (count <= 0) break;
    all.append(some.data(), static_cast<std::size_t>(count));
  }
  const auto end = all.find("\r\n\r\n");
  if (all.size() < 12 || end == std::string::npos) return {};
  return {std::stoi(all.substr(9, 3)), all.substr(0, end), all.substr(end + 4)};
}

class AServer : public atlas::ShownRuns {
 protected:
  // Untrained networks; the first answer waits until they are open.
  void start(const std::vector<std::string>& runs, const std::string& host = "127.0.0.1") {
    ServeRequest request;
    for (const auto& name : runs) request.runs.push_back((root_ / name).string());
    request.host = host;
    request.port = 0;
    request.program = "test";
    request.resources.threads = 1;
    try {
      explorer_ = std::make_unique<Explorer>(request);
    } catch (const Error& error) {
      if (std::string(error.what()).find("without a server") != std::string::npos)
        GTEST_SKIP() << error.what();
      throw;
    }
  }
  bool skipped() const { return explorer_ == nullptr; }

  Reply ask(const std::string& method,
            const std::string& path,
            const std::string& body = "",
            const std::string& more = "X-Partwise: 1\r\n") {
    return talk(
        explorer_->port(),
        fmt::format("{} {} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Length: {}\r\n{}\r\n{}",
                    method, path, explorer_->port(), body.size(), more, body));
  }
  Reply get(const std::string& path) { return ask("GET", path, "", ""); }

  std::unique_ptr<Explorer> explorer_;
};

TEST_F(AServer, SaysThatANetworkHasGoneOnSinceItWasMeasured) {
  const auto folder = run("fox");  // trained for an epoch, as its checkpoint says
  findings::RunFindings found;
  found.net = "tiny";
  found.arm = "interpretable";
  found.moment = {{0, 3}};
  found.training_images = 0;
  found.findings["accuracy"] = {0.5, 0.4, 0.6};
  findings::write_findings(folder, found);
  start({"fox"});
  if (skipped()) return;
  const auto warnings = get("/api/runs/fox/findings").json().at("warnings");
  ASSERT_EQ(warnings.size(), 1U) << warnings;
  const auto why = warnings[0].get<std::string>();
  EXPECT_NE(why.find("of epoch 0 and 3 steps, its network is at epoch 1"), std::string::npos)
      << why;
}

TEST_F(AServer, AnswersAsItsContractSays) {
  run("fox");
  run("plain", "ordinary");
  start({"fox", "plain"});
  if (skipped()) return;
  const auto runs = get("/api/runs").json();
  ASSERT_EQ(runs.at("runs").size(), 2U);
  EXPECT_EQ(runs["runs"][0]["id"], "fox");
  EXPECT_EQ(runs["runs"][0]["state"], "trained");

  const auto filters = get("/api/runs/fox/layers/new/filters").json();
  ASSERT_FALSE(filters.at("filters").empty());
  for (const auto& column : filters["columns"])
    EXPECT_TRUE(filters["filters"][0]["measures"].contains(column["key"])) << column;

  const auto filter = get("/api/runs/fox/layers/new/filters/2").json();
  int64_t rows = 0;
  for (const auto* side : {"own", "others"}) {
    for (const auto& count : filter.at("histogram").at(side)) rows += count.get<int64_t>();
  }
  EXPECT_EQ(rows, get("/api/runs").json()["runs"][0]["images"]);
  EXPECT_FALSE(filter.at("evidence").empty());
  for (const auto* band : {"strongest", "middle", "weak", "wrong"}) {
    for (const auto& image : filter["bands"][band]) {
      for (const auto& [name, address] : image["pictures"].items()) {
        const auto picture = get(address);
        EXPECT_EQ(picture.status, 200) << address;
        EXPECT_TRUE(picture.body.starts_with("\x89PNG")) << address;
      }
      break;
    }
  }
  const auto tile = get("/api/runs/fox/layers/new/filters/2/tile.png");
  EXPECT_EQ(tile.status, 200);
  const auto tag = tile.head.substr(tile.head.find("ETag: ") + 6, 18);
  EXPECT_EQ(ask("GET", "/api/runs/fox/layers/new/filters/2/tile.png", "",
                "If-None-Match: " + tag + "\r\n")
                .status,
            304);

  EXPECT_EQ(get("/api/runs/fox/errors").json().at("classes").size(), 3U);
  EXPECT_TRUE(get("/api/runs/fox/errors/0/1").json().contains("misled"));
  EXPECT_EQ(get("/api/runs/fox/findings").status, 404);  // not measured
  EXPECT_TRUE(get("/api/runs/fox/log").json().at("lines").empty());
  const auto compared = get("/api/compare?first=fox&second=plain").json();
  EXPECT_NE(compared.at("difference"), "");
  ASSERT_FALSE(compared.at("layers").empty());
  EXPECT_FALSE(compared["layers"][0]["matches"].empty());
}

TEST_F(AServer, ExplainsAPhotoAndSilencesItsParts) {
  run("fox");
  start({"fox"});
  if (skipped()) return;
  const auto photo = images::encode_png(datasets::draw_scene(0, 1, 64, 1).image);
  const auto answer = ask("POST", "/api/runs/fox/explain", photo).json();
  const auto& explanation = answer.at("explanation");
  EXPECT_EQ(answer["width"], 64);
  EXPECT_EQ(get(answer["picture"]).status, 200);
  auto labels = nlohmann::json::array();
  for (const auto& part : explanation["parts"]) labels.push_back(part["label"]);
  const auto silence = "/api/photos/" + answer["photo"].get<std::string>() + "/silence";
  const auto left = ask("POST", silence, nlohmann::json{{"parts", labels}}.dump()).json();
  EXPECT_NEAR(left.at("score"), explanation["evidence"]["baseline"], 1e-4);  // single precision
  EXPECT_EQ(ask("POST", silence, R"({"parts":["nobody's"]})").status, 400);
  EXPECT_EQ(ask("POST", silence, R"({"parts":7})").status, 400);
  EXPECT_EQ(ask("POST", "/api/photos/0/silence", "{}").status, 404);
  EXPECT_EQ(ask("POST", "/api/runs/fox/explain", "no image").status, 400);
  EXPECT_EQ(ask("POST", "/api/runs/fox/explain?against=yeti", photo).status, 400);
  EXPECT_EQ(ask("POST", "/api/runs/fox/explain-row/0", "").status, 200);
  EXPECT_EQ(ask("POST", "/api/runs/fox/explain-row/9999", "").status, 404);
}

TEST_F(AServer, NamesFiltersOnceForAll) {
  run("fox");
  start({"fox"});
  if (skipped()) return;
  const std::string place = "/api/runs/fox/layers/new/filters/1/name";
  const auto first = ask("PUT", place, R"({"name":"<b>\"é\"\n","note":"","revision":0})");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.json().at("name"), "<b>\"é\"\n");
  const auto second = ask("PUT", place, R"({"name":"mine","revision":0})");
  EXPECT_EQ(second.status, 409);
  EXPECT_EQ(second.json().at("name"), "<b>\"é\"\n");
  EXPECT_EQ(ask("PUT", place, R"({"name":"mine"})").status, 400);
  EXPECT_EQ(ask("PUT", place, "[]").status, 400);
  EXPECT_EQ(ask("PUT", place, "\xFF{").status, 400);
  EXPECT_EQ(ask("PUT", place, R"({"name":"mine","revision":0})", "").status, 403);
  EXPECT_EQ(ask("POST", "/api/runs/fox/merges", R"({"part":"a","into":"b"})").status, 200);
  EXPECT_EQ(ask("POST", "/api/runs/fox/merges", R"({"part":"b","into":"a"})").status, 400);
  explorer_.reset();
  start({"fox"});
  EXPECT_EQ(get("/api/runs/fox/layers/new/filters/1").json().at("name"), "<b>\"é\"\n");
}

TEST_F(AServer, KeepsSheetsOfRaters) {
  run("fox");
  start({"fox"});
  if (skipped()) return;
  const auto sheet = get("/api/runs/fox/sheet/ann").json();
  ASSERT_GE(sheet.at("order").size(), 2U);
  EXPECT_EQ(get("/api/runs/fox/sheet/ann").json().at("order"), sheet["order"]);
  for (const auto* rater : {"ann", "bob"}) {
    for (std::size_t i = 0; i < 2; ++i) {
      auto body = sheet["order"][i];
      body["name"] = i == 0 ? "ear" : "leg";
      EXPECT_EQ(ask("PUT", std::string("/api/runs/fox/sheet/") + rater, body.dump()).status, 200);
    }
  }
  const auto semantics = get("/api/runs/fox/semantics").json();
  EXPECT_EQ(semantics.at("raters").size(), 2U);
  EXPECT_EQ(semantics.at("agreement").at("same"), 1.0);
  EXPECT_EQ(get("/api/runs/fox/sheet/..%2F..%2Fx").status, 400);
}

TEST_F(AServer, GivesNothingElseAway) {
  run("fox");
  start({"fox"});
  if (skipped()) return;
  for (const auto* path :
       {"/../options.json", "/..%2foptions.json", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
        "/api/runs/..%2ffox/log", "/api/runs/../fox/log", "/api/runs/fox/../../x", "/api/runs/fox/",
        "/api/runs/%00/log", "/index.html/..", "/etc/passwd", "/api/runs/fox/layers/new/filters/-1",
        "/api/runs/fox/layers/new/filters/1e3",
        "/api/runs/fox/layers/new/filters/99999999999999999999", "/api/runs/fox/layers/../filters",
        "/api/runs/fox/layers/new/filters/1/rows/0/photo.png"})
    EXPECT_EQ(get(path).status, 404) << path;
  const auto page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.head.find("Content-Security-Policy: default-src 'none'"), std::string::npos);
  EXPECT_NE(page.head.find("X-Content-Type-Options: nosniff"), std::string::npos);
  EXPECT_EQ(talk(explorer_->port(), "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 403);
  EXPECT_EQ(ask("GET", "/api/runs", "", "Origin: http://evil.example\r\n").status, 403);
  const auto large = talk(
      explorer_->port(), fmt::format("POST /api/runs/fox/explain HTTP/1.1\r\nHost: localhost:{}\r\n"
                                     "X-Partwise: 1\r\nContent-Length: 209715200\r\n\r\n",
                                     explorer_->port()));
  EXPECT_EQ(large.status, 413);  // though nothing of the body has come
}

TEST_F(AServer, BeyondThisMachineWantsItsToken) {
  run("fox");
  start({"fox"}, "0.0.0.0");
  if (skipped()) return;
  EXPECT_EQ(explorer_->token().size(), 32U);
  EXPECT_NE(explorer_->address().find(explorer_->token()), std::string::npos);
  EXPECT_EQ(get("/").status, 403);
  EXPECT_EQ(get("/?token=" + explorer_->token()).status, 303);
  EXPECT_EQ(
      ask("GET", "/api/runs", "", "Authorization: Bearer " + explorer_->token() + "\r\n").status,
      200);
}

TEST_F(AServer, SaysThatAPortIsTaken) {
  run("fox");
  start({"fox"});
  if (skipped()) return;
  ServeRequest second;
  second.runs = {(root_ / "fox").string()};
  second.port = explorer_->port();
  EXPECT_THROW(Explorer{second}, Error);
}

}  // namespace
}  // namespace partwise::server
