#include "partwise/explaining/naming.h"

#include "partwise/base/error.h"
#include "partwise/base/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace partwise::explaining {
namespace {

// What the rows of a category can be asked about.
struct Sight {
  const metrics::Truth& truth;
  const metrics::CategoryTruth& category;
  NameSource source;
  double reach;  // pixels
  double least_share;
  double nearest;  // pixels

  const std::vector<std::string>& names() const {
    return source == NameSource::regions ? category.parts : category.landmarks;
  }

  // Index into names(); -1: none.
  int64_t part_at(Point place, const metrics::RowTruth& row) const {
    return source == NameSource::regions ? region_at(place, row) : landmark_at(place, row);
  }

 private:
  int64_t region_at(Point place, const metrics::RowTruth& row) const {
    metrics::PixelSet disc(truth.input_side);
    disc.insert_disc(place, reach);
    int64_t best = -1;
    auto most = static_cast<int64_t>(std::ceil(least_share * static_cast<double>(disc.area())));
    for (std::size_t k = 0; k < row.parts.size(); ++k) {
      const int64_t both = metrics::intersection_area(disc, row.parts[k]);
      if (both < std::max<int64_t>(most, 1)) continue;
      most = both + 1;
      best = static_cast<int64_t>(k);
    }
    return best;
  }

  int64_t landmark_at(Point place, const metrics::RowTruth& row) const {
    int64_t best = -1;
    double least = nearest;
    for (std::size_t k = 0; k < row.landmarks.size(); ++k) {
      for (const auto& point : row.landmarks[k]) {
        const double distance = std::hypot(point.x - place.x, point.y - place.y);
        if (distance > least) continue;
        least = distance;
        best = static_cast<int64_t>(k);
      }
    }
    return best;
  }
};

bool shows_regions(const metrics::Truth& truth, std::span<const int64_t> rows) {
  return std::any_of(rows.begin(), rows.end(), [&](int64_t row) {
    const auto& parts = truth.rows[static_cast<std::size_t>(row)].parts;
    return std::any_of(parts.begin(), parts.end(), [](const auto& part) { return !part.empty(); });
  });
}

// Shares of the sightings on each part, and of the same places over other rows.
struct Tally {
  std::vector<double> rate;
  std::vector<double> control;
};

Tally tally(const Sight& sight,
            std::span<const Sighting> sightings,
            std::span<const int64_t> rows,
            const NamingOptions& options,
            Random random) {
  Tally counted{std::vector<double>(sight.names().size()),
                std::vector<double>(sight.names().size())};
  const auto add = [&](int64_t row, Point place, double weight, std::vector<double>& to) {
    const int64_t part = sight.part_at(place, sight.truth.rows[static_cast<std::size_t>(row)]);
    if (part >= 0) to[static_cast<std::size_t>(part)] += weight;
  };
  const double each = 1.0 / static_cast<double>(sightings.size());
  for (const auto& [row, place] : sightings) {
    add(row, place, each, counted.rate);
    for (int64_t i = 0; i < options.others; ++i) {
      const auto other = rows[static_cast<std::size_t>(random.below(std::ssize(rows)))];
      add(other, place, each / static_cast<double>(options.others), counted.control);
    }
  }
  return counted;
}

}  // namespace

std::vector<FilterName> name_by_truth(std::span<const std::vector<Sighting>> sightings,
                                      std::span<const int64_t> filter_category,
                                      const metrics::Truth& truth,
                                      const NamingOptions& options) {
  const auto rows = metrics::rows_by_category(truth);
  const auto side = static_cast<double>(truth.input_side);
  std::vector<FilterName> named;
  for (std::size_t filter = 0; filter < sightings.size(); ++filter) {
    auto& name = named.emplace_back();
    name.category = filter_category[filter];
    name.sightings = std::ssize(sightings[filter]);
    if (name.category < 0 || name.sightings == 0) continue;
    const auto& own_rows = rows[static_cast<std::size_t>(name.category)];
    const auto source =
        shows_regions(truth, own_rows) ? NameSource::regions : NameSource::landmarks;
    const Sight sight{truth,
                      truth.categories[static_cast<std::size_t>(name.category)],
                      source,
                      options.reach * side,
                      options.least_share,
                      options.nearest * side};
    const auto found = tally(sight, sightings[filter], own_rows, options,
                             Random(derive_seed({options.seed, filter})));
    double largest = 0.0;
    for (std::size_t k = 0; k < found.rate.size(); ++k) {
      const double lift = found.rate[k] - found.control[k];
      const double chance = std::clamp(found.control[k], 0.02, 0.98);
      const double error = std::sqrt(chance * (1.0 - chance) / static_cast<double>(name.sightings));
      if (found.rate[k] < options.least_rate || lift < 2.0 * error || lift <= largest) continue;
      largest = lift;
      name.name = sight.names()[k];
      name.source = source;
      name.rate = found.rate[k];
      name.control = found.control[k];
    }
  }
  return named;
}

namespace {

// Mean distance of two filters' sightings on the rows both fire on; nothing where there are fewer
// than two.
std::optional<double> distance_on_shared_rows(const std::map<int64_t, Point>& a,
                                              const std::map<int64_t, Point>& b) {
  double sum = 0.0;
  double shared = 0.0;
  for (const auto& [row, place] : a) {
    const auto found = b.find(row);
    if (found == b.end()) continue;
    sum += std::hypot(place.x - found->second.x, place.y - found->second.y);
    shared += 1.0;
  }
  if (shared < 2.0) return std::nullopt;
  return sum / shared;
}

// Average linkage: joins the closest two groups until none are closer than `limit`. Ties: the
// first.
std::vector<std::vector<std::size_t>> joined_groups(
    std::size_t count,
    double limit,
    const std::function<double(std::size_t, std::size_t)>& distance) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < count; ++i) groups.push_back({i});
  std::vector<std::vector<double>> apart(count, std::vector<double>(count));
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < a; ++b) apart[a][b] = apart[b][a] = distance(a, b);
  }
  while (groups.size() > 1) {
    std::size_t first = 0;
    std::size_t second = 0;
    double least = limit;
    for (std::size_t a = 0; a < groups.size(); ++a) {
      for (std::size_t b = a + 1; b < groups.size(); ++b) {
        if (apart[a][b] >= least) continue;
        least = apart[a][b];
        first = a;
        second = b;
      }
    }
    if (first == second) break;
    const auto weight = [&](std::size_t g) { return static_cast<double>(groups[g].size()); };
    const double share = weight(first) / (weight(first) + weight(second));
    for (std::size_t other = 0; other < groups.size(); ++other) {
      const double mean = share * apart[first][other] + (1.0 - share) * apart[second][other];
      apart[first][other] = apart[other][first] = mean;
    }
    groups[first].insert(groups[first].end(), groups[second].begin(), groups[second].end());
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(second));
    apart.erase(apart.begin() + static_cast<std::ptrdiff_t>(second));
    for (auto& line : apart) line.erase(line.begin() + static_cast<std::ptrdiff_t>(second));
  }
  return groups;
}

// A, B, ... Z, AA, AB, ...
std::string letters(std::size_t index) {
  std::string word;
  for (std::size_t rest = index + 1; rest > 0; rest = (rest - 1) / 26)
    word.insert(word.begin(), static_cast<char>('A' + (rest - 1) % 26));
  return word;
}

}  // namespace

std::vector<FilterName> name_by_place(std::span<const std::vector<Sighting>> sightings,
                                      std::span<const int64_t> filter_category,
                                      int64_t input_side,
                                      const NamingOptions& options) {
  constexpr int64_t kLeastSightings = 3;
  std::vector<FilterName> named(sightings.size());
  std::map<int64_t, std::vector<std::size_t>> filters_of;
  std::vector<std::map<int64_t, Point>> places(sightings.size());
  for (std::size_t filter = 0; filter < sightings.size(); ++filter) {
    named[filter].category = filter_category[filter];
    named[filter].sightings = std::ssize(sightings[filter]);
    for (const auto& [row, place] : sightings[filter]) places[filter][row] = place;
    if (named[filter].sightings >= kLeastSightings && filter_category[filter] >= 0)
      filters_of[filter_category[filter]].push_back(filter);
  }
  const double limit = options.nearest * static_cast<double>(input_side);
  for (const auto& [category, filters] : filters_of) {
    auto groups = joined_groups(filters.size(), limit, [&](std::size_t a, std::size_t b) {
      const auto found = distance_on_shared_rows(places[filters[a]], places[filters[b]]);
      return found.value_or(2.0 * limit);
    });
    std::stable_sort(groups.begin(), groups.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const std::size_t member : groups[g]) {
        auto& name = named[filters[member]];
        name.name = "part " + letters(g);
        name.source = NameSource::place;
        name.rate = 1.0;
      }
    }
  }
  return named;
}

}  // namespace partwise::explaining
