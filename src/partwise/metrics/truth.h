#pragma once

#include "partwise/base/geometry.h"
#include "partwise/base/random.h"
#include "partwise/metrics/maps.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace partwise::metrics {

// A set of pixels of a square picture, 64 to a word, every row starting on a new word, so that
// areas and intersections are popcounts. It knows the band of rows it occupies and works on those
// only, so that small sets in large pictures are cheap.
class PixelSet {
 public:
  PixelSet() = default;
  explicit PixelSet(int64_t side);

  void clear();
  void insert(int64_t x, int64_t y);
  void insert_span(int64_t y, int64_t first, int64_t last);   // 0 <= first <= last < side
  void insert_bits(int64_t y, int64_t first, uint64_t bits);  // bit i: pixel first + i, < side
  void insert_disc(Point centre,
                   double radius);  // pixels whose centre is within radius (<=); clipped
  void insert_all(const PixelSet& other);
  [[nodiscard]] bool contains(int64_t x, int64_t y) const;
  [[nodiscard]] int64_t area() const;
  [[nodiscard]] int64_t side() const { return side_; }
  [[nodiscard]] bool empty() const { return first_row_ >= end_row_; }

 private:
  friend int64_t intersection_area(const PixelSet& a, const PixelSet& b);
  void occupy(int64_t first, int64_t end);

  int64_t side_ = 0;
  int64_t words_per_row_ = 0;
  int64_t first_row_ = 0;  // every pixel lies in rows [first_row_, end_row_)
  int64_t end_row_ = 0;
  std::vector<uint64_t> words_;
};

int64_t intersection_area(const PixelSet& a, const PixelSet& b);

struct CategoryTruth {
  std::string name;
  std::vector<std::string> landmarks;
  std::vector<std::string> parts;
};

// What is known of one row, in pixels of the network's input.
struct RowTruth {
  int64_t category = -1;                      // index into Truth::categories; -1: no object
  std::vector<std::vector<Point>> landmarks;  // [landmark of the category][visible instance]
  std::vector<PixelSet> parts;                // [part of the category]; empty set: absent
};

struct Truth {
  int64_t input_side = 0;
  std::vector<CategoryTruth> categories;
  std::vector<RowTruth> rows;
};

// The rows of each category, in order.
std::vector<std::vector<int64_t>> rows_by_category(const Truth& truth);

// Holds the caller to the shapes above.
void expect_consistent(const Truth& truth);

// The same, and to maps that speak of the same rows and input.
void expect_matching(int64_t rows, const UnitGrid& grid, const Truth& truth);

// One category a filter: index into truth.categories or -1.
void expect_categories(std::span<const int64_t> filter_category,
                       int64_t filters,
                       const Truth& truth);

// A partner for each of `count` items, every item being the partner of one: a random order in which
// nobody keeps his place (but for a single item, which must).
std::vector<std::size_t> derangement(std::size_t count, Random& random);

// [rows]: one other row of the same category for every row; rows without an object keep themselves.
std::vector<int64_t> other_rows(const Truth& truth, Random random);

}  // namespace partwise::metrics
