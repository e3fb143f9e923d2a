#pragma once

#include "partwise/part_options.h"

#include <functional>
#include <vector>

namespace partwise::parts {

// Every option of a layer, moved away from its default one at a time.
inline std::vector<std::function<void(PartOptions&)>> option_changes() {
  return {[](auto& o) { o.misfits = Misfits::ignored; },
          [](auto& o) { o.weight_limit = 0.0; },
          [](auto& o) { o.weight_limit = 1.5; },
          [](auto& o) { o.balance = Balance::dataset; },
          [](auto& o) { o.balance = Balance::none; },
          [](auto& o) { o.strength_unit = StrengthUnit::layer_share; },
          [](auto& o) { o.strength_unit = StrengthUnit::peak; },
          [](auto& o) { o.strength_unit = StrengthUnit::absolute; },
          [](auto& o) { o.loudness = Loudness::free; },
          [](auto& o) { o.exponent = Exponent::raw; },
          [](auto& o) { o.assignment = Assignment::absolute; },
          [](auto& o) { o.assignment = Assignment::relative; },
          [](auto& o) { o.assignment = Assignment::peak; },
          [](auto& o) { o.guard = Guard::off; },
          [](auto& o) { o.vote = 0.0; },
          [](auto& o) { o.keep_alive = 0.0; },
          [](auto& o) { o.keep_alive = 1.0; },
          [](auto& o) { o.beta_rule = BetaRule::learned; },
          [](auto& o) { o.beta = 2.7; },
          [](auto& o) { o.strength = 0.0; }};
}

}  // namespace partwise::parts
