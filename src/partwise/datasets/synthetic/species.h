#pragma once

#include "partwise/datasets/synthetic/animal.h"

#include <string>
#include <vector>

namespace partwise::datasets::synthetic {

// A kind of animal: its names, and how to pose one.
struct Species {
  std::string name;
  std::vector<std::string> parts;
  std::vector<std::string> landmarks;
  void (*pose)(AnimalBuilder&);
};

const std::vector<Species>& all_species();

void pose_fox(AnimalBuilder& animal);
void pose_deer(AnimalBuilder& animal);
void pose_elephant(AnimalBuilder& animal);
void pose_bird(AnimalBuilder& animal);
void pose_rabbit(AnimalBuilder& animal);
void pose_turtle(AnimalBuilder& animal);

}  // namespace partwise::datasets::synthetic
