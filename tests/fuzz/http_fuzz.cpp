#include "partwise/images/codec.h"
#include "partwise/server/gate.h"
#include "partwise/server/http_server.h"

#include "tests/fuzz/try_read.h"
#include <arpa/inet.h>
#include <cerrno>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace fuzz = partwise::fuzz;
namespace server = partwise::server;

namespace {

// The explorer's gate and reader of requests, with answers that need no network.
class Served {
 public:
  Served() {
    server_.start([this](const server::Request& asked) { return server::stopped_at(gate_, asked); },
                  answer);
  }

  // What the server sends back for these bytes, until it closes the connection.
  std::string ask(std::string_view bytes) const {
    const partwise::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(server_.port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const linger at_once{1, 0};  // thousands of connections: none may wait to be forgotten
    ::setsockopt(socket.number(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    while (::connect(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      if (errno == EISCONN) break;
      // libFuzzer's own timer, and a machine that is out of ports for a moment.
      if (errno != EINTR && errno != EALREADY && errno != EADDRNOTAVAIL)
        fuzz::broken("the server listens");
      ::usleep(1000);
    }
    (void)::send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::shutdown(socket.number(), SHUT_WR);
    std::string said;
    std::array<char, 4096> piece{};
    for (;;) {
      const auto count = ::recv(socket.number(), piece.data(), piece.size(), 0);
      if (count <= 0) return said;
      said.append(piece.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  static server::Response answer(const server::Request& asked) {
    if (!asked.changes())
      return server::json_response({{"path", asked.path}, {"query", asked.query}});
    const auto body = nlohmann::json::parse(asked.body, nullptr, false);
    if (body.is_object()) return server::json_response(body);
    (void)partwise::images::pixels_of(asked.body, "the photo");
    const auto photo = partwise::images::decode_image(asked.body, "the photo", 1 << 16);
    return server::json_response({{"width", photo.width}, {"height", photo.height}});
  }

  server::Gate gate_{"127.0.0.1", 80, ""};
  server::HttpServer server_{"127.0.0.1", 0};
};

}  // namespace

// A request as it comes from the network. The gate takes itself to stand at port 80, so that
// "Host: localhost" passes it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static const Served served;
  const auto said = served.ask(fuzz::text_of(data, size));
  if (said.rfind("HTTP/1.1 500", 0) == 0) fuzz::broken("no request is our own fault");
  if (!said.empty() && said.rfind("HTTP/1.1 ", 0) != 0) fuzz::broken("an answer is HTTP");
  if (!said.empty() && said.find("Content-Security-Policy") == std::string::npos &&
      said.find("HTTP/1.1 100") == std::string::npos)
    fuzz::broken("every answer carries the security headers");
  return 0;
}
