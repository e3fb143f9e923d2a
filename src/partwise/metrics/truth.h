#pragma once

#include "partwise/base/geometry.h"

#include <cstdint>
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
  void insert_span(int64_t y, int64_t first, int64_t last);  // 0 <= first <= last < side
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
double intersection_over_union(const PixelSet& a, const PixelSet& b);  // 0 when both are empty

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

}  // namespace partwise::metrics
