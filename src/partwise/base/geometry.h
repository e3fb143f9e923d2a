#pragma once

namespace partwise {

// Pixels, 0-based, x to the right, y down.
struct Point {
  double x = 0.0;
  double y = 0.0;
};

// COCO's box: left, top, width, height.
struct Box {
  double x = 0.0;
  double y = 0.0;
  double width = 0.0;
  double height = 0.0;
};

}  // namespace partwise
