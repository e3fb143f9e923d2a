#pragma once

#include <fmt/format.h>

#include <compare>
#include <cstdint>
#include <string>

namespace partwise::runs {

// How far a training had come when something was found out or drawn: whole epochs, and steps of the
// one it was in.
struct TrainingMoment {
  int64_t epoch = 0;
  int64_t step = 0;

  auto operator<=>(const TrainingMoment&) const = default;
};

// "epoch 2", "epoch 2 and 17 steps"
inline std::string words_for(const TrainingMoment& moment) {
  return moment.step == 0 ? fmt::format("epoch {}", moment.epoch)
                          : fmt::format("epoch {} and {} steps", moment.epoch, moment.step);
}

}  // namespace partwise::runs
