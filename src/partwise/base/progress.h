#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace partwise {

// One line on a terminal with rate and time left; silent when standard error is not a terminal.
// advance() may be called from any thread.
class Progress {
 public:
  Progress(std::string label, int64_t total, std::string unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(int64_t by = 1);
  void note(std::string text);  // shown behind the rate, e.g. "loss 0.31"

 private:
  using Clock = std::chrono::steady_clock;
  void draw();

  std::string label_;
  std::string unit_;
  std::string note_;
  int64_t total_;
  int64_t done_ = 0;
  bool visible_;
  Clock::time_point start_;
  Clock::time_point drawn_;
  std::mutex guard_;
};

// From here on this process draws no progress and says nothing: another one speaks for it.
void keep_quiet();

// A line for people, on standard error; it does not disturb a progress line.
void say(const std::string& line);

// True on a terminal without NO_COLOR.
bool colour_wanted();

std::string readable_duration(double seconds);  // "8 s", "3 min 05 s", "2 h 10 min"

}  // namespace partwise
