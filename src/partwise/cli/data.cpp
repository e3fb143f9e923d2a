#include "partwise/base/json_text.h"
#include "partwise/base/printable.h"
#include "partwise/base/progress.h"
#include "partwise/cli/command.h"
#include "partwise/datasets/check.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/datasets/synthetic_interventions.h"
#include "partwise/experiments/contact_sheets.h"

namespace partwise::cli {
namespace {

void print_summary(const datasets::DatasetSummary& summary) {
  fmt::print("{} images ({} without an object), {} objects\n", summary.images, summary.negatives,
             summary.annotations);
  for (const auto& [name, images] : summary.splits)
    fmt::print("split {}: {} images\n", printable(name), images);
  for (const auto& category : summary.categories) {
    fmt::print("{}: {} objects", printable(category.name), category.objects);
    if (category.constant_centre_instability) {
      fmt::print(", constant-centre instability {:.4f}", *category.constant_centre_instability);
    }
    fmt::print("\n  parts:    {}", category.parts.empty() ? " none" : "");
    for (const auto& [part, count] : category.parts) fmt::print(" {} {}", printable(part), count);
    fmt::print("\n  landmarks:{}", category.landmarks.empty() ? " none" : "");
    for (const auto& [landmark, count] : category.landmarks) {
      fmt::print(" {} {} ({} single)", printable(landmark), count.objects, count.single_instance);
    }
    fmt::print("\n");
  }
}

// Every problem as one line: what, where.
std::vector<std::string> problems_of(const datasets::DatasetSummary& summary) {
  std::vector<std::string> lines;
  const auto add = [&](const char* kind, const std::vector<datasets::ImageProblem>& problems) {
    for (const auto& problem : problems) {
      lines.push_back(fmt::format("{}: {} ({})", kind, problem.file_name, problem.reason));
    }
  };
  add("missing", summary.missing);
  add("unreadable", summary.unreadable);
  add("wrong size", summary.wrong_size);
  for (const auto& leak : summary.leaks) {
    lines.push_back(fmt::format("leak: {} in {} and {} in {} ({})", leak.first_file,
                                leak.first_split, leak.second_file, leak.second_split,
                                leak.reason));
  }
  for (const auto& picture : summary.same_pictures)
    lines.push_back("the same picture in two classes: " + in_words(picture));
  return lines;
}

void add_synth(CLI::App& data) {
  struct Flags {
    std::string out;
    nlohmann::json given = nlohmann::json::object();
    bool interventions = false;
    int threads = 0;
  };
  const auto flags = std::make_shared<Flags>();
  auto* command =
      add_command(data, "synth", "Draw the built-in synthetic animals as a part-dataset.",
                  "partwise data synth animals --images 300");
  command->add_option("out", flags->out, "folder to write")->required();
  add_fields<datasets::SyntheticOptions>(*command, flags->given);
  command->add_flag(
      "--interventions", flags->interventions,
      "also draw every test animal without each part, without each pair of parts, and "
      "in another place");
  add_threads(*command, flags->threads);
  command->callback([flags] {
    const auto options = options_from<datasets::SyntheticOptions>(flags->given);
    const auto dataset = datasets::write_synthetic_animals(flags->out, options, flags->threads);
    fmt::print("{}: {} images, {} objects, {} categories\n", flags->out, dataset.images.size(),
               dataset.annotations.size(), dataset.categories.size());
    if (!flags->interventions) return;
    const auto changed = datasets::write_interventions(dataset, flags->threads);
    fmt::print("{}/interventions: {} images\n", flags->out, changed.size());
  });
}

void add_check(CLI::App& data) {
  struct Flags {
    std::string folder;
    std::string drawings;
    bool json = false;
  };
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(
      data, "check",
      "Count what a part-dataset holds; name what is missing, damaged or leaking between splits.",
      "partwise data check animals --draw sheets");
  command->add_option("data", flags->folder, "folder with dataset.json")->required();
  command->add_option("--draw", flags->drawings,
                      "folder for contact sheets of boxes, parts and landmarks");
  command->add_flag("--json", flags->json, "for machines");
  command->callback([flags] {
    const auto dataset = datasets::load_dataset(flags->folder);
    const auto summary = datasets::check_dataset(dataset);
    const auto problems = problems_of(summary);
    if (flags->json) {
      fmt::print("{}\n", json_text(to_json(summary), 1));
    } else {
      print_summary(summary);
      for (const auto& problem : problems) fmt::print("{}\n", one_line(problem));
    }
    if (!flags->drawings.empty()) experiments::write_contact_sheets(dataset, flags->drawings);
    ensure(problems.empty(), "{}: {} problem(s), the first: {}", flags->folder, problems.size(),
           problems.empty() ? "" : problems.front());
  });
}

}  // namespace

void add_data(CLI::App& app) {
  auto* data = app.add_subcommand("data", "Make and check part-datasets.");
  data->require_subcommand(1);
  add_synth(*data);
  add_data_import(*data);
  add_check(*data);
}

}  // namespace partwise::cli
