#pragma once

#include "partwise/base/geometry.h"
#include "partwise/formats/matlab.h"

#include <optional>

namespace partwise::datasets {

// As MATLAB counts pixels: from 1, both ends included.
struct InclusiveBox {
  double xmin = 0.0;
  double ymin = 0.0;
  double xmax = 0.0;
  double ymax = 0.0;
};

// Of a struct with these four fields.
InclusiveBox inclusive_box(const formats::MatlabRecord& box);

// In 0-based COCO terms. A coordinate of 0, which the originals contain, means 1.
Box box_from_inclusive(InclusiveBox box);

constexpr double kTruthSide = 224.0;

// One instance of a part, in pixels of the object's crop resized to kTruthSide squared.
struct CropRegion {
  Point centre;
  double width = 0.0;
  double height = 0.0;
};

// What truth_partNN.mat of the paper's authors says about one object.
struct TruthRecord {
  std::vector<CropRegion> instances;  // none: not annotated
  std::string file_name;              // with the next two only where the object is described
  std::optional<InclusiveBox> box;
};

std::vector<TruthRecord> read_truth_file(const std::filesystem::path& path);

}  // namespace partwise::datasets
