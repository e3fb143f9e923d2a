#include "partwise/metrics/enlargement.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace partwise::metrics {
namespace {

constexpr std::size_t kWord = 64;

// AVX2 takes four doubles at a time, with the same bits. The thread sanitizer cannot run what
// chooses between clones before it has begun itself.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define PARTWISE_LINES __attribute__((target_clones("avx2", "default")))
#else
#define PARTWISE_LINES
#endif

PARTWISE_LINES void interpolate(
    const double* top, const double* bottom, double share, float* line, std::size_t count) {
  for (std::size_t x = 0; x < count; ++x)
    line[x] = static_cast<float>(top[x] + share * (bottom[x] - top[x]));
}

// Bit x: whether line[x] passes, for up to 64 values.
template <typename Passes>
uint64_t bits_of(std::span<const float> line, const Passes& passes) {
  uint64_t bits = 0;
  std::size_t x = 0;
#if defined(__SSE2__)
  for (; x + 4 <= line.size(); x += 4) {
    const auto four = static_cast<unsigned>(_mm_movemask_ps(passes(_mm_loadu_ps(&line[x]))));
    bits |= static_cast<uint64_t>(four) << x;
  }
#endif
  for (; x < line.size(); ++x) bits |= static_cast<uint64_t>(passes(line[x])) << x;
  return bits;
}

struct Above {
  float threshold;
  bool operator()(float value) const { return value > threshold; }
#if defined(__SSE2__)
  __m128 operator()(__m128 values) const {
    return _mm_cmpgt_ps(values, _mm_set1_ps(threshold));
  }
#endif
};

struct From {
  float least;
  bool operator()(float value) const { return value >= least; }
#if defined(__SSE2__)
  __m128 operator()(__m128 values) const {
    return _mm_cmpge_ps(values, _mm_set1_ps(least));
  }
#endif
};

// The first and the last of a row of cells that pass; first > last if none does.
struct Reach {
  int64_t first = 0;
  int64_t last = -1;
};

template <typename Matters>
Reach reach_of(const float* cells, int64_t side, const Matters& matters) {
  Reach reach{0, side - 1};
  while (reach.first < side && !matters(cells[reach.first])) ++reach.first;
  if (reach.first == side) return {side, -1};
  while (!matters(cells[reach.last])) --reach.last;
  return reach;
}

Reach joined(Reach a, Reach b) {
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}

}  // namespace

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
  std::vector<std::vector<double>> wide(static_cast<std::size_t>(map_side_));
  for (int64_t row = 0; row < map_side_; ++row) widen(map, row, 0, side(), wide[row]);
  for (std::size_t y = 0; y < width; ++y) {
    interpolate(wide[samples_[y].before].data(), wide[samples_[y].after].data(), samples_[y].share,
                enlarged.data() + y * width, width);
  }
}

// A row of cells, widened: pixels [first, end).
void Enlargement::widen(std::span<const float> map,
                        int64_t row,
                        int64_t first,
                        int64_t end,
                        std::vector<double>& wide) const {
  wide.resize(samples_.size());
  const float* cells = map.data() + row * map_side_;
  for (int64_t x = first; x < end; ++x) {
    const auto& sample = samples_[x];
    const double a = cells[sample.before];
    wide[x] = a + sample.share * (cells[sample.after] - a);
  }
}

// Rows of pixels between the outermost columns where a cell above or below passes `matters`, cut to
// 64: visit(y, x, values), values[k] that of pixel (x + k, y).
template <typename Matters, typename Visit>
void Enlargement::for_each_line(std::span<const float> map,
                                const Matters& matters,
                                const Visit& visit) const {
  int any = 0;
  for (const float cell : map) any |= matters(cell) ? 1 : 0;
  if (any == 0) return;
  thread_local std::vector<double> top;
  thread_local std::vector<double> bottom;
  std::array<float, kWord> line;
  thread_local std::vector<Reach> reaches;
  reaches.resize(static_cast<std::size_t>(map_side_));
  Reach widest{map_side_, -1};
  for (int64_t row = 0; row < map_side_; ++row) {
    reaches[row] = reach_of(map.data() + row * map_side_, map_side_, matters);
    widest = joined(widest, reaches[row]);
  }
  const int64_t last_square = std::ssize(first_) - 2;
  const auto start_of = [&](Reach reach) { return first_[std::max<int64_t>(reach.first - 1, 0)]; };
  const auto end_of = [&](Reach reach) { return first_[std::min(reach.last, last_square) + 1]; };
  int64_t widened = -1;  // the row of cells in `bottom`
  for (int64_t i = 0; i <= last_square; ++i) {
    const int64_t next = std::min(i + 1, map_side_ - 1);
    const Reach reach = joined(reaches[i], reaches[next]);
    if (reach.first > reach.last) continue;
    const int64_t start = start_of(reach);
    const int64_t end = end_of(reach);
    if (widened == i) {
      std::swap(top, bottom);
    } else {
      widen(map, i, start_of(widest), end_of(widest), top);
    }
    widen(map, next, start_of(widest), end_of(widest), bottom);
    widened = next;
    for (int64_t y = first_[i]; y < first_[i + 1]; ++y) {
      for (int64_t x = start; x < end; x += kWord) {
        const auto width = std::min(kWord, static_cast<std::size_t>(end - x));
        interpolate(&top[x], &bottom[x], samples_[y].share, line.data(), width);
        visit(y, x, std::span<const float>(line.data(), width));
      }
    }
  }
}

void Enlargement::append_from(std::span<const float> map,
                              float least,
                              std::vector<float>& values) const {
  const From from{least};
  for_each_line(map, from, [&](int64_t, int64_t, std::span<const float> line) {
    uint64_t bits = bits_of(line, from);
    if (bits == 0) return;
    const auto before = values.size();
    values.resize(before + static_cast<std::size_t>(std::popcount(bits)));
    for (float* value = values.data() + before; bits != 0; bits &= bits - 1)
      *value++ = line[static_cast<std::size_t>(std::countr_zero(bits))];
  });
}

void Enlargement::paint(std::span<const float> map, float threshold, PixelSet& region) const {
  expects(region.side() == side(), "a region of {} pixels a side for one of {}", region.side(),
          side());
  region.clear();
  const Above above{threshold};
  for_each_line(map, above, [&](int64_t y, int64_t x, std::span<const float> line) {
    region.insert_bits(y, x, bits_of(line, above));
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
