#include "partwise/judging/network_dump.h"

#include "partwise/base/interrupt.h"
#include "partwise/base/names.h"
#include "partwise/judging/dump.h"
#include "partwise/judging/trained_run.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <optional>
#include <set>

namespace partwise::judging {
namespace {

std::size_t layer_index(const std::vector<models::LayerActivations>& layers,
                        const std::string& name) {
  std::vector<std::string> names;
  for (const auto& layer : layers) names.push_back(layer.name);
  return index_of_name("layer", name, names);
}

// The training rows whose image the judged rows do not show.
models::Examples other_rows(const models::Examples& train, const models::Examples& judged) {
  std::set<int64_t> shown;
  for (const auto& sample : judged.samples) shown.insert(sample.image_index);
  std::vector<int64_t> rows;
  for (std::size_t row = 0; row < train.samples.size(); ++row) {
    if (!shown.contains(train.samples[row].image_index)) rows.push_back(static_cast<int64_t>(row));
  }
  return models::select_rows(train, rows);
}

// Ids of the objects the rows show; those of the images too where a row shows none.
void add_ids(const datasets::PartDataset& dataset,
             const models::Examples& examples,
             judging::DumpPlan& plan) {
  for (const auto& sample : examples.samples) {
    const auto object = sample.annotation_index;
    plan.annotation.push_back(
        object < 0 ? -1 : dataset.annotations[static_cast<std::size_t>(object)].id);
    plan.image.push_back(dataset.images[static_cast<std::size_t>(sample.image_index)].id);
  }
}

}  // namespace

DumpSize dump_layer(const runs::RunFolder& run,
                    const datasets::PartDataset& dataset,
                    const DumpOptions& options,
                    const std::filesystem::path& out,
                    const models::Resources& resources) {
  const auto trained = open_trained_run(run, dataset, resources, options.checkpoint);
  const auto layers = models::tapped_layers(trained.network);
  const auto place = layer_index(layers, options.layer);
  const auto& layer = layers[place];
  const bool has_mask = trained.network.architecture().taps[place].interpretable >= 0;
  std::vector<models::Examples> parts{models::load_examples(dataset, trained.task, options.split,
                                                            trained.input_side(), resources.threads,
                                                            resources.cache)};
  if (options.train_rows) parts.push_back(other_rows(trained.train, parts.front()));

  judging::DumpPlan plan;
  plan.label = {layer.name, trained.design.net, options.split, models::task_name(trained.task),
                layer.grid, layer.masked_grid};
  plan.half = options.half;
  for (const auto& examples : parts) add_ids(dataset, examples, plan);
  plan.rows = std::ssize(plan.annotation);
  if (std::find(plan.annotation.begin(), plan.annotation.end(), -1) == plan.annotation.end())
    plan.image.clear();
  const auto training = view_training(trained.network, trained, resources);
  for (const int64_t category : training.filter_category[place])
    plan.category.push_back(trained.task.category_ids[static_cast<std::size_t>(category)]);

  const Heeding heeding;  // the writer's draft would outlive a process that ends at once
  std::optional<judging::DumpWriter> writer;
  int64_t before = 0;
  for (const auto& examples : parts) {
    models::for_each_output(
        trained.network, examples, resources.device, [&](int64_t first, const auto& output) {
          if (interrupt_requested())
            throw Interrupted(fmt::format("{}: interrupted; it was not written", out.string()));
          const auto plain = [](const Tensor& maps) {
            return maps.to(torch::kCPU, torch::kFloat32).contiguous();
          };
          const auto maps = plain(output.taps[place].maps);
          const auto masked = has_mask ? plain(output.taps[place].masked) : maps;
          if (!writer) {
            plan.filters = maps.size(1);
            plan.side = maps.size(2);
            plan.masked_side = has_mask ? masked.size(2) : 0;
            writer.emplace(out, plan);
          }
          writer->write_maps(before + first, models::view_of(maps).values);
          if (has_mask) writer->write_masked(before + first, models::view_of(masked).values);
        });
    before += examples.rows();
  }
  writer->finish();
  return {plan.rows, plan.filters, plan.side};
}

}  // namespace partwise::judging
