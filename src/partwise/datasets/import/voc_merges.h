#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace partwise::datasets {

// PASCAL-Part's twenty classes in the order of class_ind (1-based), as its files spell them.
std::span<const std::string> voc_classes();

// The parts a class has in the paper (section IV-D) in its order; empty for a class it does not
// use, whose parts are named as they come.
std::vector<std::string> merged_parts(const std::string& voc_class);

// The part a raw one belongs to: the paper's for its six animals (nothing: the paper drops it),
// otherwise the raw name without its number ("wheel_2" -> "wheel").
std::optional<std::string> merged_part(const std::string& voc_class, const std::string& raw);

// The raw parts whose box centres are the paper's landmarks (head, neck, torso of the six animals).
std::span<const std::string> voc_landmarks(const std::string& voc_class);

}  // namespace partwise::datasets
