#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"
#include "partwise/cli/command.h"
#include "partwise/cli/console.h"
#include "partwise/experiments/machine.h"

#include <cstdlib>
#include <iostream>
#include <new>

namespace {

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
  partwise::cli::add_dump(app);
  partwise::cli::add_referee(app);
  partwise::cli::add_report(app);
  partwise::cli::add_export(app);
  partwise::cli::add_weights(app);
  partwise::cli::add_reproduce(app);
  partwise::watch_for_interrupts();
  partwise::cli::speak_to_console();
  return run(app, argc, argv);
}
