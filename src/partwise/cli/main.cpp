#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/cli/command.h"
#include "partwise/experiments/machine.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <new>
#include <unistd.h>

namespace {

// Prints what the library says on standard error and, where that is a terminal, how far it has come as
// one line with rate and time left.
class Console : public partwise::Listener {
 public:
  void line(const std::string& text) override {
    fmt::print(stderr, "{}{}\n", terminal_ ? "\r\033[K" : "", text);
    std::fflush(stderr);
  }

  void progress(const partwise::WorkDone& work) override {
    if (!terminal_) return;
    const double rate = work.seconds > 0 ? static_cast<double>(work.done) / work.seconds : 0.0;
    const double left = rate > 0 ? static_cast<double>(work.total - work.done) / rate : 0.0;
    fmt::print(stderr, "\r{} {}/{} {}  {:.0f}/s  {} left  {}\033[K", work.label, work.done,
               work.total, work.unit, rate, partwise::readable_duration(left), work.note);
    std::fflush(stderr);
  }

  void progress_ended() override {
    if (terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
};

// LibTorch's messages carry a backtrace; a person needs the first line.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

int run(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app.exit(problem);
    std::cerr << "partwise: " << problem.what() << " (see --help)\n";
    return 2;
  } catch (const partwise::Error& problem) {
    std::cerr << "partwise: " << problem.what() << '\n';
    return 1;
  } catch (const partwise::Interrupted& stop) {
    std::cerr << "partwise: " << stop.what() << '\n';
    return 130;
  } catch (const std::filesystem::filesystem_error& problem) {
    std::cerr << "partwise: " << problem.what() << '\n';
    return 1;
  } catch (const std::bad_alloc&) {
    std::cerr << "partwise: out of memory; fewer --threads or a smaller input need less\n";
    return 1;
  } catch (const std::exception& bug) {
    std::cerr << "partwise: internal error, please report it: " << first_line(bug.what()) << '\n';
    return 3;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Trains image classifiers whose filters stand for object parts, measures how far they do, "
      "and shows it in one HTML file.\n\nFirst steps:  partwise demo --quick");
  app.name("partwise");
  app.set_version_flag("--version", partwise::experiments::version_text());
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  partwise::cli::add_demo(app);
  partwise::cli::add_data(app);
  partwise::cli::add_train(app);
  partwise::cli::add_measure(app);
  partwise::cli::add_compare(app);
  partwise::cli::add_verify(app);
  partwise::cli::add_draw(app);
  partwise::cli::add_dump(app);
  partwise::cli::add_referee(app);
  partwise::cli::add_explain(app);
  partwise::cli::add_names(app);
  partwise::cli::add_errors(app);
  partwise::cli::add_serve(app);
  partwise::cli::add_report(app);
  partwise::cli::add_export(app);
  partwise::cli::add_weights(app);
  partwise::cli::add_reproduce(app);
  partwise::watch_for_interrupts();
  partwise::set_listener(std::make_shared<Console>());
  return run(app, argc, argv);
}
