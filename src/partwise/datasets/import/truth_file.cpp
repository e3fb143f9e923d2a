#include "partwise/datasets/import/truth_file.h"

#include "partwise/base/error.h"

#include <algorithm>

namespace partwise::datasets {
namespace {

std::vector<CropRegion> instances_of(const std::vector<double>& centres,
                                     const std::vector<double>& scales,
                                     const std::string& place,
                                     int64_t index) {
  ensure(centres.size() % 2 == 0 && centres.size() == scales.size(),
         "{}: object {}: {} centre and {} scale coordinates, expected as many and pairs", place,
         index + 1, centres.size(), scales.size());
  std::vector<CropRegion> instances;
  for (std::size_t i = 0; i + 1 < centres.size(); i += 2) {
    instances.push_back({{centres[i + 1], centres[i]}, scales[i + 1], scales[i]});
  }
  return instances;
}

}  // namespace

InclusiveBox inclusive_box(const formats::MatlabRecord& box) {
  return {box.field("xmin").number(), box.field("ymin").number(), box.field("xmax").number(),
          box.field("ymax").number()};
}

Box box_from_inclusive(InclusiveBox box) {
  const double left = std::max(box.xmin, 1.0) - 1.0;
  const double top = std::max(box.ymin, 1.0) - 1.0;
  return {left, top, box.xmax - left, box.ymax - top};
}

std::vector<TruthRecord> read_truth_file(const std::filesystem::path& path) {
  const auto truth = formats::read_matlab(path, "truth");
  std::vector<TruthRecord> records;
  for (int64_t i = 0; i < truth.count(); ++i) {
    TruthRecord record;
    record.instances = instances_of(truth.field("pHW_center", i).numbers(),
                                    truth.field("pHW_scale", i).numbers(), path.string(), i);
    const auto& object = truth.field("obj", i);
    if (!object.empty()) {
      record.file_name = object.field("filename").text();
      record.box = inclusive_box(object.field("bndbox"));
    }
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace partwise::datasets
