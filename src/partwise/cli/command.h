#pragma once

#include "partwise/base/options.h"
#include "partwise/base/progress.h"
#include "partwise/experiments/machine.h"
#include "partwise/experiments/train_run.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace partwise::cli {

// Every command's own flags end up in an object of its own, kept alive by its callback.

inline CLI::App* add_command(CLI::App& parent,
                             const std::string& name,
                             const std::string& what,
                             const std::string& example) {
  auto* command = parent.add_subcommand(name, what);
  command->footer("\nExample:  " + example);
  command->add_flag_callback(
      "--quiet", [] { set_listener(nullptr); }, "results and errors only: no progress, no notes");
  return command;
}

// AsSizeValue reads -1 as 2^64 - 1. Of several transforms the one added last comes first.
inline CLI::Validator not_below_zero() {
  return {[](std::string& text) {
            return text.starts_with('-') ? text + " is below zero" : std::string();
          },
          ""};
}

// --threads, brought down to the cores there are: more of them are no quicker.
void add_threads(CLI::App& app, int& threads);

inline void add_machine(CLI::App& app, experiments::Machine& machine) {
  app.add_option("--device", machine.device, "auto (cuda where there is one), cpu, cuda or cuda:N")
      ->capture_default_str();
  add_threads(app, machine.threads);
  app.add_option("--cache", machine.cache, "folder where decoded crops are kept between runs")
      ->capture_default_str();
  app.add_option("--cache-limit", machine.cache_limit, "how much of them: 500MB, 10GB; 0: nothing")
      ->transform(CLI::AsSizeValue(false))
      ->transform(not_below_zero())
      ->default_str("10GB");
}

// For options that take a file: "-" is standard output, where the words for people are then left
// out.
constexpr auto kAlsoJson = "also write everything to this file; -: to standard output, alone";

// Before minutes of work: an Error where the folder of such a file is not there.
void require_place(const std::string& file);

// Nothing for an empty name. Whether it went to standard output.
bool write_output(const std::string& file, const std::string& text);

inline void add_recipe_flags(CLI::App& app, experiments::RecipeSources& recipe) {
  app.add_option("--config", recipe.config, "JSON file of options; flags beat it");
  app.add_option("--set", recipe.set, "key=value, any option by its name in options.json");
}

inline void add_checkpoint(CLI::App& app, std::string& checkpoint) {
  app.add_option("--checkpoint", checkpoint,
                 "last, or best: the epoch that was best on the validation images")
      ->capture_default_str();
}

// One flag for each field of an options struct: field learning_rate becomes --learning-rate. What
// is given is collected in `given`, so that flags can beat a config file.
template <typename Options>
void add_fields(CLI::App& app, nlohmann::json& given, const std::vector<std::string>& skip = {}) {
  const Options defaults;
  for_each_field<Options>([&](const auto& field) {
    const std::string key = field.name;
    if (std::find(skip.begin(), skip.end(), key) != skip.end()) return;
    std::string flag = "--" + key;
    std::replace(flag.begin() + 2, flag.end(), '_', '-');
    const auto standard = plain_value(defaults.*field.member);
    using T = std::decay_t<decltype(standard)>;
    std::string help = field.help;
    if (const auto choices = choices_of(field); !choices.empty())
      help += ": " + join(choices, " | ");
    app.add_option_function<T>(
           flag, [&given, key](const T& value) { given[key] = value; }, help)
        ->default_str(fmt::format("{}", standard));
  });
}

// The fields of `Options` among the given ones, over the defaults; a value out of range is named.
template <typename Options>
Options options_from(const nlohmann::json& given) {
  Options options;
  auto own = nlohmann::json::object();
  for_each_field<Options>([&](const auto& field) {
    if (given.contains(field.name)) own[field.name] = given[field.name];
  });
  merge_json(options, own, "command line");
  return options;
}

void add_demo(CLI::App& app);
void add_data(CLI::App& app);
void add_data_import(CLI::App& data);
void add_train(CLI::App& app);
void add_measure(CLI::App& app);
void add_compare(CLI::App& app);
void add_draw(CLI::App& app);
void add_dump(CLI::App& app);
void add_referee(CLI::App& app);
void add_names(CLI::App& app);
void add_report(CLI::App& app);
void add_runs(CLI::App& app);
void add_serve(CLI::App& app);
void add_errors(CLI::App& app);
void add_explain(CLI::App& app);
void add_export(CLI::App& app);
void add_weights(CLI::App& app);
void add_reproduce(CLI::App& app);
void add_verify(CLI::App& app);

}  // namespace partwise::cli
