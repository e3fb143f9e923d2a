#include "partwise/datasets/import/voc_merges.h"

#include <algorithm>
#include <array>
#include <map>

namespace partwise::datasets {
namespace {

struct Merge {
  std::string part;
  std::vector<std::string> raw;
};

// The paper's six animals; nothing for another class.
const std::vector<Merge>* merges_of(const std::string& voc_class) {
  static const std::vector<Merge> bird{
      {"head", {"head", "leye", "reye", "beak"}},
      {"torso", {"torso", "neck", "lwing", "rwing"}},
      {"legs", {"lleg", "rleg", "lfoot", "rfoot"}},
      {"tail", {"tail"}},
  };
  static const std::vector<Merge> pet{
      {"head", {"head", "leye", "reye", "lear", "rear", "nose", "muzzle"}},
      {"torso", {"torso", "neck"}},
      {"front legs", {"lfleg", "rfleg", "lfpa", "rfpa"}},
      {"back legs", {"lbleg", "rbleg", "lbpa", "rbpa"}},
      {"tail", {"tail"}},
  };
  // Horns occur on cows and sheep, hooves on horses; the paper leaves their tails out.
  static const std::vector<Merge> cattle{
      {"head", {"head", "leye", "reye", "lear", "rear", "muzzle", "lhorn", "rhorn"}},
      {"torso", {"torso", "neck"}},
      {"front legs", {"lfuleg", "lflleg", "rfuleg", "rflleg", "lfho", "rfho"}},
      {"back legs", {"lbuleg", "lblleg", "rbuleg", "rblleg", "lbho", "rbho"}},
  };
  if (voc_class == "bird") return &bird;
  if (voc_class == "cat" || voc_class == "dog") return &pet;
  if (voc_class == "cow" || voc_class == "sheep" || voc_class == "horse") return &cattle;
  return nullptr;
}

std::string without_number(const std::string& raw) {
  const auto bar = raw.rfind('_');
  const bool numbered = bar != std::string::npos && bar + 1 < raw.size() &&
                        raw.find_first_not_of("0123456789", bar + 1) == std::string::npos;
  return numbered ? raw.substr(0, bar) : raw;
}

}  // namespace

std::span<const std::string> voc_classes() {
  static const std::array<std::string, 20> classes{
      "aeroplane", "bicycle",     "bird",  "boat",  "bottle", "bus",      "car",
      "cat",       "chair",       "cow",   "table", "dog",    "horse",    "motorbike",
      "person",    "pottedplant", "sheep", "sofa",  "train",  "tvmonitor"};
  return classes;
}

std::vector<std::string> merged_parts(const std::string& voc_class) {
  std::vector<std::string> names;
  if (const auto* merges = merges_of(voc_class)) {
    for (const auto& merge : *merges) names.push_back(merge.part);
  }
  return names;
}

std::optional<std::string> merged_part(const std::string& voc_class, const std::string& raw) {
  const auto* merges = merges_of(voc_class);
  if (merges == nullptr) return without_number(raw);
  for (const auto& merge : *merges) {
    if (std::find(merge.raw.begin(), merge.raw.end(), raw) != merge.raw.end()) return merge.part;
  }
  return std::nullopt;
}

std::span<const std::string> voc_landmarks(const std::string& voc_class) {
  static const std::array<std::string, 3> landmarks{"head", "neck", "torso"};
  return merges_of(voc_class) != nullptr ? std::span<const std::string>(landmarks)
                                         : std::span<const std::string>();
}

}  // namespace partwise::datasets
