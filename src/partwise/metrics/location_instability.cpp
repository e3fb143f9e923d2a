#include "partwise/metrics/location_instability.h"

#include "partwise/base/error.h"
#include "partwise/base/parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace partwise::metrics {
namespace {

constexpr uint64_t kInstabilityStream = 0x696e7374;
constexpr int64_t kShufflesPerResample = 4;

double distance(Point a, Point b) {
  return std::sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
}

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
  std::span<const Point> centres;
  std::vector<int32_t> peaks;  // index into centres
  std::vector<Point> landmarks;
  std::vector<double> distances;

  double deviation() {
    distances.resize(peaks.size());
    for (std::size_t i = 0; i < peaks.size(); ++i)
      distances[i] = distance(centres[peaks[i]], landmarks[i]);
    return sample_deviation(distances);
  }
};

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
  pairs.centres = at_units ? std::span(scene.centres)
                           : std::span(scene.places).subspan(filter * scene.rows, scene.rows);
  pairs.peaks.resize(most);
  pairs.landmarks.resize(most);
  int64_t taken = 0;
  for (const int32_t row : ranked) {
    const int64_t end = std::min<int64_t>(most, taken + sample.row_counts[row]);
    for (; taken < end; ++taken) {
      pairs.peaks[taken] = at_units ? cells[row] : row;
      pairs.landmarks[taken] = landmarks[row];
    }
    if (taken == most) break;
  }
  pairs.peaks.resize(taken);
  pairs.landmarks.resize(taken);
}

// Mean deviation over `shuffles` permutations; leaves the peaks shuffled. It is the peaks that
// move, and the mean is taken about `own`, so that equal peaks give `own` to the last bit.
double shuffled_deviation(Pairs& pairs, double own, int64_t shuffles, Random& random) {
  thread_local std::vector<Columns> distances;
  distances.resize(pairs.peaks.size());
  double excess = 0.0;
  for (int64_t done = 0; done < shuffles;) {
    const int64_t columns = std::min<int64_t>(shuffles - done, kColumns);
    for (int64_t c = 0; c < columns; ++c) {
      shuffle(pairs.peaks, random);
      for (std::size_t i = 0; i < pairs.peaks.size(); ++i) {
        distances[i][static_cast<std::size_t>(c)] =
            distance(pairs.centres[pairs.peaks[i]], pairs.landmarks[i]);
      }
    }
    const auto deviations = sample_deviations(distances);
    for (int64_t c = 0; c < columns; ++c) excess += deviations[static_cast<std::size_t>(c)] - own;
    done += columns;
  }
  return own + excess / static_cast<double>(shuffles);
}

double random_deviation(Pairs& pairs, const Scene& scene, int64_t draws, Random& random) {
  ExistingMean mean;
  pairs.centres = scene.centres;
  for (int64_t i = 0; i < draws; ++i) {
    for (auto& peak : pairs.peaks)
      peak = static_cast<int32_t>(random.below(std::ssize(scene.centres)));
    mean.add(pairs.deviation());
  }
  return mean.value();
}

double constant_deviation(const Pairs& pairs, Point where) {
  std::vector<double> distances;
  distances.reserve(pairs.landmarks.size());
  for (const auto& landmark : pairs.landmarks) distances.push_back(distance(where, landmark));
  return sample_deviation(distances);
}

// One draw of filters at work: permutations come from its own generator, in the filters' order.
struct FilterDraw {
  std::span<const int32_t> filters;
  Random random;
  ExistingMean instability = {};
  ExistingMean ratio = {};
};

// D_f and D_f / D_shuffle,f for the draws that hold the filter; which pairs count depends on the
// rows alone.
void add_filter(const Sample& sample,
                int64_t filter,
                const Ranking& ranking,
                int64_t shuffles,
                std::span<FilterDraw> draws) {
  thread_local Pairs pairs;
  thread_local std::vector<int32_t> peaks;
  ExistingMean instability;
  std::vector<ExistingMean> shuffled(draws.size());
  for (int64_t k = 0; k < std::ssize(ranking); ++k) {
    select_pairs(sample, filter, k, ranking[k], pairs);
    const double own = pairs.deviation();
    instability.add(own);
    peaks = pairs.peaks;
    for (std::size_t d = 0; d < draws.size(); ++d) {
      if (draws[d].filters[filter] == 0) continue;
      pairs.peaks = peaks;
      shuffled[d].add(shuffled_deviation(pairs, own, shuffles, draws[d].random));
    }
  }
  for (std::size_t d = 0; d < draws.size(); ++d) {
    draws[d].instability.add(instability.value(), draws[d].filters[filter]);
    draws[d].ratio.add(quotient(instability.value(), shuffled[d].value()),
                       draws[d].filters[filter]);
  }
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
      instability.add(pairs.deviation());
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
    const double own = pairs.deviation();
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
    std::vector<FilterDraw> work;
    for (const auto& draw : draws) work.push_back({draw.filters, Random(draw.seed)});
    for (int64_t f = 0; f < std::ssize(found); ++f) {
      const auto times = [&](const Resample& draw) { return draw.filters[f]; };
      if (std::any_of(draws.begin(), draws.end(), times))
        add_filter(sample, f, found[f].ranking, shuffles, work);
    }
    for (std::size_t d = 0; d < work.size(); ++d) {
      numbers[2 * d] = work[d].instability.value();
      numbers[2 * d + 1] = work[d].ratio.value();
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
