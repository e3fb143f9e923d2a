#include "partwise/cli/measure_flags.h"

#include "partwise/judging/attack_findings.h"

namespace partwise::cli {

std::vector<std::string> network_metrics() {
  auto names = judging::extra_metric_names();
  names.emplace_back(judging::kAdversarial);
  return names;
}

void add_measure_flags(CLI::App& app, MeasureFlags& flags) {
  const bool network = flags.known.size() > judging::extra_metric_names().size();
  app.add_flag(
      "--all", flags.all,
      std::string("every metric: takes several times as long") +
          (network ? "; the attacks are slower still and must be named in --metrics" : ""));
  app.add_option("--metrics", flags.metrics,
                 "further metrics, commas between: " + join(flags.known));
  add_fields<metrics::InstabilityOptions>(app, flags.given);
  add_fields<metrics::InterpretabilityOptions>(app, flags.given);
  add_fields<metrics::PatchPurityOptions>(app, flags.given);
  add_fields<metrics::ConsistencyOptions>(app, flags.given);
  add_fields<metrics::BootstrapOptions>(app, flags.given);
  if (network) add_fields<judging::AttackOptions>(app, flags.given);
}

judging::LayerOptions layer_options(const MeasureFlags& flags, int threads) {
  judging::LayerOptions options;
  options.extras = judging::extra_metrics_from(flags.metrics, flags.known);
  for (const auto& name : judging::extra_metric_names()) {
    if (flags.all && !judging::wants(options.extras, name)) options.extras.push_back(name);
  }
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
