#pragma once

#include "partwise/base/options.h"
#include "partwise/experiments/carried_backbone.h"
#include "partwise/experiments/machine.h"
#include "partwise/findings/run_findings.h"
#include "partwise/runs/run_folder.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace partwise::experiments {

// What the four arms start from:
//   trained  a backbone trained first, on other images drawn for it
//   carried  the one this program carries with it
enum class DemoBackbone { trained, carried };

}  // namespace partwise::experiments

template <>
inline constexpr auto partwise::kWords<partwise::experiments::DemoBackbone> =
    partwise::words("trained", "carried");

namespace partwise::experiments {

struct DemoOptions {
  int64_t images = 900;
  int64_t categories = 6;
  int64_t size = 128;
  int64_t epochs = 6;
  DemoBackbone backbone = DemoBackbone::trained;
  int64_t pretraining_images = 600;
  int64_t pretraining_epochs = 8;
  int64_t seed = 1;

  static auto fields() {
    using Count = Field<DemoOptions, int64_t>;
    return std::tuple{
        Count{"images", &DemoOptions::images, "images per category", 8, 100'000},
        Count{"categories", &DemoOptions::categories, "how many kinds of animals", 2, 6},
        Count{"size", &DemoOptions::size, "side of the images, px", 64, 1024},
        Count{"epochs", &DemoOptions::epochs, "passes of each arm over its training images", 1,
              10'000},
        Field{"backbone", &DemoOptions::backbone,
              "what the arms start from: trained first on other images, or carried by the program"},
        Count{"pretraining_images", &DemoOptions::pretraining_images,
              "other images per category, for the common backbone", 8, 100'000},
        Count{"pretraining_epochs", &DemoOptions::pretraining_epochs, "passes over those", 1,
              10'000},
        Count{"seed", &DemoOptions::seed, "everything follows from it", 0, kBackboneSeed - 1},
    };
  }
};

// A fifth of the data, fewer epochs, the carried backbone: about a minute.
DemoOptions quick_demo();

struct Demo {
  std::vector<runs::RunFolder> runs;         // one per arm
  std::vector<findings::RunFindings> found;  // of those
  std::filesystem::path report;
  std::filesystem::path summary;
  double seconds = 0.0;
};

// The main job on built-in data: draws animals, trains the four arms from one backbone that was
// trained on other images, measures them, and writes report.html and summary.json in `out`. Run
// again, it goes on where it stopped; a folder that holds anything else is refused and left
// untouched. command: what the report names as the way to repeat it.
Demo run_demo(const std::filesystem::path& out,
              const DemoOptions& options,
              const std::string& command,
              const Machine& machine);

}  // namespace partwise::experiments
