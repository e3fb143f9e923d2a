#pragma once

#include "partwise/metrics/finding.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

namespace partwise::report {

// The page's own style sheet: light and dark by the reader's preference, wide, narrow and printed.
std::string_view style_sheet();

// Everything before <body>: the page's policy (it may fetch and run nothing), its title and style.
std::string page_head(const std::string& title);

// What comes from a file, made safe for the page (views::escape_markup under a short name, because
// it stands in every line).
std::string text(std::string_view value);

struct Picture {
  std::string data_uri;
  int64_t width = 0;
  int64_t height = 0;
};

// A PNG file ready to be embedded, as JPEG where that is smaller and made smaller where it is wider
// than `widest` pixels (a page of photographs would be tens of megabytes otherwise); an Error names
// the file when it is anything else or damaged.
Picture read_picture(const std::filesystem::path& path, int64_t widest);
Picture picture_from_png(const std::string& png,
                         const std::string& name,
                         int64_t widest = std::numeric_limits<int64_t>::max());

// A flat JSON value as a person would write it: strings bare, numbers short.
std::string plain(const nlohmann::json& value);

// "–" where there is no number.
std::string decimal(double value, int decimals = 3);
// A share in percent, rounded as one of three digits is: a number has one value wherever it is
// shown. "95.8", and "95.8 %" unbroken.
std::string percent_number(double value);
std::string percent(double value);

// "0.783", with five digits below 0.02: adversarial distortions are that small.
std::string plain_number(double value, const char* missing);
// "0.783 [0.751, 0.812]"
std::string plain_interval(const metrics::Finding& finding, const char* missing);

// Letters, digits and hyphens only: an id for links and charts.
std::string anchor(std::string_view value);

}  // namespace partwise::report
