#include "partwise/datasets/crops.h"
#include "partwise/images/codec.h"
#include "partwise/server/answers.h"
#include "partwise/server/gate.h"

#include <sstream>

namespace partwise::server {
namespace {

using atlas::RunAtlas;
using atlas::ShownRun;

constexpr int64_t kMostPixelsOfAPhoto = 50'000'000;
constexpr std::size_t kIdLetters = 16;
constexpr auto kPhoto = "the photo";

// By its header, before anything is decoded.
void check_photo(const Request& request) {
  const auto pixels = images::pixels_of(request.body, kPhoto);
  if (pixels > kMostPixelsOfAPhoto)
    throw Refusal(413, fmt::format("{} has {} million pixels, more than the {} accepted; make it "
                                   "smaller first",
                                   kPhoto, pixels / 1'000'000, kMostPixelsOfAPhoto / 1'000'000));
}

// "x,y,width,height", as `partwise explain --box` has it.
std::optional<Box> box_in(const Request& request) {
  const auto& text = request.parameter("box");
  if (text.empty()) return std::nullopt;
  std::istringstream words(text);
  Box box;
  char first = 0;
  char second = 0;
  char third = 0;
  words >> box.x >> first >> box.y >> second >> box.width >> third >> box.height;
  if (words.fail() || !words.eof() || first != ',' || second != ',' || third != ',')
    throw Refusal(400, fmt::format("box '{}' is not x,y,width,height in pixels", text));
  return box;
}

Response explained(Desk& desk,
                   const ShownRun& run,
                   const RunAtlas& atlas,
                   const Request& request,
                   const images::Image& photo,
                   const std::optional<Box>& box) {
  auto kept = std::make_shared<KeptPhoto>();
  kept->run = run.id;
  kept->photo = desk.library.bench().ask([&] {
    atlas.explainer->call_by(explaining::read_people_names(run.folder()));
    return atlas::explain_photo(atlas, photo, box, request.parameter("against"));
  });
  const auto id = new_token().substr(0, kIdLetters);
  desk.photos.keep(id, kept);
  auto explanation = explaining::to_json(kept->photo.explanation);
  for (std::size_t i = 0; i < kept->photo.explanation.parts.size(); ++i)
    explanation["parts"][i]["label"] = kept->photo.explanation.parts[i].label();
  return json_response({{"photo", id},
                        {"run", run.id},
                        {"width", kept->photo.width},
                        {"height", kept->photo.height},
                        {"explanation", std::move(explanation)},
                        {"picture", fmt::format("/api/photos/{}/photo.png", id)}});
}

Response explain_upload(Desk& desk, const Request& request, const Named& named) {
  const auto& run = run_named(desk, named.at("run"));
  const auto box = box_in(request);
  check_photo(request);
  const auto atlas = opened(run);
  const std::lock_guard lock(desk.decoding);
  return explained(desk, run, *atlas, request,
                   images::decode_image(request.body, kPhoto, kMostPixelsOfAPhoto), box);
}

Response explain_row(Desk& desk, const Request& request, const Named& named) {
  const auto& run = run_named(desk, named.at("run"));
  const auto atlas = opened_with_data(run);
  const auto row = row_named(*atlas, named.at("row"));
  const auto& look = *atlas->look;
  const auto& sample = look.judged.samples[static_cast<std::size_t>(row)];
  const std::lock_guard lock(desk.decoding);
  const auto photo = images::read_image(look.dataset.root / look.file_of(row));
  return explained(desk, run, *atlas, request, photo, datasets::crop_box(look.dataset, sample));
}

std::shared_ptr<const KeptPhoto> photo_named(Desk& desk, const Named& named) {
  auto found = desk.photos.find(named.at("photo"));
  if (!found) throw Refusal(404, "this photo is no longer kept; explain it again");
  return *found;
}

atlas::Silence wish_in(const Request& request) {
  const auto body = json_body(request);
  atlas::Silence wish;
  try {
    wish.parts = body.value("parts", std::vector<std::string>{});
    wish.filters = body.value("filters", std::vector<int64_t>{});
  } catch (const nlohmann::json::exception&) {
    throw Refusal(400, "'parts' is not a list of texts, or 'filters' not one of numbers");
  }
  return wish;
}

Response silenced(Desk& desk, const Request& request, const Named& named) {
  const auto kept = photo_named(desk, named);
  const auto wish = wish_in(request);
  const auto atlas = opened(run_named(desk, kept->run));
  const auto result =
      desk.library.bench().ask([&] { return atlas::silence(*atlas, kept->photo, wish); });
  auto probabilities = nlohmann::json::object();
  const auto classes = atlas->explainer->classes();
  for (std::size_t i = 0; i < classes.size(); ++i)
    probabilities[classes[i]] = result.probabilities[i];
  return json_response({{"predicted", result.predicted},
                        {"additive", or_null(result.additive)},
                        {"actual", result.actual},
                        {"score", result.score},
                        {"decision", result.decision},
                        {"probability", result.probability},
                        {"probabilities", std::move(probabilities)}});
}

Response photo_picture(Desk& desk, const Request& request, const Named& named) {
  const auto kept = photo_named(desk, named);
  Response response;
  response.type = "image/png";
  response.headers["ETag"] = fmt::format("\"{}\"", named.at("photo"));
  response.headers["Cache-Control"] = "private, max-age=3600";
  if (request.header("if-none-match") == response.headers["ETag"]) {
    response.status = 304;
  } else {
    response.body = kept->photo.png;
  }
  return response;
}

}  // namespace

std::vector<Route> photo_routes(Desk& desk) {
  const auto with = [&desk](auto answer) {
    return [&desk, answer](const Request& request, const Named& named) {
      return answer(desk, request, named);
    };
  };
  return {
      {"POST", "/api/runs/{run}/explain", with(explain_upload)},
      {"POST", "/api/runs/{run}/explain-row/{row}", with(explain_row)},
      {"POST", "/api/photos/{photo}/silence", with(silenced)},
      {"GET", "/api/photos/{photo}/photo.png", with(photo_picture)},
  };
}

}  // namespace partwise::server
