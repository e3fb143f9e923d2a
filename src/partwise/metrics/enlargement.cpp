#include "partwise/metrics/enlargement.h"

#include "partwise/base/error.h"

#include <algorithm>

namespace partwise::metrics {

Enlargement::Enlargement(const UnitGrid& grid, int64_t map_side, int64_t step)
    : map_side_(map_side), step_(step) {
  expects(map_side > 0 && step > 0 && step <= grid.input_side && grid.stride > 0.0,
          "maps of side {} cannot be enlarged to every {}th of {} pixels", map_side, step,
          grid.input_side);
  const int64_t columns = std::max<int64_t>(1, map_side - 1);
  for (int64_t pixel = step / 2; pixel < grid.input_side; pixel += step) {
    const double place = std::clamp((static_cast<double>(pixel) - grid.offset) / grid.stride, 0.0,
                                    static_cast<double>(map_side - 1));
    const int64_t before = std::min(static_cast<int64_t>(place), columns - 1);
    samples_.push_back(
        {pixel, before, std::min(before + 1, map_side - 1), place - static_cast<double>(before)});
  }
  for (int64_t column = 0; column <= columns; ++column) {
    const auto first = std::find_if(samples_.begin(), samples_.end(),
                                    [&](const Sample& sample) { return sample.before >= column; });
    first_.push_back(first - samples_.begin());
  }
}

void Enlargement::enlarge(std::span<const float> map, std::span<float> enlarged) const {
  const auto width = samples_.size();
  std::vector<double> wide(static_cast<std::size_t>(map_side_) * width);
  for (int64_t row = 0; row < map_side_; ++row) {
    const float* cells = map.data() + row * map_side_;
    for (std::size_t x = 0; x < width; ++x) {
      const auto& sample = samples_[x];
      const double a = cells[sample.before];
      wide[row * width + x] = a + sample.share * (cells[sample.after] - a);
    }
  }
  for (std::size_t y = 0; y < width; ++y) {
    const double* top = wide.data() + samples_[y].before * width;
    const double* bottom = wide.data() + samples_[y].after * width;
    const double share = samples_[y].share;
    for (std::size_t x = 0; x < width; ++x)
      enlarged[y * width + x] = static_cast<float>(top[x] + share * (bottom[x] - top[x]));
  }
}

// The squares between four neighbouring cells of which one passes `matters`: visit(i, j), its upper
// left cell.
template <typename Matters, typename Visit>
void Enlargement::for_each_square(std::span<const float> map,
                                  const Matters& matters,
                                  const Visit& visit) const {
  const int64_t last = map_side_ - 1;
  for (int64_t i = 0; i + 1 < std::ssize(first_); ++i) {
    const float* top = map.data() + i * map_side_;
    const float* bottom = map.data() + std::min(i + 1, last) * map_side_;
    for (int64_t j = 0; j + 1 < std::ssize(first_); ++j) {
      const int64_t next = std::min(j + 1, last);
      if (matters(top[j]) || matters(top[next]) || matters(bottom[j]) || matters(bottom[next]))
        visit(i, j);
    }
  }
}

float Enlargement::pixel(std::span<const float> map,
                         const Sample& row,
                         const Sample& column) const {
  const float* above = map.data() + row.before * map_side_;
  const float* below = map.data() + row.after * map_side_;
  const double a = above[column.before];
  const double c = below[column.before];
  const double top = a + column.share * (above[column.after] - a);
  const double bottom = c + column.share * (below[column.after] - c);
  return static_cast<float>(top + row.share * (bottom - top));
}

void Enlargement::append_from(std::span<const float> map,
                              float least,
                              std::vector<float>& values) const {
  const auto matters = [&](float cell) { return !(cell < least); };
  for_each_square(map, matters, [&](int64_t i, int64_t j) {
    for (int64_t y = first_[i]; y < first_[i + 1]; ++y) {
      for (int64_t x = first_[j]; x < first_[j + 1]; ++x)
        values.push_back(pixel(map, samples_[y], samples_[x]));
    }
  });
}

void Enlargement::paint_row(std::span<const float> map,
                            float threshold,
                            int64_t y,
                            int64_t column,
                            PixelSet& region) const {
  const int64_t end = first_[column + 1];
  int64_t run = -1;  // where the pixels above the threshold began
  for (int64_t x = first_[column]; x < end; ++x) {
    const bool fires = pixel(map, samples_[y], samples_[x]) > threshold;
    if (fires && run < 0) run = x;
    if (!fires && run >= 0) {
      region.insert_span(y, run, x - 1);
      run = -1;
    }
  }
  if (run >= 0) region.insert_span(y, run, end - 1);
}

void Enlargement::paint(std::span<const float> map, float threshold, PixelSet& region) const {
  expects(region.side() == side(), "a region of {} pixels a side for one of {}", region.side(),
          side());
  region.clear();
  const auto matters = [&](float cell) { return cell > threshold; };
  for_each_square(map, matters, [&](int64_t i, int64_t j) {
    for (int64_t y = first_[i]; y < first_[i + 1]; ++y) paint_row(map, threshold, y, j, region);
  });
}

PixelSet Enlargement::sampled(const PixelSet& pixels) const {
  if (step_ == 1) return pixels;
  PixelSet set(side());
  if (pixels.empty()) return set;
  for (int64_t y = 0; y < side(); ++y) {
    for (int64_t x = 0; x < side(); ++x) {
      if (pixels.contains(samples_[x].pixel, samples_[y].pixel)) set.insert(x, y);
    }
  }
  return set;
}

}  // namespace partwise::metrics
