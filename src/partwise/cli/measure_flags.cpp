#include "partwise/cli/measure_flags.h"

#include "partwise/metrics/catalogue.h"

namespace partwise::cli {

void add_measure_flags(CLI::App& app, MeasureFlags& flags) {
  app.add_flag(
      "--all", flags.all,
      flags.of_network
          ? "every metric but the slowest (receptive_fields, evidence, attacks), which must be "
            "named in --metrics: takes several times as long"
          : "every metric: takes several times as long");
  app.add_option(
      "--metrics", flags.metrics,
      "further metrics, commas between: " + join(metrics::option_names(flags.of_network)));
  add_fields<metrics::InstabilityOptions>(app, flags.given);
  add_fields<metrics::InterpretabilityOptions>(app, flags.given);
  add_fields<metrics::PatchPurityOptions>(app, flags.given);
  add_fields<metrics::ConsistencyOptions>(app, flags.given);
  add_fields<metrics::BootstrapOptions>(app, flags.given);
  if (flags.of_network) add_fields<judging::AttackOptions>(app, flags.given);
}

metrics::LayerOptions layer_options(const MeasureFlags& flags, int threads) {
  metrics::LayerOptions options;
  options.extras = metrics::options_named(flags.metrics, flags.all, flags.of_network);
  options.instability = options_from<metrics::InstabilityOptions>(flags.given);
  options.interpretability = options_from<metrics::InterpretabilityOptions>(flags.given);
  options.patches = options_from<metrics::PatchPurityOptions>(flags.given);
  options.consistency = options_from<metrics::ConsistencyOptions>(flags.given);
  options.bootstrap = options_from<metrics::BootstrapOptions>(flags.given);
  options.bootstrap.threads = threads;
  return options;
}

judging::MeasureOptions network_options(const MeasureFlags& flags,
                                        const std::string& split,
                                        int threads) {
  judging::MeasureOptions options;
  options.split = split;
  options.measures = layer_options(flags, threads);
  options.attack = options_from<judging::AttackOptions>(flags.given);
  return options;
}

}  // namespace partwise::cli
