#pragma once

#include "partwise/base/options.h"
#include "partwise/explaining/faithfulness.h"
#include "partwise/explaining/part_claims.h"
#include "partwise/explaining/region_overlap.h"
#include "partwise/metrics/comparison.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace partwise::explaining {

struct VerifyOptions {
  int64_t images = 60;
  int64_t seed = 1;
  bool occlusion_fields = false;
  metrics::BootstrapOptions bootstrap;

  static auto fields() {
    using Count = Field<VerifyOptions, int64_t>;
    return std::tuple{
        Count{"images", &VerifyOptions::images, "test images per category, chosen by chance", 2,
              1'000'000},
        Count{"seed", &VerifyOptions::seed, "of that choice and of everything drawn", 0},
        Field<VerifyOptions, bool>{"occlusion_fields", &VerifyOptions::occlusion_fields,
                                   "also regions by occlusion, learnt on training images"},
    };
  }
};

// A visible part of one image, and what is said and true of it for the decided class.
struct JudgedPart {
  std::string image;  // file
  std::string decided;
  std::string part;
  double score = 0.0;  // of the class on the whole image
  double drop = 0.0;   // without the part
  std::map<Method, double> claims;
};

// What becomes of a trained network's explanations on images whose parts can be taken away:
// faithfulness.json in the run's folder (docs/faithfulness.md).
struct Verification {
  std::string net;
  std::string arm;
  std::string layer;  // whose filters spoke
  int64_t run_seed = 1;
  models::Position position;
  std::string data_hash;
  VerifyOptions options;

  int64_t images = 0;  // that were chosen
  int64_t right = 0;   // of them decided right: the trials
  std::map<Method, MethodScores> methods;
  metrics::Finding parts;          // visible, per image
  metrics::Finding idle;           // share of them that is idle
  metrics::Finding top_by_chance;  // mean of 1 / parts
  metrics::Finding other_place;    // |change| of the decided score / its size, another background
  metrics::Finding same_decision;  // there
  std::vector<RegionScores> regions;
  std::vector<JudgedPart> judged;  // image by image; not in the file

  // parts_by_name minus another method, image by image.
  [[nodiscard]] metrics::Comparison gain_over(Method other, Protocol protocol) const;
};

// The dataset must be one that our generator drew; its split "test" is judged. A part book that is
// missing is learnt and left in the run's folder.
Verification verify_run(const runs::RunFolder& run,
                        const datasets::PartDataset& dataset,
                        const VerifyOptions& options,
                        const models::Resources& resources,
                        const std::string& checkpoint = "last");

nlohmann::json to_json(const Verification& verification);

// Atomically.
void write_verification(const runs::RunFolder& run, const Verification& verification);

}  // namespace partwise::explaining
