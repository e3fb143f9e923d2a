#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

// Speed as ratios: all sides of a comparison run in turn, repeat after repeat, in one process, so
// that a busy machine slows them alike.
namespace partwise::bench {

struct Side {
  std::string name;
  std::function<void()> run;
};

struct Quartiles {
  double low = 0.0;
  double median = 0.0;
  double high = 0.0;
};

inline Quartiles quartiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](std::size_t quarter) { return values[quarter * (values.size() - 1) / 4]; };
  return {at(1), at(2), at(3)};
}

inline double seconds_of(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// One line per side: milliseconds (median and quartiles), and the median over the repeats of its
// time as a multiple of the first side's in the same repeat. The first side is the floor or ours.
// Each side runs once before the clock starts.
inline std::vector<Quartiles> compare(const std::string& title,
                                      const std::vector<Side>& sides,
                                      int repeats) {
  std::vector<std::vector<double>> seconds(sides.size());
  std::vector<std::vector<double>> ratios(sides.size());
  for (const auto& side : sides) side.run();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      seconds[i].push_back(seconds_of(sides[i].run));
      ratios[i].push_back(seconds[i].back() / seconds[0].back());
    }
  }
  std::printf("%s, %d repeats\n", title.c_str(), repeats);
  std::vector<Quartiles> found;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const auto time = quartiles(seconds[i]);
    found.push_back(quartiles(ratios[i]));
    std::printf("  %-34s %9.3f ms [%.3f, %.3f]  x %.2f [%.2f, %.2f]\n", sides[i].name.c_str(),
                1e3 * time.median, 1e3 * time.low, 1e3 * time.high, found[i].median, found[i].low,
                found[i].high);
  }
  std::fflush(stdout);
  return found;
}

}  // namespace partwise::bench
