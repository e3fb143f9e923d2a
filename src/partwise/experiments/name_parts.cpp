#include "partwise/experiments/name_parts.h"

#include "partwise/base/error.h"
#include "partwise/explaining/people_names.h"
#include "partwise/models/examples.h"
#include "partwise/models/run_data.h"
#include "partwise/views/markup.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace partwise::experiments {
namespace {

using explaining::LayerParts;
using explaining::PeopleNames;

void require_filter(const explaining::PartBook& book, const FilterWords& one) {
  std::string known;
  for (const auto& layer : book.layers) {
    if (layer.layer == one.layer) {
      ensure(one.filter < std::ssize(layer.filters), "layer {} has filters 0 to {}, not {}",
             one.layer, layer.filters.size() - 1, one.filter);
      return;
    }
    known += (known.empty() ? "" : ", ") + layer.layer;
  }
  throw Error(fmt::format("no layer '{}' in this run; it has {}", one.layer, known));
}

void change_words(const explaining::PartBook& book,
                  const std::vector<std::string>& given,
                  std::map<std::string, std::map<int64_t, std::string>>& words) {
  for (const auto& text : given) {
    const auto one = filter_words(text);
    require_filter(book, one);
    if (one.words.empty()) {
      words[one.layer].erase(one.filter);
    } else {
      words[one.layer][one.filter] = one.words;
    }
  }
}

void merge_parts(const std::string& text, PeopleNames& people) {
  const auto equals = text.rfind('=');
  ensure(equals != std::string::npos && equals + 1 < text.size() && equals > 0,
         "--merge {}: write it as PART+PART=PART, for example ears+muzzle=head", text);
  const auto into = text.substr(equals + 1);
  std::size_t start = 0;
  while (start < equals) {
    const auto end = std::min(text.find('+', start), equals);
    const auto part = text.substr(start, end - start);
    if (part != into) explaining::merge_part(people, part, into);
    start = end + 1;
  }
}

}  // namespace

FilterWords filter_words(const std::string& text) {
  const auto equals = text.find('=');
  const auto colon = text.rfind(':', equals);
  ensure(equals != std::string::npos && colon != std::string::npos && colon > 0,
         "{}: write it as LAYER:FILTER=WORDS, for example new:12=snout", text);
  FilterWords one{text.substr(0, colon), -1, text.substr(equals + 1)};
  const auto* end = text.data() + equals;
  const auto read = std::from_chars(text.data() + colon + 1, end, one.filter);
  ensure(read.ec == std::errc() && read.ptr == end && one.filter >= 0,
         "{}: '{}' is not the number of a filter", text,
         text.substr(colon + 1, equals - colon - 1));
  return one;
}

std::vector<NamedFilter> name_parts(const NamesRequest& request, const Machine& machine) {
  const auto run = runs::RunFolder::open(request.run);
  const auto resources = start_session(machine);
  explaining::LearningOptions learning;
  learning.by_place = request.by_place;
  const bool anew = request.learn || request.by_place;
  if (anew || !explaining::read_part_book(run, models::open_model(run, "last", request.data)))
    explaining::learn_part_book(models::data_of(run, request.data), run, resources, "last",
                                learning);
  const auto model = models::open_model(run);
  const auto found = explaining::read_part_book(run, model);
  ensure(found.has_value(), "{}: another process changed it meanwhile; run this again",
         request.run);
  const auto& book = *found;
  const bool changes =
      request.forget || !request.set.empty() || !request.note.empty() || !request.merge.empty();
  const auto change = [&](PeopleNames& said) {
    if (request.forget) said = {};
    change_words(book, request.set, said.names);
    change_words(book, request.note, said.notes);
    for (const auto& text : request.merge) merge_parts(text, said);
  };
  const auto people =
      changes ? explaining::change_people_names(run, change) : explaining::read_people_names(run);
  std::vector<NamedFilter> filters;
  for (const auto& layer : book.layers) {
    const auto called = explaining::called_names(layer, people);
    for (std::size_t i = 0; i < layer.filters.size(); ++i) {
      const auto& learnt = layer.filters[i];
      const auto number = static_cast<int64_t>(i);
      const auto* note = explaining::find_words(people.notes, layer.layer, number);
      const bool given = explaining::find_words(people.names, layer.layer, number) != nullptr;
      filters.push_back(
          {layer.layer, number,
           learnt.category >= 0
               ? model.design.task.categories[static_cast<std::size_t>(learnt.category)]
               : "",
           called[i], given || called[i] != learnt.name ? "people" : word_of(learnt.source),
           learnt.rate, learnt.control, learnt.sightings, note ? *note : ""});
    }
  }
  return filters;
}

std::string semantics_table(const std::vector<NamedFilter>& filters) {
  struct Row {
    std::string layer;
    std::string category;
    std::map<std::string, int64_t> counts;
    int64_t sum = 0;
  };
  std::vector<Row> rows;
  std::set<std::string> names;
  for (const auto& filter : filters) {
    auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& one) {
      return one.layer == filter.layer && one.category == filter.category;
    });
    if (row == rows.end()) row = rows.insert(rows.end(), {filter.layer, filter.category, {}, 0});
    ++row->counts[filter.name];
    ++row->sum;
    if (!filter.name.empty()) names.insert(filter.name);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::pair(a.layer, a.category) < std::pair(b.layer, b.category);
  });
  const auto cell = [](const std::string& words) {
    auto safe = views::escape_markup(words);
    std::replace(safe.begin(), safe.end(), '|', '/');
    std::replace(safe.begin(), safe.end(), '\n', ' ');
    return safe;
  };
  std::string table = "| layer | category | filters |";
  std::string rule = "|---|---|---|";
  for (const auto& name : names) {
    table += fmt::format(" {} |", cell(name));
    rule += "---|";
  }
  table += " no part |\n" + rule + "---|\n";
  for (const auto& row : rows) {
    table += fmt::format("| {} | {} | {} |", cell(row.layer), cell(row.category), row.sum);
    const auto share = [&](const std::string& name) {
      const auto found = row.counts.find(name);
      return found == row.counts.end()
                 ? std::string(" – |")
                 : fmt::format(" {:.0f} % |", 100.0 * static_cast<double>(found->second) /
                                                  static_cast<double>(row.sum));
    };
    for (const auto& name : names) table += share(name);
    table += share("") + "\n";
  }
  return table;
}

}  // namespace partwise::experiments
