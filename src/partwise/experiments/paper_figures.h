#pragma once

#include <string_view>

namespace partwise::experiments {

extern const std::string_view kAnimalPartInstability;
extern const std::string_view kVocInstability;
extern const std::string_view kCubInstability;
extern const std::string_view kAnimalPartMultiInstability;
extern const std::string_view kVocMultiInstability;
extern const std::string_view kAnimalPartFirstLayerInstability;
extern const std::string_view kVocFirstLayerInstability;
extern const std::string_view kVocInterpretability;
extern const std::string_view kVocMultiInterpretability;
extern const std::string_view kAnimalPartPurity;
extern const std::string_view kVocPurity;
extern const std::string_view kAnimalPartAccuracy;
extern const std::string_view kVocAccuracy;
extern const std::string_view kCubAccuracy;
extern const std::string_view kAnimalPartMultiAccuracy;
extern const std::string_view kVocMultiAccuracy;
extern const std::string_view kCubSingleFilter;
extern const std::string_view kActivation;
extern const std::string_view kCubAdversarial;

}  // namespace partwise::experiments
