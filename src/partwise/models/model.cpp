#include "partwise/models/model.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/names.h"
#include "partwise/interpretable.h"
#include "partwise/models/activations.h"
#include "partwise/networks/onnx.h"
#include "partwise/networks/tensor_file.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <utility>

namespace partwise::models {

namespace fs = std::filesystem;

namespace {

constexpr int kFormat = 1;
constexpr auto kCategories = "filter_categories";

fs::path file_of(const runs::RunFolder& run) {
  return run.path() / "model.json";
}

nlohmann::json to_json(const InputRule& input) {
  return {{"side", input.side},
          {"pixel_order", "RGB"},
          {"pixel_scale", "1/255"},
          {"pixel_mean", input.mean},
          {"pixel_std", input.spread}};
}

nlohmann::json to_json(const Design& design) {
  return {{"format", kFormat},
          {"net", design.net},
          {"arm", word_of(design.arm)},
          {"hidden", design.head.hidden},
          {"dropout", design.head.dropout},
          {"seed", design.seed},
          {"parts", partwise::to_json(design.parts)},
          {"task", task_name(design.task)},
          {"loss", loss_name(design.task)},
          {"categories", design.task.categories},
          {"category_ids", design.task.category_ids},
          {"may_be_none", design.task.may_be_none},
          {"classes", class_names(design.task)},
          {"input", to_json(design.input)}};
}

Design from_json(const nlohmann::json& json, const std::string& place) {
  try {
    ensure(json.at("format") == kFormat, "{}: format {}, of a newer program; update this one",
           place, json.at("format").dump());
    Design design;
    design.net = json.at("net");
    design.arm = from_word<networks::Arm>("arm", json.at("arm").get<std::string>());
    design.head = {json.at("hidden"), json.at("dropout")};
    design.seed = json.at("seed");
    design.parts = parts::part_options_from(parts::completed_record(json.at("parts")), place);
    design.task = {json.at("task") != "multi",
                   from_word<Loss>("loss", json.at("loss").get<std::string>()) == Loss::logistic,
                   json.at("may_be_none"), json.at("category_ids"), json.at("categories")};
    const auto categories = design.task.categories.size();
    ensure(categories > 0 && categories == design.task.category_ids.size() &&
               (categories == 1) == design.task.binary &&
               task_name(design.task) == json.at("task").get<std::string>(),
           "{}: its categories do not fit its task", place);
    design.input.side = networks::find_backbone(design.net).input_side;
    ensure(json.at("input") == to_json(design.input),
           "{}: input {} is made in a way this program does not know", place,
           json.at("input").dump());
    return design;
  } catch (const nlohmann::json::exception& problem) {
    throw Error(fmt::format("{}: does not describe a network ({})", place, reason_in(problem)));
  }
}

nlohmann::json read_model(const runs::RunFolder& run) {
  auto json = read_json(file_of(run));
  ensure(json.is_object(), "{}: does not describe a network", file_of(run).string());
  return json;
}

nlohmann::json place_json(const Position& position) {
  return {{"epoch", position.epoch}, {"step", position.step}};
}

// What model.json says of its filters' categories, in the form that record_categories gives it.
nlohmann::json category_entries(const runs::RunFolder& run) {
  auto entries = read_model(run).value(kCategories, nlohmann::json::array());
  const auto is_entry = [](const nlohmann::json& entry) {
    const auto has = [&](const char* key, auto type) {
      return entry.contains(key) && (entry.at(key).*type)();
    };
    using Json = nlohmann::json;
    if (!entry.is_object() || !has("layer", &Json::is_string) || !has("rule", &Json::is_string) ||
        !has("checkpoint", &Json::is_object) || !has("categories", &Json::is_array))
      return false;
    const auto& categories = entry.at("categories");
    return std::all_of(categories.begin(), categories.end(),
                       [](const auto& one) { return one.is_number_integer(); });
  };
  ensure(entries.is_array() && std::all_of(entries.begin(), entries.end(), is_entry),
         "{}: damaged ({} does not say which category each filter stands for); remove it from the "
         "file and measure the run again",
         file_of(run).string(), kCategories);
  return entries;
}

// Those that model.json has of this checkpoint over the training rows.
std::vector<FilterCategories> recorded_categories(const runs::RunFolder& run,
                                                  const Position& position) {
  std::vector<FilterCategories> found;
  if (!fs::exists(file_of(run))) return found;
  for (const auto& entry : category_entries(run)) {
    const auto rule = from_word<CategoryRule>("rule", entry.at("rule").get<std::string>());
    if (entry.at("checkpoint") != place_json(position)) continue;
    if (rule != CategoryRule::training_rows) continue;
    found.push_back({entry.at("layer"), CategoryRule::training_rows, entry.at("categories")});
  }
  return found;
}

}  // namespace

Design make_design(const nlohmann::json& options, const datasets::PartDataset& dataset) {
  const auto option = [&](const char* key) {
    ensure(options.contains(key), "options.json: has no '{}'; is this a run?", key);
    return options.at(key);
  };
  Design design;
  design.net = option("net");
  design.arm = from_word<networks::Arm>("arm", option("arm").get<std::string>());
  design.head.hidden = options.value("hidden", design.head.hidden);  // older runs do not have them
  design.head.dropout = options.value("dropout", design.head.dropout);
  design.seed = option("seed");
  auto own = nlohmann::json::object();
  for_each_field<parts::PartOptions>([&](const auto& field) {
    if (options.contains(field.name)) own[field.name] = options.at(field.name);
  });
  design.parts = parts::part_options_from(parts::completed_record(own), "options.json");
  if (!networks::has_filter_loss(design.arm))
    design.parts.strength = design.parts.vote = design.parts.keep_alive = 0.0;
  design.task = make_task(option("task"),
                          from_word<Loss>("loss", option("loss").get<std::string>()), dataset);
  design.input.side = networks::find_backbone(design.net).input_side;
  return design;
}

networks::Network draw_network(const Design& design) {
  const auto outputs = design.task.outputs();
  return {networks::build_architecture(design.net, design.arm, outputs, design.parts, design.head),
          outputs, design.parts, static_cast<uint64_t>(design.seed)};
}

std::vector<FilterCategories> remembered_categories(const networks::Network& network) {
  const auto& architecture = network.architecture();
  std::vector<FilterCategories> remembered;
  for (const auto& tap : architecture.taps) {
    if (tap.interpretable < 0) continue;
    const auto& mask = architecture.layers[static_cast<std::size_t>(tap.interpretable)].name;
    remembered.push_back({tap.name, CategoryRule::memory,
                          to_vector(network.interpretable().at(mask)->filter_category().cpu())});
  }
  return remembered;
}

void claim_model(const runs::RunFolder& run, const Design& design) {
  if (!fs::exists(file_of(run))) {
    write_sealed_json(file_of(run), to_json(design));
    return;
  }
  const auto there = design_of(run);
  ensure(to_json(there) == to_json(design),
         "{}: its network was made for other data ({}; the dataset now holds {}); go on with the "
         "dataset as it was, or choose another run folder",
         run.path().string(), join(class_names(there.task)), join(class_names(design.task)));
}

void record_categories(const runs::RunFolder& run,
                       const std::vector<FilterCategories>& categories,
                       const Position& position) {
  if (!fs::exists(file_of(run))) return;  // of an older program, and no longer in training
  auto model = read_model(run);
  auto entries = nlohmann::json::array();
  for (const auto& entry : category_entries(run)) {
    const bool replaced = std::any_of(categories.begin(), categories.end(), [&](const auto& one) {
      return entry.at("layer") == one.layer && entry.at("rule") == word_of(one.rule);
    });
    if (!replaced) entries.push_back(entry);
  }
  for (const auto& one : categories) {
    entries.push_back({{"layer", one.layer},
                       {"rule", word_of(one.rule)},
                       {"checkpoint", place_json(position)},
                       {"categories", one.category}});
  }
  model[kCategories] = std::move(entries);
  write_sealed_json(file_of(run), model);
}

Design design_of(const runs::RunFolder& run, const fs::path& data) {
  if (fs::exists(file_of(run))) return from_json(read_model(run), file_of(run).string());
  try {
    return make_design(run.options(), datasets::load_dataset(run.data(data)));
  } catch (const Error& reason) {
    throw Error(
        fmt::format("{} (without model.json, as an older program left it, the run cannot "
                    "be opened alone)",
                    reason.what()));
  }
}

Model open_model(const runs::RunFolder& run, const std::string& checkpoint, const fs::path& data) {
  auto design = design_of(run, data);
  const auto found = load_checkpoint(run, checkpoint);
  auto network = draw_network(design);
  network.load_state(found.tensors);
  auto categories = remembered_categories(network);
  for (auto& one : recorded_categories(run, found.position)) categories.push_back(std::move(one));
  return {std::move(design), std::move(network), found.position, std::move(categories)};
}

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
  std::error_code none;
  const bool file = fs::is_regular_file(out, none) || !fs::exists(out, none);
  ensure(!file || out.extension() == ".onnx" || out.extension() == ".safetensors",
         "{}: written are .onnx and .safetensors; end the name in one of them", out.string());
  const auto model = open_model(run, checkpoint, data);
  auto metadata = metadata_of(model, run.manifest());
  if (out.extension() == ".safetensors") {
    metadata["net"] = model.design.net;
    metadata["input_side"] = std::to_string(model.design.input.side);
    networks::save_tensors(out, {model.network.state(), metadata});
  } else {
    networks::write_onnx(out, model.network, metadata);
  }
  std::error_code pipe;
  const auto bytes = std::filesystem::file_size(out, pipe);
  return {model.design.net, word_of(model.design.arm), model.position.epoch,
          pipe ? 0 : static_cast<int64_t>(bytes)};
}

}  // namespace partwise::models
