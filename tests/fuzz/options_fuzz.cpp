#include "partwise/datasets/import/import.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/judging/measure_options.h"
#include "partwise/parts/part_option_fields.h"

#include "tests/fuzz/try_read.h"

namespace fuzz = partwise::fuzz;

namespace {

// What is accepted is within its limits and says so of itself.
template <typename Options>
void merged(const nlohmann::json& json) {
  fuzz::does_or_refuses("", [&] {
    Options options;
    partwise::merge_json(options, json, "fuzz");
    Options again;
    partwise::merge_json(again, partwise::to_json(options), "fuzz");
    if (partwise::to_json(again) != partwise::to_json(options))
      fuzz::broken("options come back as they were");
  });
}

}  // namespace

// options.json of a run, or a --config file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static const fuzz::ScratchFolder folder;
  const auto file = folder.put("options.json", fuzz::text_of(data, size));
  return fuzz::does_or_refuses("", [&] {
    const auto json = partwise::read_json(file);
    merged<partwise::datasets::ImportOptions>(json);
    merged<partwise::datasets::SyntheticOptions>(json);
    merged<partwise::judging::AttackOptions>(json);
    const auto parts = partwise::parts::part_options_from(json, "fuzz");
    (void)partwise::to_json(parts);
    (void)partwise::parts::completed_record(json);
  });
}
