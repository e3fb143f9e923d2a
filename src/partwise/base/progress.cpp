#include "partwise/base/progress.h"

#include "partwise/base/printable.h"

#include <fmt/format.h>

#include <utility>

namespace partwise {
namespace {

constexpr std::size_t kLongestLineForPeople = 2000;

std::mutex listening;                // NOLINT: one per process, see Listener
std::shared_ptr<Listener> listener;  // NOLINT: guarded by `listening`

template <typename Tell>
void tell(const Tell& tell_one) {
  const std::lock_guard lock(listening);
  if (listener) tell_one(*listener);
}

}  // namespace

void Listener::progress(const WorkDone& /*work*/) {}
void Listener::progress_ended() {}

std::shared_ptr<Listener> set_listener(std::shared_ptr<Listener> next) {
  const std::lock_guard lock(listening);
  return std::exchange(listener, std::move(next));
}

void say(const std::string& line) {
  tell([&](Listener& one) { one.line(printable(line, kLongestLineForPeople)); });
}

Progress::Progress(std::string label, int64_t total, std::string unit)
    : label_(printable(label)), unit_(std::move(unit)), total_(total), start_(Clock::now()) {}

Progress::~Progress() {
  tell([](Listener& one) { one.progress_ended(); });
}

void Progress::advance(int64_t by) {
  const std::lock_guard lock(guard_);
  done_ += by;
  const auto now = Clock::now();
  if (now - told_ <= std::chrono::milliseconds(100)) return;
  told_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  tell([&](Listener& one) { one.progress({label_, unit_, note_, done_, total_, seconds}); });
}

void Progress::note(std::string text) {
  const std::lock_guard lock(guard_);
  note_ = printable(text);
}

std::string readable_duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace partwise
