#pragma once

#include "partwise/base/geometry.h"

#include <string_view>
#include <vector>

namespace partwise::views {

// A letter as the lines of a pen with a round tip: on a grid with the baseline at y = 0, y up,
// small letters 14 high, capitals 20, descenders to -6.
struct Letter {
  double advance = 0.0;
  std::vector<std::vector<Point>> lines;
};

// ASCII, the letters of Latin-1 and a few signs (· × − – … ± µ ° → Δ Σ β λ τ and the like); any
// other character is a hollow box.
const Letter& letter_of(char32_t character);

// Words as lines in pixels, y down, from the start of the baseline. Heights of small letters and
// capitals are whole pixels, so that letters stay crisp where the baseline lies between two rows.
struct Lettering {
  std::vector<std::vector<Point>> lines;
  double pen = 1.0;  // the width of the lines
};

// `size` counts as a font's does: capitals are 0.72 of it. Bytes that are not UTF-8 become boxes,
// line breaks and tabs spaces.
Lettering lettering(std::string_view words, double size, bool bold);

double lettering_width(std::string_view words, double size, bool bold);

}  // namespace partwise::views
