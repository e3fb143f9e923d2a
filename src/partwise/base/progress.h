#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace partwise {

// How far a piece of work has come.
struct WorkDone {
  const std::string& label;
  const std::string& unit;
  const std::string& note;  // e.g. "loss 0.31"
  int64_t done = 0;
  int64_t total = 0;
  double seconds = 0.0;
};

// Who hears what the library tells people while it works. Without one it is silent: it never writes
// to a terminal by itself. There is one listener per process, installed and not handed through
// every call: what is told decides nothing, comes from deep below (a damaged cache, a guard in a
// layer), and a program has one place where people read. Calls come from any thread, one at a time;
// a listener must not itself say anything.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void line(const std::string& text) = 0;
  virtual void progress(const WorkDone& work);  // ten times a second at the most
  virtual void progress_ended();
};

// Installs a listener (nullptr: silence) and gives the one before.
std::shared_ptr<Listener> set_listener(std::shared_ptr<Listener> listener);

// A line for people; what it quotes cannot make two of it.
void say(const std::string& line);

// A piece of work whose progress is reported. advance() may be called from any thread.
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

  std::string label_;
  std::string unit_;
  std::string note_;
  int64_t total_;
  int64_t done_ = 0;
  Clock::time_point start_;
  Clock::time_point told_;
  std::mutex guard_;
};

std::string readable_duration(double seconds);  // "8 s", "3 min 05 s", "2 h 10 min"

}  // namespace partwise
