#include "partwise/datasets/import/importers.h"

#include "partwise/base/names.h"

namespace partwise::datasets {

const std::vector<ImportFormat>& import_formats() {
  static const std::vector<ImportFormat> formats{
      {"animal-part", "ILSVRC 2013 DET Animal-Part: boxes, heads, front legs, negatives", true,
       plan_animal_part},
      {"voc-part", "PASCAL-Part masks or the authors' part boxes, with VOC 2010 images", true,
       plan_voc_part},
      {"cub200", "CUB-200-2011: boxes and 15 landmarks", false, plan_cub200},
      {"coco", "COCO JSON: boxes, keypoints, part segmentations", false, plan_coco},
      {"folder", "one sub-folder a class, no parts", false, plan_folder},
  };
  return formats;
}

const ImportFormat& import_format(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& format : import_formats()) names.push_back(format.name);
  return import_formats()[index_of_name("format", name, names)];
}

}  // namespace partwise::datasets
