#include "partwise/models/export.h"

#include "partwise/models/model.h"
#include "partwise/networks/onnx.h"
#include "partwise/networks/tensor_file.h"

namespace partwise::models {
namespace {

std::map<std::string, std::string> metadata_of(const Model& model, const nlohmann::json& manifest) {
  const auto& [net, arm, head, parts, task, input, seed] = model.design;
  return {{"arm", word_of(arm)},
          {"task", task_name(task)},
          {"loss", loss_name(task)},
          {"categories", nlohmann::json(task.categories).dump()},
          {"pixel_order", "RGB"},
          {"pixel_scale", "1/255"},
          {"pixel_mean", nlohmann::json(input.mean).dump()},
          {"pixel_std", nlohmann::json(input.spread).dump()},
          {"epochs", std::to_string(model.position.epoch)},
          {"partwise_version", manifest.value("version", "")},
          {"partwise_commit", manifest.value("commit", "")}};
}

}  // namespace

Exported export_run(const runs::RunFolder& run,
                    const std::string& checkpoint,
                    const std::filesystem::path& data,
                    const std::filesystem::path& out) {
  const auto model = open_model(run, checkpoint, data);
  auto metadata = metadata_of(model, run.manifest());
  if (out.extension() == ".safetensors") {
    metadata["net"] = model.design.net;
    metadata["input_side"] = std::to_string(model.design.input.side);
    networks::save_tensors(out, {model.network.state(), metadata});
  } else {
    networks::write_onnx(out, model.network, metadata);
  }
  return {model.design.net, word_of(model.design.arm), model.position.epoch,
          static_cast<int64_t>(std::filesystem::file_size(out))};
}

}  // namespace partwise::models
