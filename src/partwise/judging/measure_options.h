#pragma once

#include "partwise/base/options.h"
#include "partwise/metrics/catalogue.h"

#include <cstdint>
#include <string>

namespace partwise::judging {

struct AttackOptions {
  int64_t images = 32;
  int64_t steps = 40;
  int64_t searches = 6;

  static auto fields() {
    using Row = Field<AttackOptions, int64_t>;
    return std::tuple{
        Row{"attack_images", &AttackOptions::images, "images that are attacked", 1, 1'000'000},
        Row{"attack_steps", &AttackOptions::steps, "steps of an attack at one trade-off c", 1,
            100'000},
        Row{"attack_searches", &AttackOptions::searches, "trade-offs c that are tried", 1, 100},
    };
  }
};

struct MeasureOptions {
  std::string split = "test";
  std::string checkpoint = "last";  // or "best"
  bool random_control = false;      // also measure the same net untrained: control random_weights
  metrics::LayerOptions measures;
  AttackOptions attack;  // used where measures.extras asks for it
};

struct DumpOptions {
  std::string layer;  // by name; a wrong one lists those there are
  std::string split = "test";
  std::string checkpoint = "last";  // or "best"
  bool train_rows = false;          // behind the split's rows also those of the train split
  bool half = false;                // f16 in place of f32
};

struct DumpSize {
  int64_t rows = 0;
  int64_t filters = 0;
  int64_t side = 0;
};

}  // namespace partwise::judging
