#pragma once

#include "partwise/base/random.h"
#include "partwise/kernels/map_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace partwise::kernels {

// Nothing, one, around the width of a vector, and the paper's maps.
inline std::vector<Batch> batches() {
  return {{0, 3, 4},  {1, 1, 1},  {7, 1, 2},  {8, 7, 3},  {9, 8, 7},  {1, 9, 8},
          {5, 17, 9}, {2, 16, 6}, {3, 5, 13}, {9, 3, 14}, {17, 2, 15}};
}

// A batch of maps, half of their cells and some whole maps silent, and all that goes with it.
template <class T>
struct Sample {
  explicit Sample(const Batch& shape) : batch(shape) {
    Random random(17);
    const auto numbers = [&](int64_t count, double least, double most) {
      std::vector<T> drawn(static_cast<std::size_t>(count));
      for (auto& one : drawn) one = static_cast<T>(random.uniform(least, most));
      return drawn;
    };
    const auto cells = batch.cells();
    maps = numbers(batch.maps() * cells, -1.0, 1.0);
    for (int64_t map = 0; map < batch.maps(); ++map) {
      for (int64_t cell = 0; cell < cells; ++cell) {
        auto& x = maps[static_cast<std::size_t>(map * cells + cell)];
        if (x < T(0) || map % 5 == 4) x = T(0);
      }
    }
    gradient = numbers(batch.maps() * cells, -1.0, 1.0);
    slopes = numbers(batch.filters, 0.05, 1.5);
    constant = numbers(batch.maps(), -1.0, 1.0);
    pull = numbers(batch.maps(), -1.0, 1.0);
    scaling = numbers(batch.filters, -1.0, 1.0);
    factor = numbers(batch.filters, 0.0, 2.0);
    for (int64_t map = 0; map < batch.maps(); ++map) {
      peaks.push_back(random.below(cells));
      labels.push_back(random.below(4) - 1);
    }
    for (int64_t mu = 0; mu < cells; ++mu)
      for (int64_t cell = 0; cell < cells; ++cell)
        distances.push_back(static_cast<T>(distance(mu, cell)));
  }

  double distance(int64_t mu, int64_t cell) const {
    return static_cast<double>(std::abs(mu / batch.side - cell / batch.side) +
                               std::abs(mu % batch.side - cell % batch.side));
  }
  double unit_at(int64_t filter, int64_t mu, int64_t cell) const {
    const auto slope = static_cast<double>(slopes[static_cast<std::size_t>(filter)]);
    return std::max(1.0 - slope * distance(mu, cell), -1.0);
  }
  double unit(int64_t map, int64_t cell) const {  // with the map's own peak
    return unit_at(map % batch.filters, peaks[static_cast<std::size_t>(map)], cell);
  }
  std::vector<double> map(int64_t index) const {
    const auto first = maps.begin() + static_cast<std::ptrdiff_t>(index * batch.cells());
    return {first, first + static_cast<std::ptrdiff_t>(batch.cells())};
  }
  TemplatesAt<T> templates() const { return {peaks.data(), slopes.data(), distances.data()}; }

  Batch batch;
  std::vector<T> maps, gradient, slopes, distances, constant, pull, scaling, factor;
  std::vector<int64_t> peaks, labels;
  // A few hundred numbers are summed, each rounded.
  double rounding = 300.0 * std::numeric_limits<T>::epsilon();
};

}  // namespace partwise::kernels
