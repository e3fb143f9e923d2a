#include "partwise/training/augmentation.h"

#include "partwise/base/parallel.h"
#include "partwise/base/random.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace partwise::training {
namespace {

constexpr uint64_t kLook = 1;          // of the seeds of scale and colour
constexpr int64_t kImagesAThread = 4;  // at least: starting one costs what moving an image does

struct Move {
  bool flip = false;
  int64_t right = 0;
  int64_t down = 0;
};

// Of the images from `first` on, of one stream for the whole batch.
std::vector<Move> draw_moves(int64_t jitter, uint64_t seed, int64_t first, int64_t count) {
  Random random(seed);
  std::vector<Move> moves;
  for (int64_t image = 0; image < first + count; ++image) {
    Move move;
    move.flip = random.chance(0.5);
    move.right = random.below(2 * jitter + 1) - jitter;
    move.down = random.below(2 * jitter + 1) - jitter;
    if (image >= first) moves.push_back(move);
  }
  return moves;
}

// Eight bytes at a time: compilers leave a loop backwards over bytes as it is.
void copy_reversed(const uint8_t* source, int64_t count, uint8_t* target) {
  uint64_t word = 0;
  for (; count >= 8; count -= 8, target += 8) {
    std::memcpy(&word, source + count - 8, 8);
    word = __builtin_bswap64(word);
    std::memcpy(target, &word, 8);
  }
  while (count > 0) *target++ = source[--count];
}

// A plane of an image, flipped and shifted, row by row.
class MovedPlane {
 public:
  MovedPlane(const uint8_t* plane, int64_t side, const Move& move)
      : plane_(plane),
        side_(side),
        flip_(move.flip),
        down_(move.down),
        right_(std::clamp(move.right, -side, side)),
        begin_(std::max<int64_t>(0, -right_)),
        end_(std::min(side, side - right_)) {}

  void copy_row(int64_t y, uint8_t* target) const {
    const auto* row = plane_ + std::clamp<int64_t>(y + down_, 0, side_ - 1) * side_;
    const auto* last = row + side_ - 1;
    std::fill(target, target + begin_, flip_ ? *last : *row);
    if (flip_) {
      copy_reversed(row + side_ - end_ - right_, end_ - begin_, target + begin_);
    } else {
      std::copy(row + begin_ + right_, row + end_ + right_, target + begin_);
    }
    std::fill(target + end_, target + side_, flip_ ? *row : *last);
  }

 private:
  const uint8_t* plane_;
  int64_t side_;
  bool flip_;
  int64_t down_;
  int64_t right_;
  int64_t begin_;  // of the columns that are no repeated edge
  int64_t end_;
};

// Where the output's rows and columns lie between the input's.
struct Places {
  std::vector<int32_t> low;
  std::vector<int32_t> high;
  std::vector<float> share;  // of high
};

Places scaled_places(int64_t side, double scale) {
  const double centre = 0.5 * static_cast<double>(side - 1);
  const auto last = static_cast<int32_t>(side - 1);
  Places places;
  for (int64_t x = 0; x < side; ++x) {
    const double at = std::clamp(centre + (static_cast<double>(x) - centre) / scale, 0.0,
                                 static_cast<double>(last));
    const auto low = static_cast<int32_t>(at);
    places.low.push_back(low);
    places.high.push_back(std::min(low + 1, last));
    places.share.push_back(static_cast<float>(at - std::floor(at)));
  }
  return places;
}

// __restrict: compilers cannot test places that come from a table for overlap with the output.
void scale_row(const float* __restrict row, const Places& places, float* __restrict scaled) {
  const auto* low = places.low.data();
  const auto* high = places.high.data();
  const auto* share = places.share.data();
  for (std::size_t x = 0; x < places.low.size(); ++x)
    scaled[x] = row[low[x]] * (1.0F - share[x]) + row[high[x]] * share[x];
}

// A row of the input scaled along x; kept, because neighbouring rows of the output share it.
class ScaledRow {
 public:
  explicit ScaledRow(std::size_t side) : bytes_(side), row_(side), scaled_(side) {}

  int64_t y() const { return y_; }
  const float* values() const { return scaled_.data(); }

  void take(const MovedPlane& plane, int64_t y, const Places& places) {
    if (y == y_) return;
    y_ = y;
    plane.copy_row(y, bytes_.data());
    std::copy(bytes_.begin(), bytes_.end(), row_.begin());
    scale_row(row_.data(), places, scaled_.data());
  }

 private:
  int64_t y_ = -1;
  std::vector<uint8_t> bytes_;
  std::vector<float> row_;
  std::vector<float> scaled_;
};

void mix_rows(
    const float* upper, const float* lower, float share, std::size_t side, uint8_t* target) {
  for (std::size_t x = 0; x < side; ++x) {
    const float value = upper[x] * (1.0F - share) + lower[x] * share + 0.5F;
    target[x] = static_cast<uint8_t>(static_cast<int32_t>(value));
  }
}

void rescale(const MovedPlane& plane, const Places& places, uint8_t* target) {
  const auto side = places.low.size();
  ScaledRow upper(side);
  ScaledRow lower(side);
  for (std::size_t y = 0; y < side; ++y, target += side) {
    if (lower.y() == places.low[y]) std::swap(upper, lower);
    upper.take(plane, places.low[y], places);
    lower.take(plane, places.high[y], places);
    mix_rows(upper.values(), lower.values(), places.share[y], side, target);
  }
}

uint8_t grey_level(float value) {
  const float positive = value > 0.0F ? value : 0.0F;
  return static_cast<uint8_t>(static_cast<int32_t>(positive < 255.0F ? positive : 255.0F));
}

// Saturation about each pixel's grey, contrast about the image's mean grey, then brightness; all
// together own * value + a share of the grey + a constant.
void recolour(uint8_t* image, int64_t cells, double saturation, double contrast, double light) {
  constexpr double kGrey[] = {0.299, 0.587, 0.114};
  double mean = 0.0;
  for (int64_t plane = 0; plane < 3; ++plane) {
    const auto* values = image + plane * cells;
    mean += kGrey[plane] * std::accumulate(values, values + cells, 0U);  // fits up to 4096 x 4096
  }
  mean /= static_cast<double>(cells);
  const auto own = static_cast<float>(light * contrast * saturation);
  const double grey = light * contrast * (1.0 - saturation);
  const auto of_red = static_cast<float>(grey * kGrey[0]);
  const auto of_green = static_cast<float>(grey * kGrey[1]);
  const auto of_blue = static_cast<float>(grey * kGrey[2]);
  const auto rest = static_cast<float>(light * (1.0 - contrast) * mean + 0.5);
  for (int64_t i = 0; i < cells; ++i) {
    const float red = image[i];
    const float green = image[cells + i];
    const float blue = image[2 * cells + i];
    const float common = of_red * red + of_green * green + of_blue * blue + rest;
    image[i] = grey_level(own * red + common);
    image[cells + i] = grey_level(own * green + common);
    image[2 * cells + i] = grey_level(own * blue + common);
  }
}

void show(const uint8_t* crop,
          int64_t side,
          const Move& move,
          const TrainOptions& options,
          Random look,
          uint8_t* image) {
  const auto cells = side * side;
  const auto around_one = [&](double reach) { return look.uniform(1.0 - reach, 1.0 + reach); };
  Places places;
  if (options.zoom > 0.0) places = scaled_places(side, around_one(options.zoom));
  for (int64_t plane = 0; plane < 3; ++plane) {
    const MovedPlane moved(crop + plane * cells, side, move);
    if (options.zoom > 0.0) {
      rescale(moved, places, image + plane * cells);
    } else {
      for (int64_t y = 0; y < side; ++y) moved.copy_row(y, image + plane * cells + y * side);
    }
  }
  if (options.colour > 0.0) {
    const double saturation = around_one(options.colour);
    const double contrast = around_one(options.colour);
    recolour(image, cells, saturation, contrast, around_one(options.colour));
  }
}

int useful_threads(int64_t images, int threads) {
  const int64_t most = threads > 0 ? threads : hardware_threads();
  return static_cast<int>(std::clamp<int64_t>(images / kImagesAThread, 1, most));
}

}  // namespace

void augment(const Tensor& pixels,
             const Tensor& rows,
             const TrainOptions& options,
             uint64_t seed,
             int64_t first,
             int threads,
             const Tensor& target) {
  const auto side = pixels.size(3);
  const auto bytes = 3 * side * side;
  const auto count = rows.numel();
  const auto moves = draw_moves(options.jitter, seed, first, count);
  const auto* row = rows.data_ptr<int64_t>();
  const auto* crops = pixels.data_ptr<uint8_t>();
  auto* images = target.data_ptr<uint8_t>();
  parallel_for(count, useful_threads(count, threads), [&](int64_t index) {
    const Random look(derive_seed({seed, kLook, static_cast<uint64_t>(first + index)}));
    show(crops + row[index] * bytes, side, moves[static_cast<std::size_t>(index)], options, look,
         images + index * bytes);
  });
}

namespace {

std::vector<int64_t> as_many(std::vector<int64_t> rows, int64_t count, Random& random) {
  if (count == 0 || rows.empty()) return rows;
  shuffle(rows, random);
  std::vector<int64_t> chosen;
  while (std::ssize(chosen) < count) {
    const auto more = std::min<std::ptrdiff_t>(std::ssize(rows), count - std::ssize(chosen));
    chosen.insert(chosen.end(), rows.begin(), rows.begin() + more);
  }
  return chosen;
}

}  // namespace

std::vector<int64_t> epoch_order(std::span<const int64_t> category,
                                 const TrainOptions& options,
                                 uint64_t seed) {
  std::vector<int64_t> positives;
  std::vector<int64_t> negatives;
  for (std::size_t row = 0; row < category.size(); ++row) {
    (category[row] < 0 ? negatives : positives).push_back(static_cast<int64_t>(row));
  }
  Random random(seed);
  auto order = as_many(std::move(positives), options.positives, random);
  const auto others = as_many(std::move(negatives), options.negatives, random);
  order.insert(order.end(), others.begin(), others.end());
  if (options.positives == 0 && options.negatives == 0) std::sort(order.begin(), order.end());
  shuffle(order, random);
  return order;
}

}  // namespace partwise::training
