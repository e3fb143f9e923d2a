#include "partwise/datasets/synthetic/species.h"

namespace partwise::datasets::synthetic {

const std::vector<Species>& all_species() {
  static const std::vector<Species> species = {
      {"fox",
       {"head", "ears", "torso", "front-legs", "back-legs", "tail"},
       {"head", "torso", "front-foot", "tail", "back-foot", "eye", "nose", "ear-tip"},
       pose_fox},
      {"deer",
       {"head", "ears", "antlers", "neck", "torso", "front-legs", "back-legs", "tail"},
       {"head", "torso", "front-foot", "tail", "back-foot", "eye", "nose", "antler-tip"},
       pose_deer},
      {"elephant",
       {"head", "ears", "trunk", "torso", "front-legs", "back-legs", "tail"},
       {"head", "torso", "front-foot", "tail", "back-foot", "eye", "trunk-tip"},
       pose_elephant},
      {"bird",
       {"head", "beak", "torso", "wings", "legs", "tail"},
       {"head", "torso", "foot", "tail", "eye", "beak-tip", "wing-tip"},
       pose_bird},
      {"rabbit",
       {"head", "ears", "torso", "front-legs", "back-legs", "tail"},
       {"head", "torso", "front-foot", "tail", "back-foot", "eye", "nose", "ear-tip"},
       pose_rabbit},
      {"turtle",
       {"head", "neck", "shell", "front-legs", "back-legs", "tail"},
       {"head", "torso", "front-foot", "tail", "back-foot", "eye", "nose"},
       pose_turtle},
  };
  return species;
}

}  // namespace partwise::datasets::synthetic
