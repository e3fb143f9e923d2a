#include "partwise/base/files.h"
#include "partwise/base/json_text.h"
#include "partwise/base/printable.h"
#include "partwise/cli/command.h"
#include "partwise/experiments/name_parts.h"

#include <map>

namespace partwise::cli {
namespace {

using experiments::NamedFilter;

nlohmann::json to_json(const NamedFilter& filter) {
  return {{"layer", filter.layer},     {"filter", filter.filter}, {"category", filter.category},
          {"name", filter.name},       {"from", filter.from},     {"rate", filter.rate},
          {"control", filter.control}, {"images", filter.images}, {"note", filter.note}};
}

// One line per layer, category and name; with `single` one per filter.
void print_names(const std::vector<NamedFilter>& filters, bool single) {
  std::map<std::string,
           std::map<std::pair<std::string, std::string>, std::vector<const NamedFilter*>>>
      layers;
  for (const auto& filter : filters)
    layers[filter.layer][{filter.category, filter.name}].push_back(&filter);
  for (const auto& [layer, groups] : layers) {
    fmt::print("{}\n  {:<16} {:<18} {:>7}  {:>9} {:>8}  named by\n", layer, "category", "part",
               "filters", "on part", "control");
    for (const auto& [key, members] : groups) {
      double rate = 0.0;
      double control = 0.0;
      for (const auto* filter : members) {
        rate += filter->rate / static_cast<double>(members.size());
        control += filter->control / static_cast<double>(members.size());
      }
      const bool unnamed = key.second.empty();
      const auto share = [&](double value) {
        return unnamed || members.front()->from == "place" ? std::string("-")
                                                           : fmt::format("{:.0f} %", 100.0 * value);
      };
      fmt::print("  {:<16} {:<18} {:>7}  {:>9} {:>8}  {}\n", printable(key.first),
                 unnamed ? "(no part)" : printable(key.second), members.size(), share(rate),
                 share(control), unnamed ? "" : members.front()->from);
      for (const auto* filter : members) {
        if (!single && filter->note.empty()) continue;
        fmt::print("    filter {:<4} {}\n", filter->filter, printable(filter->note));
      }
    }
  }
}

}  // namespace

void add_names(CLI::App& app) {
  struct Flags {
    experiments::NamesRequest request;
    std::string table;
    bool filters = false;
    bool json = false;
    experiments::Machine machine;
  };
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(
      app, "names",
      "List which parts a run's filters stand for, and name, merge and annotate them. Names come "
      "from part annotations where the data has any (how often a filter's evidence lies on the "
      "part, "
      "and on other images as control), else from filters that look at one place (part A, part B). "
      "What people say is kept in names.json and beats the program's names everywhere.",
      "partwise names runs/fox --set new:12=snout --merge snout+ears=head");
  auto& request = flags->request;
  command->add_option("run", request.run, "run folder")->required();
  command->add_option("--set", request.set, "LAYER:FILTER=NAME; an empty name takes it back");
  command->add_option("--note", request.note, "LAYER:FILTER=TEXT");
  command->add_option("--merge", request.merge, "PART+PART=PART: count the first ones as the last");
  command->add_flag("--forget", request.forget, "drop every name, note and merger people gave");
  command->add_flag("--learn", request.learn, "look at the training images again");
  command->add_flag(
      "--by-place", request.by_place,
      "learn again, and name by place (part A, part B) even where the data knows parts: "
      "for data that annotates few of them");
  command->add_option("--data", request.data, "where they lie, if not where the run was trained");
  command->add_flag("--filters", flags->filters, "list single filters too");
  command->add_option("--table", flags->table,
                      "write the paper's table of semantics as Markdown to this file");
  command->add_flag("--json", flags->json, "for machines");
  add_machine(*command, flags->machine);
  command->callback([flags] {
    const auto filters = experiments::name_parts(flags->request, flags->machine);
    if (!flags->table.empty())
      write_file_atomically(flags->table, experiments::semantics_table(filters));
    if (flags->json) {
      auto all = nlohmann::json::array();
      for (const auto& filter : filters) all.push_back(to_json(filter));
      fmt::print("{}\n", json_text(all, 1));
    } else {
      print_names(filters, flags->filters);
    }
  });
}

}  // namespace partwise::cli
