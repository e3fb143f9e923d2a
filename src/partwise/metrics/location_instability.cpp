#include "partwise/metrics/location_instability.h"

#include "partwise/base/error.h"
#include "partwise/base/parallel.h"
#include "partwise/metrics/permutations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace partwise::metrics {
namespace {

constexpr uint64_t kInstabilityStream = 0x696e7374;
constexpr int64_t kShufflesPerResample = 4;

double diagonal_of(const Truth& truth) {
  return static_cast<double>(truth.input_side) * std::numbers::sqrt2;
}

// Everything that does not change between resamples. Positions are in units of the diagonal.
struct Scene {
  int64_t rows = 0;
  const MapSummaries& maps;
  std::vector<Point> centres;                 // [cell]
  std::vector<Point> places;                  // [filters, rows]; empty: the peaks' centres
  std::vector<std::vector<Point>> landmarks;  // [landmark of the row's category][row]
  std::vector<std::vector<uint8_t>> single;   // the same: exactly one visible instance?
  std::vector<int64_t> landmark_count;        // [category]
  std::vector<std::vector<int64_t>> rows_of_category;
};

void locate_landmarks(const Truth& truth, Scene& scene) {
  int64_t most = 0;
  for (const auto& category : truth.categories) {
    scene.landmark_count.push_back(std::ssize(category.landmarks));
    most = std::max(most, scene.landmark_count.back());
  }
  const double diagonal = diagonal_of(truth);
  scene.landmarks.assign(most, std::vector<Point>(truth.rows.size()));
  scene.single.assign(most, std::vector<uint8_t>(truth.rows.size()));
  for (std::size_t row = 0; row < truth.rows.size(); ++row) {
    if (truth.rows[row].category < 0) continue;
    const auto& instances = truth.rows[row].landmarks;
    for (std::size_t k = 0; k < instances.size(); ++k) {
      if (instances[k].size() != 1) continue;
      scene.single[k][row] = 1;
      scene.landmarks[k][row] = {instances[k][0].x / diagonal, instances[k][0].y / diagonal};
    }
  }
}

Scene make_scene(const MapSummaries& maps,
                 const UnitGrid& grid,
                 const Truth& truth,
                 std::span<const Point> places) {
  Scene scene{maps.rows, maps, {}, {}, {}, {}, {}, {}};
  const double diagonal = diagonal_of(truth);
  for (int64_t cell = 0; cell < maps.side * maps.side; ++cell) {
    const auto centre = grid.centre(cell / maps.side, cell % maps.side);
    scene.centres.push_back({centre.x / diagonal, centre.y / diagonal});
  }
  for (const auto& place : places) scene.places.push_back({place.x / diagonal, place.y / diagonal});
  scene.rows_of_category = rows_by_category(truth);
  locate_landmarks(truth, scene);
  return scene;
}

// [landmark][place]: the rows with a single instance of it, the strongest peak first.
using Ranking = std::vector<std::vector<int32_t>>;

Ranking rank_rows(const Scene& scene, int64_t filter, int64_t category) {
  const auto order = by_strength(scene.maps.peaks_of(filter), scene.rows_of_category[category]);
  Ranking ranking(static_cast<std::size_t>(scene.landmark_count[category]));
  for (std::size_t k = 0; k < ranking.size(); ++k) {
    std::copy_if(order.begin(), order.end(), std::back_inserter(ranking[k]),
                 [&](int32_t row) { return scene.single[k][row] != 0; });
  }
  return ranking;
}

// Peaks and landmarks of the rows that enter D_{f,k}, a row drawn twice standing there twice.
struct Pairs {
  std::vector<Point> peaks;
  std::vector<double> landmark_x;
  std::vector<double> landmark_y;

  [[nodiscard]] std::size_t size() const { return peaks.size(); }
};

// x and y: peaks, [count]; they become distances from the landmarks, in x. Returns how many were
// done: four at a time where the machine can, with the bits of one at a time.
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) std::size_t measure_by_four(
    double* x, const double* y, const double* to_x, const double* to_y, std::size_t count) {
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const __m256d dx = _mm256_sub_pd(_mm256_loadu_pd(x + i), _mm256_loadu_pd(to_x + i));
    const __m256d dy = _mm256_sub_pd(_mm256_loadu_pd(y + i), _mm256_loadu_pd(to_y + i));
    const __m256d square = _mm256_add_pd(_mm256_mul_pd(dx, dx), _mm256_mul_pd(dy, dy));
    _mm256_storeu_pd(x + i, _mm256_sqrt_pd(square));
  }
  return i;
}

bool can_measure_by_four() {
  static const bool can = __builtin_cpu_supports("avx2") != 0;
  return can;
}
#else
std::size_t measure_by_four(double*, const double*, const double*, const double*, std::size_t) {
  return 0;
}

bool can_measure_by_four() {
  return false;
}
#endif

void measure_distances(
    double* x, const double* y, const double* to_x, const double* to_y, std::size_t count) {
  std::size_t i = can_measure_by_four() ? measure_by_four(x, y, to_x, to_y, count) : 0;
  for (; i < count; ++i) {
    const double dx = x[i] - to_x[i];
    const double dy = y[i] - to_y[i];
    x[i] = std::sqrt(dx * dx + dy * dy);
  }
}

// The distances |p_k - p| of several pairings, a column each.
class DistanceColumns {
 public:
  void clear() { used_ = 0; }

  // peak(i) is held against landmark i.
  template <typename Peak>
  void add(const Pairs& pairs, const Peak& peak) {
    if (used_ == columns_.size()) columns_.emplace_back();
    auto& column = columns_[used_++];
    column.resize(pairs.size());
    y_.resize(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const Point at = peak(i);
      column[i] = at.x;
      y_[i] = at.y;
    }
    measure_distances(column.data(), y_.data(), pairs.landmark_x.data(), pairs.landmark_y.data(),
                      pairs.size());
  }

  std::span<const double> deviations() {
    spans_.assign(columns_.begin(), columns_.begin() + static_cast<std::ptrdiff_t>(used_));
    deviations_.resize(used_);
    sample_deviations(spans_, deviations_);
    return deviations_;
  }

 private:
  std::size_t used_ = 0;
  std::vector<std::vector<double>> columns_;
  std::vector<double> y_;
  std::vector<std::span<const double>> spans_;
  std::vector<double> deviations_;
};

double deviation_of(const Pairs& pairs) {
  thread_local DistanceColumns distances;
  distances.clear();
  distances.add(pairs, [&](std::size_t i) { return pairs.peaks[i]; });
  return distances.deviations().front();
}

// What to measure, in which sample.
struct Sample {
  const Scene& scene;
  std::span<const int32_t> row_counts;
  int64_t top_images = 0;
};

void select_pairs(const Sample& sample,
                  int64_t filter,
                  int64_t landmark,
                  const std::vector<int32_t>& ranked,
                  Pairs& pairs) {
  const Scene& scene = sample.scene;
  const auto cells = scene.maps.cells_of(filter);
  const auto& landmarks = scene.landmarks[landmark];
  const int64_t most = std::min(sample.top_images, scene.rows);
  const bool at_units = scene.places.empty();
  const Point* centres =
      at_units ? scene.centres.data() : scene.places.data() + filter * scene.rows;
  // Most rows were drawn twice at most: both are written, and the second is written over where it
  // does not count, which no branch has to foresee.
  const auto room = static_cast<std::size_t>(most) + 2;
  pairs.peaks.resize(room);
  pairs.landmark_x.resize(room);
  pairs.landmark_y.resize(room);
  int64_t taken = 0;
  for (const int32_t row : ranked) {
    const Point peak = centres[at_units ? cells[row] : row];
    const Point mark = landmarks[row];
    const int64_t count = sample.row_counts[row];
    const auto put = [&](int64_t i) {
      pairs.peaks[i] = peak;
      pairs.landmark_x[i] = mark.x;
      pairs.landmark_y[i] = mark.y;
    };
    const int64_t end = std::min(most, taken + count);
    put(taken);
    put(taken + 1);
    for (int64_t i = taken + 2; i < end; ++i) put(i);
    taken = end;
    if (taken == most) break;
  }
  pairs.peaks.resize(taken);
  pairs.landmark_x.resize(taken);
  pairs.landmark_y.resize(taken);
}

// Their mean over `shuffles` permutations, about `own`, so that equal peaks give `own` to the last
// bit: it is the peaks that move.
double mean_about(double own, std::span<const double> deviations) {
  double excess = 0.0;
  for (const double deviation : deviations) excess += deviation - own;
  return own + excess / static_cast<double>(deviations.size());
}

// Mean deviation over `shuffles` permutations; leaves the peaks shuffled.
double shuffled_deviation(Pairs& pairs, double own, int64_t shuffles, Random& random) {
  DistanceColumns distances;
  for (int64_t s = 0; s < shuffles; ++s) {
    shuffle(pairs.peaks, random);
    distances.add(pairs, [&](std::size_t i) { return pairs.peaks[i]; });
  }
  return mean_about(own, distances.deviations());
}

double random_deviation(Pairs& pairs, const Scene& scene, int64_t draws, Random& random) {
  ExistingMean mean;
  for (int64_t i = 0; i < draws; ++i) {
    for (auto& peak : pairs.peaks) peak = scene.centres[random.below(std::ssize(scene.centres))];
    mean.add(deviation_of(pairs));
  }
  return mean.value();
}

double constant_deviation(Pairs& pairs, Point where) {
  std::fill(pairs.peaks.begin(), pairs.peaks.end(), where);
  return deviation_of(pairs);
}

// The pairs of a filter with each landmark, and what is computed of them.
struct Desk {
  std::vector<Pairs> pairs;
  std::vector<Point> moved;
  DistanceColumns own;
  DistanceColumns shuffled;
};

struct FilterRatio {
  double instability = kNaN;
  double ratio = kNaN;
};

// D_f and D_f / D_shuffle,f in a draw of rows.
FilterRatio filter_ratio(const Sample& sample,
                         int64_t filter,
                         const Ranking& ranking,
                         int64_t shuffles,
                         Permutations& permutations) {
  thread_local Desk desk;
  desk.pairs.resize(ranking.size());
  desk.own.clear();
  for (std::size_t k = 0; k < ranking.size(); ++k) {
    auto& pairs = desk.pairs[k];
    select_pairs(sample, filter, static_cast<int64_t>(k), ranking[k], pairs);
    desk.own.add(pairs, [&](std::size_t i) { return pairs.peaks[i]; });
  }
  ExistingMean instability;
  ExistingMean shuffled;
  const auto own = desk.own.deviations();
  for (std::size_t k = 0; k < ranking.size(); ++k) {
    const auto& pairs = desk.pairs[k];
    if (pairs.size() < 2) continue;
    const auto& orders =
        permutations.of(static_cast<int64_t>(k), std::ssize(pairs.peaks), filter, shuffles);
    desk.moved.resize(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) desk.moved[i] = pairs.peaks[orders.first[i]];
    desk.shuffled.clear();
    for (const auto& order : orders.seconds)
      desk.shuffled.add(pairs, [&](std::size_t i) { return desk.moved[order[i]]; });
    instability.add(own[k]);
    shuffled.add(mean_about(own[k], desk.shuffled.deviations()));
  }
  return {instability.value(), quotient(instability.value(), shuffled.value())};
}

struct FilterFinding {
  FilterInstability filter;
  Ranking ranking;
  double shuffled = kNaN;
  double centred = kNaN;
  double random = kNaN;
};

int64_t steadiest_category(const Sample& sample, int64_t filter) {
  Pairs pairs;
  int64_t best = -1;
  double lowest = std::numeric_limits<double>::infinity();
  for (int64_t category = 0; category < std::ssize(sample.scene.rows_of_category); ++category) {
    const auto ranking = rank_rows(sample.scene, filter, category);
    ExistingMean instability;
    for (int64_t k = 0; k < std::ssize(ranking); ++k) {
      select_pairs(sample, filter, k, ranking[k], pairs);
      instability.add(deviation_of(pairs));
    }
    if (!(instability.value() < lowest)) continue;
    lowest = instability.value();
    best = category;
  }
  return best;
}

FilterFinding measure_filter(const Sample& sample,
                             int64_t filter,
                             int64_t category,
                             Point centre,
                             int64_t shuffles,
                             Random random) {
  FilterFinding found;
  found.filter.category = category;
  if (category < 0) return found;
  found.ranking = rank_rows(sample.scene, filter, category);
  Pairs pairs;
  ExistingMean instability;
  ExistingMean shuffled;
  ExistingMean centred;
  ExistingMean at_random;
  for (int64_t k = 0; k < std::ssize(found.ranking); ++k) {
    select_pairs(sample, filter, k, found.ranking[k], pairs);
    const double own = deviation_of(pairs);
    found.filter.by_landmark.push_back(own);
    instability.add(own);
    shuffled.add(shuffled_deviation(pairs, own, shuffles, random));
    at_random.add(random_deviation(pairs, sample.scene, shuffles, random));
    centred.add(constant_deviation(pairs, centre));
  }
  found.filter.instability = instability.value();
  found.shuffled = shuffled.value();
  found.filter.ratio = quotient(found.filter.instability, found.shuffled);
  found.centred = centred.value();
  found.random = at_random.value();
  return found;
}

// Both numbers in every draw: {D, ratio}.
std::vector<Draws> resampled(const Scene& scene,
                             const std::vector<FilterFinding>& found,
                             const InstabilityOptions& options,
                             const BootstrapOptions& bootstrap) {
  const int64_t shuffles = std::min(options.shuffles, kShufflesPerResample);
  const auto both = [&](std::span<const Resample> draws, std::span<double> numbers) {
    const Sample sample{scene, draws.front().rows, options.top_images};
    Permutations permutations(draws.front().seed);
    std::vector<ExistingMean> instability(draws.size());
    std::vector<ExistingMean> ratio(draws.size());
    for (int64_t f = 0; f < std::ssize(found); ++f) {
      const auto times = [&](const Resample& draw) { return draw.filters[f]; };
      if (std::none_of(draws.begin(), draws.end(), times)) continue;
      const auto one = filter_ratio(sample, f, found[f].ranking, shuffles, permutations);
      for (std::size_t d = 0; d < draws.size(); ++d) {
        instability[d].add(one.instability, times(draws[d]));
        ratio[d].add(one.ratio, times(draws[d]));
      }
    }
    for (std::size_t d = 0; d < draws.size(); ++d) {
      numbers[2 * d] = instability[d].value();
      numbers[2 * d + 1] = ratio[d].value();
    }
  };
  return resampled_together(2, scene.rows, std::ssize(found), bootstrap, both);
}

}  // namespace

LocationInstability location_instability(const MapSummaries& maps,
                                         const UnitGrid& grid,
                                         const Truth& truth,
                                         std::span<const int64_t> filter_category,
                                         const InstabilityOptions& options,
                                         const BootstrapOptions& bootstrap,
                                         std::span<const Point> places) {
  expect_consistent(maps);
  expects(places.empty() || std::ssize(places) == maps.filters * maps.rows,
          "{} places for {} filters and {} rows", places.size(), maps.filters, maps.rows);
  expect_matching(maps.rows, grid, truth);
  expect_categories(filter_category, maps.filters, truth);
  validate(options);
  const int threads = static_cast<int>(bootstrap.threads);
  const auto scene = make_scene(maps, grid, truth, places);
  const std::vector<int32_t> once(static_cast<std::size_t>(maps.rows), 1);
  const Sample sample{scene, once, options.top_images};
  const double middle = static_cast<double>(truth.input_side - 1) / 2.0 / diagonal_of(truth);
  std::vector<FilterFinding> found(static_cast<std::size_t>(maps.filters));
  parallel_for(maps.filters, threads, [&](int64_t f) {
    const int64_t category =
        filter_category[f] >= 0 ? filter_category[f] : steadiest_category(sample, f);
    found[f] = measure_filter(sample, f, category, {middle, middle}, options.shuffles,
                              control_random(bootstrap, kInstabilityStream, f));
  });

  ExistingMean instability;
  ExistingMean ratio;
  ExistingMean centred;
  ExistingMean at_random;
  ExistingMean shuffled;
  LocationInstability result;
  for (const auto& one : found) {
    instability.add(one.filter.instability);
    ratio.add(one.filter.ratio);
    centred.add(one.centred);
    at_random.add(one.random);
    shuffled.add(one.shuffled);
    result.filters.push_back(one.filter);
  }
  auto drawn = resampled(scene, found, options, bootstrap);
  const auto finding = [](const ExistingMean& mean, Draws draws) {
    return finding_within(mean.value(), centred_interval(mean.value(), std::move(draws)), 0.0);
  };
  result.instability = finding(instability, std::move(drawn[0]));
  result.instability.controls = {{"constant_centre", centred.value()},
                                 {"uniform_random", at_random.value()},
                                 {"shuffled_landmarks", shuffled.value()}};
  result.ratio = finding(ratio, std::move(drawn[1]));
  result.ratio.controls["constant_filter"] = 1.0;
  return result;
}

}  // namespace partwise::metrics
