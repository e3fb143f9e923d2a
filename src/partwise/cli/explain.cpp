#include "partwise/base/error.h"
#include "partwise/base/json_text.h"
#include "partwise/base/printable.h"
#include "partwise/cli/command.h"
#include "partwise/experiments/explain_images.h"

namespace partwise::cli {
namespace {

constexpr std::size_t kLongestPath = 20'000;

Box box_from(const std::vector<double>& numbers) {
  return {numbers[0], numbers[1], numbers[2], numbers[3]};
}

}  // namespace

void add_explain(CLI::App& app) {
  struct Flags {
    experiments::ExplainRequest request;
    std::vector<double> box;
    std::string out = "explanations";
    std::string html;
    bool json = false;
    experiments::Machine machine;
  };
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(
      app, "explain",
      "Explain decisions about photographs: which parts of the object were used, where they lie "
      "and "
      "how much each counted, one picture and one JSON file per object. A photograph that gives "
      "less evidence than nearly all training images is marked as weak.",
      "partwise explain runs/fox photo.jpg --box 40,25,300,260");
  auto& request = flags->request;
  command->add_option("run", request.run, "run folder")->required();
  command->add_option("images", request.images, "JPEG or PNG files, or folders of them");
  command->add_option("--box", flags->box, "x,y,width,height of the object in pixels")
      ->delimiter(',')
      ->expected(4);
  command->add_option("--data", request.data,
                      "take boxes from this dataset; without images, explain its --split");
  command->add_option("--split", request.split, "of that dataset")->capture_default_str();
  command->add_option("--against", request.against,
                      "class to hold the decision against, in place of the runner-up");
  command->add_option("--out", flags->out, "folder for pictures and JSON")->capture_default_str();
  command->add_option("--html", flags->html, "and one offline page over all");
  command->add_flag("--json", flags->json, "print JSON, one object per line, instead of words");
  add_checkpoint(*command, request.checkpoint);
  add_machine(*command, flags->machine);
  command->callback([flags] {
    auto& wanted = flags->request;
    wanted.out = flags->out;
    wanted.html = flags->html;
    if (!flags->box.empty()) wanted.box = box_from(flags->box);
    const auto outcome =
        experiments::explain_images(wanted, flags->machine, [&](const auto& object) {
          if (flags->json) {
            fmt::print("{}\n", json_text(object.json));
          } else {
            fmt::print("{}: {}\n  {}\n", one_line(object.name), one_line(object.line),
                       printable(object.picture.string(), kLongestPath));
          }
          std::fflush(stdout);
        });
    if (!flags->html.empty() && !flags->json) fmt::print("{}\n", flags->html);
    const auto& problems = outcome.problems;
    ensure(problems.empty(), "{} image(s) not explained, the first: {}", problems.size(),
           problems.empty() ? "" : problems.front());
  });
}

}  // namespace partwise::cli
