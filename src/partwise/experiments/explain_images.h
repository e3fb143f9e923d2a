#pragma once

#include "partwise/base/geometry.h"
#include "partwise/experiments/machine.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace partwise::experiments {

struct ExplainRequest {
  std::string run;
  std::vector<std::string> images;  // files, or folders of them
  std::optional<Box> box;           // of every image; else a dataset's boxes, else the whole image
  std::string data;                 // a dataset whose boxes are taken; without images, its split
  std::string split = "test";
  std::string against;
  std::string checkpoint = "last";
  std::filesystem::path out;   // a PNG and a JSON file per object
  std::filesystem::path html;  // one page over all; empty: none
};

// What became of one object.
struct ExplainedFile {
  std::string name;  // of the image, with the object's number where it has several
  std::string line;  // the explanation in one line
  std::filesystem::path picture;
  nlohmann::json json;  // as written beside the picture
};

struct ExplainOutcome {
  std::vector<ExplainedFile> objects;
  std::vector<std::string> problems;  // one line per image that could not be explained
};

// Explains images one by one; one that cannot be read stops none of the others. `tell` hears of
// every object at once.
ExplainOutcome explain_images(const ExplainRequest& request,
                              const Machine& machine,
                              const std::function<void(const ExplainedFile&)>& tell);

}  // namespace partwise::experiments
