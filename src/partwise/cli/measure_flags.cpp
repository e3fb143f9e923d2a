#include "partwise/cli/measure_flags.h"

#include "partwise/referee/extra_metrics.h"

namespace partwise::cli {

void add_measure_flags(CLI::App& app, MeasureFlags& flags) {
  app.add_flag("--all", flags.all, "every metric: takes several times as long");
  app.add_option("--metrics", flags.metrics,
                 "further metrics, commas between: " + join(referee::extra_metric_names()));
  add_fields<metrics::InstabilityOptions>(app, flags.given);
  add_fields<metrics::InterpretabilityOptions>(app, flags.given);
  add_fields<metrics::PatchPurityOptions>(app, flags.given);
  add_fields<metrics::ConsistencyOptions>(app, flags.given);
  add_fields<metrics::BootstrapOptions>(app, flags.given);
}

referee::LayerOptions layer_options(const MeasureFlags& flags, int threads) {
  referee::LayerOptions options;
  options.extras =
      flags.all ? referee::extra_metric_names() : referee::extra_metrics_from(flags.metrics);
  options.instability = options_from<metrics::InstabilityOptions>(flags.given);
  options.interpretability = options_from<metrics::InterpretabilityOptions>(flags.given);
  options.patches = options_from<metrics::PatchPurityOptions>(flags.given);
  options.consistency = options_from<metrics::ConsistencyOptions>(flags.given);
  options.bootstrap = options_from<metrics::BootstrapOptions>(flags.given);
  options.bootstrap.threads = threads;
  return options;
}

}  // namespace partwise::cli
