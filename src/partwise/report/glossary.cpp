#include "partwise/report/glossary.h"

#include <algorithm>
#include <array>

namespace partwise::report {

namespace {

constexpr std::array<ArmWords, findings::kArms> kArmWords = {{
    {"ordinary", "the ordinary network",
     "A plain convolutional network, trained on the labels and nothing else. The baseline."},
    {"ordinary+layer", "the ordinary network with an extra layer",
     "The same network with one more plain convolutional layer, so that the arms below are "
     "compared with a network of their own depth."},
    {"masked", "the masked network",
     "As above, and after each of the two top layers a mask keeps only the neighbourhood of every "
     "filter's peak. No filter loss: it shows what the mask alone does."},
    {"interpretable", "the interpretable network",
     "The full method: the masks, and a filter loss that pulls each filter towards a single part "
     "of one category and silences it on the others. No part is ever annotated in training; the "
     "loss uses only the labels."},
}};

}  // namespace

std::span<const ArmWords> arms() {
  return kArmWords;
}

std::string control_name(const std::string& key) {
  std::string name = key;
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace partwise::report
