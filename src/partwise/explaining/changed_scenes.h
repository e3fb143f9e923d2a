#pragma once

#include "partwise/base/geometry.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/models/examples.h"
#include "partwise/models/task.h"
#include "partwise/networks/network.h"

#include <span>
#include <vector>

namespace partwise::explaining {

// A synthetic scene to be drawn with something changed and cut by the unchanged object's box.
struct ChangedScene {
  datasets::SceneKey scene;
  Box box;
  datasets::Intervention change;
};

// As load_crops would read them from the files of `data synth --interventions`:
// [scenes, 3, side, side] uint8.
Tensor draw_crops(std::span<const ChangedScene> scenes, int64_t side, int threads);

// The network's decision scores, [scene][class]. They depend on the scene alone, not on its
// neighbours: every batch has the same size.
std::vector<std::vector<double>> scores_of_scenes(const networks::Network& network,
                                                  const models::Task& task,
                                                  std::span<const ChangedScene> scenes,
                                                  const models::Resources& resources);

}  // namespace partwise::explaining
