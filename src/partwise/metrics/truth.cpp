#include "partwise/metrics/truth.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace partwise::metrics {
namespace {

constexpr int64_t kWordBits = 64;

int64_t clipped(double value, int64_t side) {
  return static_cast<int64_t>(std::clamp(value, -1.0, static_cast<double>(side)));
}

// Plain x86-64 counts bits by arithmetic; any machine of the last fifteen years has an instruction.
// The thread sanitizer cannot run what chooses between clones before it has begun itself.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define PARTWISE_COUNTS_BITS __attribute__((target_clones("popcnt", "default")))
#else
#define PARTWISE_COUNTS_BITS
#endif

PARTWISE_COUNTS_BITS int64_t bits_in(const uint64_t* words, int64_t count) {
  int64_t bits = 0;
  for (int64_t i = 0; i < count; ++i) bits += std::popcount(words[i]);
  return bits;
}

PARTWISE_COUNTS_BITS int64_t bits_in_both(const uint64_t* a, const uint64_t* b, int64_t count) {
  int64_t bits = 0;
  for (int64_t i = 0; i < count; ++i) bits += std::popcount(a[i] & b[i]);
  return bits;
}

}  // namespace

PixelSet::PixelSet(int64_t side)
    : side_(side),
      words_per_row_((side + kWordBits - 1) / kWordBits),
      words_(static_cast<std::size_t>(side * words_per_row_)) {}

void PixelSet::clear() {
  std::fill(words_.begin() + first_row_ * words_per_row_,
            words_.begin() + end_row_ * words_per_row_, 0);
  first_row_ = end_row_ = 0;
}

void PixelSet::occupy(int64_t first, int64_t end) {
  first_row_ = empty() ? first : std::min(first_row_, first);
  end_row_ = std::max(end_row_, end);
}

void PixelSet::insert(int64_t x, int64_t y) {
  expects(x >= 0 && y >= 0 && x < side_ && y < side_, "pixel ({}, {}) lies outside {} x {}", x, y,
          side_, side_);
  insert_span(y, x, x);
}

void PixelSet::insert_span(int64_t y, int64_t first, int64_t last) {
  occupy(y, y + 1);
  uint64_t* row = words_.data() + y * words_per_row_;
  const int64_t first_word = first / kWordBits;
  const int64_t last_word = last / kWordBits;
  for (int64_t word = first_word; word <= last_word; ++word) {
    uint64_t bits = ~uint64_t{0};
    if (word == first_word) bits <<= static_cast<unsigned>(first % kWordBits);
    if (word == last_word)
      bits &= ~uint64_t{0} >> static_cast<unsigned>(kWordBits - 1 - last % kWordBits);
    row[word] |= bits;
  }
}

void PixelSet::insert_bits(int64_t y, int64_t first, uint64_t bits) {
  if (bits == 0) return;
  occupy(y, y + 1);
  uint64_t* word = words_.data() + y * words_per_row_ + first / kWordBits;
  const auto shift = static_cast<unsigned>(first % kWordBits);
  word[0] |= bits << shift;
  const uint64_t beyond = shift == 0 ? 0 : bits >> (static_cast<unsigned>(kWordBits) - shift);
  if (beyond != 0) word[1] |= beyond;
}

void PixelSet::insert_disc(Point centre, double radius) {
  expects(radius >= 0.0, "a disc of radius {} cannot be", radius);
  const int64_t top = std::max<int64_t>(0, clipped(std::floor(centre.y - radius), side_));
  const int64_t bottom = std::min(side_ - 1, clipped(std::ceil(centre.y + radius), side_));
  for (int64_t y = top; y <= bottom; ++y) {
    const double dy = static_cast<double>(y) - centre.y;
    const auto within = [&](int64_t x) {
      const double dx = static_cast<double>(x) - centre.x;
      return dx * dx + dy * dy <= radius * radius;
    };
    // The root may round across a pixel on the rim, so start one outside and let `within` decide.
    const double half = std::sqrt(std::max(0.0, radius * radius - dy * dy));
    int64_t first = std::max<int64_t>(0, clipped(std::floor(centre.x - half), side_));
    int64_t last = std::min(side_ - 1, clipped(std::ceil(centre.x + half), side_));
    while (first <= last && !within(first)) ++first;
    while (first <= last && !within(last)) --last;
    if (first <= last) insert_span(y, first, last);
  }
}

void PixelSet::insert_all(const PixelSet& other) {
  if (other.empty()) return;
  expects(side_ == other.side_, "sets of {} and {} pixels a side do not mix", side_, other.side_);
  occupy(other.first_row_, other.end_row_);
  const int64_t end = other.end_row_ * words_per_row_;
  for (int64_t word = other.first_row_ * words_per_row_; word < end; ++word)
    words_[word] |= other.words_[word];
}

bool PixelSet::contains(int64_t x, int64_t y) const {
  if (x < 0 || y < 0 || x >= side_ || y >= side_) return false;
  const uint64_t word = words_[y * words_per_row_ + x / kWordBits];
  return ((word >> static_cast<unsigned>(x % kWordBits)) & 1U) != 0;
}

int64_t PixelSet::area() const {
  return bits_in(words_.data() + first_row_ * words_per_row_,
                 (end_row_ - first_row_) * words_per_row_);
}

int64_t intersection_area(const PixelSet& a, const PixelSet& b) {
  if (a.empty() || b.empty()) return 0;
  expects(a.side_ == b.side_, "sets of {} and {} pixels a side do not mix", a.side_, b.side_);
  const int64_t first = std::max(a.first_row_, b.first_row_);
  const int64_t end = std::max(first, std::min(a.end_row_, b.end_row_));
  return bits_in_both(a.words_.data() + first * a.words_per_row_,
                      b.words_.data() + first * a.words_per_row_, (end - first) * a.words_per_row_);
}

std::vector<std::vector<int64_t>> rows_by_category(const Truth& truth) {
  std::vector<std::vector<int64_t>> rows(truth.categories.size());
  for (int64_t row = 0; row < std::ssize(truth.rows); ++row) {
    const int64_t category = truth.rows[row].category;
    if (category >= 0) rows[category].push_back(row);
  }
  return rows;
}

void expect_consistent(const Truth& truth) {
  expects(truth.input_side > 0, "an input of {} pixels a side cannot be", truth.input_side);
  for (std::size_t i = 0; i < truth.rows.size(); ++i) {
    const auto& row = truth.rows[i];
    if (row.category < 0) continue;
    expects(row.category < std::ssize(truth.categories), "row {}: no category {}", i, row.category);
    const auto& category = truth.categories[row.category];
    expects(row.landmarks.size() == category.landmarks.size(),
            "row {}: {} landmarks where category '{}' has {}", i, row.landmarks.size(),
            category.name, category.landmarks.size());
    expects(row.parts.size() == category.parts.size(),
            "row {}: {} parts where category '{}' has {}", i, row.parts.size(), category.name,
            category.parts.size());
    for (const auto& part : row.parts) {
      expects(part.empty() || part.side() == truth.input_side,
              "row {}: a part mask of {} pixels a side in an input of {}", i, part.side(),
              truth.input_side);
    }
  }
}

void expect_matching(int64_t rows, const UnitGrid& grid, const Truth& truth) {
  expect_consistent(truth);
  expects(rows == std::ssize(truth.rows), "{} rows of maps, {} rows of truth", rows,
          truth.rows.size());
  expects(grid.input_side == truth.input_side, "maps of inputs of {} pixels, truth of {}",
          grid.input_side, truth.input_side);
}

void expect_categories(std::span<const int64_t> filter_category,
                       int64_t filters,
                       const Truth& truth) {
  expects(filters == std::ssize(filter_category), "{} categories for {} filters",
          filter_category.size(), filters);
  for (const int64_t category : filter_category)
    expects(category < std::ssize(truth.categories), "no category {}", category);
}

std::vector<std::size_t> derangement(std::size_t count, Random& random) {
  std::vector<std::size_t> ring(count);
  std::iota(ring.begin(), ring.end(), std::size_t{0});
  shuffle(ring, random);
  std::vector<std::size_t> partner(count);
  for (std::size_t i = 0; i < count; ++i) partner[ring[i]] = ring[(i + 1) % count];
  return partner;
}

std::vector<int64_t> other_rows(const Truth& truth, Random random) {
  std::vector<int64_t> other(truth.rows.size());
  std::iota(other.begin(), other.end(), int64_t{0});
  for (const auto& rows : rows_by_category(truth)) {
    const auto partner = derangement(rows.size(), random);
    for (std::size_t i = 0; i < rows.size(); ++i) other[rows[i]] = rows[partner[i]];
  }
  return other;
}

}  // namespace partwise::metrics
