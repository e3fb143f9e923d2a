#include "partwise/server/serve.h"

#include "partwise/base/interrupt.h"
#include "partwise/cli/command.h"
#include "partwise/models/examples.h"
#include "partwise/tensors/session.h"

#include <chrono>
#include <cstdlib>
#include <malloc.h>
#include <thread>

namespace partwise::cli {
namespace {

constexpr auto kLook = std::chrono::milliseconds(50);
constexpr auto kPatience = std::chrono::milliseconds(400);

void serve_until_interrupted(const server::ServeRequest& request) {
#ifdef M_ARENA_MAX
  // Else every thread that answers gets a heap of its own, and each keeps the most it ever held.
  mallopt(M_ARENA_MAX, 2);
#endif
  const Heeding heeding;
  const server::Explorer explorer(request);
  fmt::print("{}\n", explorer.address());
  fmt::print("Ctrl-C ends it.\n");
  std::fflush(stdout);
  while (!interrupt_requested()) std::this_thread::sleep_for(kLook);
  // A network at work can take longer than people wait, and nothing is lost by leaving it: what
  // people wrote is on disk before they are answered.
  std::thread([] {
    std::this_thread::sleep_for(kPatience);
    std::_Exit(EXIT_SUCCESS);
  }).detach();
}

}  // namespace

void add_serve(CLI::App& app) {
  struct Flags {
    server::ServeRequest request;
    std::string data;
    experiments::Machine machine;
  };
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(
      app, "serve",
      "Show runs in a browser: every filter with its images, numbers, intervals and controls, own "
      "photographs explained with parts switched off, comparisons, errors, names, training as it "
      "goes. Only this machine can reach it unless --host says otherwise; then the address printed "
      "carries a token that is needed everywhere.",
      "partwise serve runs/masked runs/interpretable");
  auto& request = flags->request;
  command->add_option("runs", request.runs, "run folders")->required();
  command->add_option("--host", request.host, "address to listen at")->capture_default_str();
  command->add_option("--port", request.port, "0: any free one")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  command->add_option("--data", flags->data, "where the images lie, if not where the runs say");
  add_machine(*command, flags->machine);
  command->callback([flags] {
    auto& wanted = flags->request;
    wanted.data = flags->data;
    wanted.program = experiments::version_text();
    wanted.resources = experiments::start_session(flags->machine);
    wanted.prepare = [threads = flags->machine.threads] { tensors::start_session(threads); };
    serve_until_interrupted(wanted);
  });
}

}  // namespace partwise::cli
