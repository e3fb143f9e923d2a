#include "partwise/base/progress.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace partwise {
namespace {

bool quiet = false;  // NOLINT: set once, before any work

}  // namespace

Progress::Progress(std::string label, int64_t total, std::string unit)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      visible_(!quiet && ::isatty(STDERR_FILENO) == 1),
      start_(Clock::now()) {}

Progress::~Progress() {
  if (visible_) fmt::print(stderr, "\r\033[K");
}

void Progress::advance(int64_t by) {
  const std::lock_guard lock(guard_);
  done_ += by;
  if (visible_ && Clock::now() - drawn_ > std::chrono::milliseconds(100)) draw();
}

void Progress::note(std::string text) {
  const std::lock_guard lock(guard_);
  note_ = std::move(text);
}

void Progress::draw() {
  drawn_ = Clock::now();
  const double seconds = std::chrono::duration<double>(drawn_ - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done_) / seconds : 0.0;
  const double left = rate > 0 ? static_cast<double>(total_ - done_) / rate : 0.0;
  fmt::print(stderr, "\r{} {}/{} {}  {:.0f}/s  {} left  {}\033[K", label_, done_, total_, unit_,
             rate, readable_duration(left), note_);
  std::fflush(stderr);
}

void keep_quiet() {
  quiet = true;
}

void say(const std::string& line) {
  if (quiet) return;
  fmt::print(stderr, "{}{}\n", ::isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "", line);
  std::fflush(stderr);
}

bool colour_wanted() {
  return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
}

std::string readable_duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace partwise
