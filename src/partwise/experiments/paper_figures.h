#pragma once

#include <string_view>

namespace partwise::experiments {

// The paper's figures, one text per table, as paper_tables.cpp reads them.
extern const std::string_view kAnimalPartInstability, kVocInstability, kCubInstability,
    kAnimalPartMultiInstability, kVocMultiInstability, kAnimalPartFirstLayerInstability,
    kVocFirstLayerInstability, kVocInterpretability, kVocMultiInterpretability, kAnimalPartPurity,
    kVocPurity, kAnimalPartAccuracy, kVocAccuracy, kCubAccuracy, kAnimalPartMultiAccuracy,
    kVocMultiAccuracy, kCubSingleFilter, kActivation, kCubAdversarial;

}  // namespace partwise::experiments
