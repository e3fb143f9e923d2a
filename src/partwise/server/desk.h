#pragma once

#include "partwise/atlas/explained_photo.h"
#include "partwise/atlas/filter_evidence.h"
#include "partwise/atlas/library.h"
#include "partwise/atlas/recent.h"
#include "partwise/server/http.h"
#include "partwise/server/routes.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace partwise::server {

// A photograph that was explained, and by which run.
struct KeptPhoto {
  std::string run;
  atlas::ExplainedPhoto photo;
};

// What all answers draw on.
struct Desk {
  std::string program;  // its version
  atlas::Library library;
  atlas::Recent<std::string, std::string> pictures{std::size_t{64} << 20U};  // PNG, by bytes
  atlas::Recent<std::string, std::string> answers{256};                      // JSON that took long
  atlas::Recent<std::string, std::shared_ptr<const KeptPhoto>> photos{64};
  std::mutex decoding = {};  // one photograph at a time: decoded it is large
};

// Lookups by what stood in the path: 404 where there is no such thing.
atlas::ShownRun& run_named(Desk& desk, const std::string& id);
// Waits for it to be opened: 503 where that goes on, 404 with the reason where it failed.
std::shared_ptr<atlas::RunAtlas> opened(const atlas::ShownRun& run);
// The same with its data: 404 with the reason where they are gone.
std::shared_ptr<atlas::RunAtlas> opened_with_data(const atlas::ShownRun& run);
std::size_t layer_named(const atlas::RunAtlas& atlas, const std::string& name);
int64_t filter_named(const atlas::RunAtlas& atlas, std::size_t tap, const std::string& number);
int64_t row_named(const atlas::RunAtlas& atlas, const std::string& number);

// A PNG whose content `tag` stands for: 304 where the page has it already; else kept, or drawn now.
Response picture_response(Desk& desk,
                          const Request& request,
                          const std::string& tag,
                          const std::function<std::string()>& draw);

// The body as an object; 400 where it is none.
nlohmann::json json_body(const Request& request);
// A member of it that is a text; 400 where it is none.
std::string text_in(const nlohmann::json& body, const char* name, bool required);

// A segment of a path, encoded.
std::string encoded(const std::string& segment);
std::string layer_address(const atlas::ShownRun& run, const std::string& layer);

// FINDING of docs/explorer.md.
nlohmann::json finding_json(const std::string& key, const metrics::Finding& finding, int64_t n);
// {"key", "title", "better", "meaning"} of a number of the catalogue or of atlas::own_numbers().
nlohmann::json words_json(const std::string& key);

nlohmann::json or_null(const std::optional<double>& number);

}  // namespace partwise::server
