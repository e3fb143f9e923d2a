#pragma once

#include "partwise/networks/catalog.h"
#include "partwise/training/train_options.h"

#include <map>
#include <string>

namespace partwise::training {

// Every parameter's learning rate as a multiple of the common one, by name: backbone_rate up to the
// backbone's top, 1 behind it; then options.rates, the last entry that fits a parameter. An entry
// is the name of a parameter (conv5.bias) or a layer (conv5), '*' stands for any letters (fc*). One
// that is not name=multiple, or fits nothing in any arm of the net, is an Error.
std::map<std::string, double> rate_factors(const TrainOptions& options,
                                           const networks::Architecture& architecture);

}  // namespace partwise::training
