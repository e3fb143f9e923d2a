#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/names.h"
#include "partwise/base/printable.h"
#include "partwise/base/progress.h"
#include "partwise/cli/command.h"
#include "partwise/cli/command_pages.h"
#include "partwise/experiments/machine.h"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <new>
#include <system_error>
#include <unistd.h>

namespace {

// Prints what the library says on standard error, and how far it has come: on a terminal as one
// line with rate and time left, elsewhere (tee, nohup, a batch system) as a line every ten seconds.
// Where that cannot be written (a full disk, a terminal that has gone) the work goes on unheard.
class Console : public partwise::Listener {
 public:
  void line(const std::string& text) override {
    print(fmt::format("{}{}\n", terminal_ ? "\r\033[K" : "", text));
  }

  void progress(const partwise::WorkDone& work) override {
    const auto now = Clock::now();
    if (!terminal_ && now - told_ < std::chrono::seconds(10)) return;
    told_ = now;
    const double rate = work.seconds > 0 ? static_cast<double>(work.done) / work.seconds : 0.0;
    const double left = rate > 0 ? static_cast<double>(work.total - work.done) / rate : 0.0;
    print(fmt::format("{}{} {}/{} {}  {:.0f}/s  {} left  {}{}", terminal_ ? "\r" : "", work.label,
                      work.done, work.total, work.unit, rate, partwise::readable_duration(left),
                      work.note, terminal_ ? "\033[K" : "\n"));
  }

  void progress_ended() override {
    if (terminal_) print("\r\033[K");
  }

 private:
  using Clock = std::chrono::steady_clock;

  static void print(const std::string& text) { std::fputs(text.c_str(), stderr); }

  Clock::time_point told_ = Clock::now();
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
};

// A file that is opened must not become standard output because that was closed: whatever is
// printed would land in it. What was closed stays without a place to write to.
void fill_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
  }
}

// CLI11 makes the largest number there is of one that is larger.
std::string beyond_64_bits(const std::string& text) {
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc::result_out_of_range ? text + " is beyond 64 bits" : "";
}

void refuse_numbers_beyond_64_bits(CLI::App& app) {
  for (auto* option : app.get_options()) {
    if (option->get_type_name().starts_with("INT")) option->check(beyond_64_bits, "");
  }
  for (auto* command : app.get_subcommands([](CLI::App*) { return true; }))
    refuse_numbers_beyond_64_bits(*command);
}

// CLI11 only says that a command is required, not that it does not know the one given.
void require_known_command(const CLI::App& app, int argc, char** argv) {
  const auto* at = &app;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    const auto commands = at->get_subcommands([](const CLI::App*) { return true; });
    if (commands.empty()) return;
    std::vector<std::string> names;
    for (const auto* command : commands) names.push_back(command->get_name());
    at = commands[partwise::index_of_name("command", argv[i], names)];
  }
}

// What was printed is lost where a disk is full or a pipe gone; then the work is not done.
int with_output_written(int code) {
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout.flush();
  if (!lost || code != 0) return code;
  std::cerr << "partwise: the output is lost: standard output cannot be written\n";
  return 1;
}

void add_pages(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  auto* completion = partwise::cli::add_command(
      app, "completion", "Print a script that lets a shell complete commands and options.",
      "partwise completion bash > ~/.local/share/bash-completion/completions/partwise");
  completion->add_option("shell", *shell, "bash | zsh")->required();
  completion->callback([&app, shell] {
    const std::vector<std::string> shells{"bash", "zsh"};
    const bool zsh = partwise::index_of_name("shell", *shell, shells) == 1;
    fmt::print("{}",
               zsh ? partwise::cli::zsh_completion(app) : partwise::cli::bash_completion(app));
  });
  partwise::cli::add_command(app, "manual", "Print the manual page, in the format of man.",
                             "partwise manual | man -l -")
      ->callback([&app] {
        fmt::print("{}", partwise::cli::manual_page(app, partwise::experiments::version_text()));
      });
}

// One line that nothing it quotes can forge.
int complain(int code, const std::string& text) {
  std::cerr << "partwise: " << partwise::one_line(text) << '\n';
  return code;
}

int run(CLI::App& app, int argc, char** argv) {
  const std::string see_help = " (see --help)";
  try {
    require_known_command(app, argc, argv);
  } catch (const partwise::Error& problem) {
    return complain(2, problem.what() + see_help);
  }
  try {
    const partwise::Abandonable command("interrupted; what was finished before stays");
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app.exit(problem);
    return complain(2, problem.what() + see_help);
  } catch (const partwise::Error& problem) {
    return complain(1, problem.what());
  } catch (const partwise::Interrupted& stop) {
    return complain(130, stop.what());
  } catch (const std::filesystem::filesystem_error& problem) {
    const auto place = problem.path1().string();
    return complain(1, place.empty() ? problem.what() : place + ": " + problem.code().message());
  } catch (const std::system_error& problem) {
    if (std::ferror(stdout) != 0) return 0;  // main says so
    return complain(1, fmt::format("{} ({})", problem.code().message(), problem.what()));
  } catch (const std::bad_alloc&) {
    return complain(1, "out of memory; fewer --threads or a smaller input need less");
  } catch (const std::exception& bug) {
    return complain(3, "internal error, please report it: " + partwise::first_line(bug.what()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  partwise::watch_for_interrupts();
  CLI::App app(
      "Trains image classifiers whose filters stand for object parts, measures how far they do, "
      "and shows it in one HTML file.\n\nFirst steps:  partwise demo --quick");
  app.name("partwise");
  app.set_version_flag("--version", partwise::experiments::version_text());
  app.require_subcommand(1);
  app.footer("\nExit codes:\n" + partwise::cli::exit_codes());
  app.get_formatter()->column_width(34);
  partwise::cli::add_demo(app);
  partwise::cli::add_data(app);
  partwise::cli::add_train(app);
  partwise::cli::add_runs(app);
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
  add_pages(app);
  refuse_numbers_beyond_64_bits(app);
  fill_closed_streams();
  partwise::set_listener(std::make_shared<Console>());
  return with_output_written(run(app, argc, argv));
}
