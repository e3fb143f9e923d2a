#include "partwise/cli/console.h"

#include "partwise/base/progress.h"

#include <fmt/format.h>

#include <cstdio>
#include <unistd.h>

namespace partwise::cli {
namespace {

class Console : public Listener {
 public:
  void line(const std::string& text) override {
    fmt::print(stderr, "{}{}\n", terminal_ ? "\r\033[K" : "", text);
    std::fflush(stderr);
  }

  void progress(const WorkDone& work) override {
    if (!terminal_) return;
    const double rate = work.seconds > 0 ? static_cast<double>(work.done) / work.seconds : 0.0;
    const double left = rate > 0 ? static_cast<double>(work.total - work.done) / rate : 0.0;
    fmt::print(stderr, "\r{} {}/{} {}  {:.0f}/s  {} left  {}\033[K", work.label, work.done,
               work.total, work.unit, rate, readable_duration(left), work.note);
    std::fflush(stderr);
  }

  void progress_ended() override {
    if (terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
};

}  // namespace

void speak_to_console() {
  set_listener(std::make_shared<Console>());
}

}  // namespace partwise::cli
