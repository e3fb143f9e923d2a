#include "partwise/cli/command_pages.h"

#include "partwise/base/names.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

namespace partwise::cli {
namespace {

// A command, or the program itself, with the words that lead to it: "data import".
struct Page {
  std::string path;
  const CLI::App* app;
};

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

void add_pages(const std::string& path, const CLI::App& app, std::vector<Page>& pages) {
  pages.push_back({path, &app});
  for (const auto* command : commands_of(app))
    add_pages(path.empty() ? command->get_name() : path + " " + command->get_name(), *command,
              pages);
}

std::vector<Page> pages_of(const CLI::App& app) {
  std::vector<Page> pages;
  add_pages("", app, pages);
  return pages;
}

std::vector<const CLI::Option*> flags_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->nonpositional(); });
}

std::vector<const CLI::Option*> arguments_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->nonpositional(); });
}

// "-h", "--help"
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

// The words after the last colon of "which arm: ordinary | masked", where it ends in such a list.
std::vector<std::string> choices_in(const std::string& help) {
  const auto colon = help.rfind(": ");
  const auto list = colon == std::string::npos ? help : help.substr(colon + 2);
  std::vector<std::string> choices;
  std::size_t at = 0;
  for (;;) {
    const auto end = list.find(" | ", at);
    const auto word = list.substr(at, end == std::string::npos ? end : end - at);
    if (word.empty() || word.find_first_of(" ,;()") != std::string::npos) return {};
    choices.push_back(word);
    if (end == std::string::npos) break;
    at = end + 3;
  }
  return choices.size() > 1 ? choices : std::vector<std::string>{};
}

std::string with_each(std::string text, char letter, const std::string& in_its_place) {
  for (auto at = text.find(letter); at != std::string::npos;
       at = text.find(letter, at + in_its_place.size()))
    text.replace(at, 1, in_its_place);
  return text;
}

// ---- zsh

// Inside single quotes, in brackets or between colons.
std::string zsh_text(std::string text) {
  text = with_each(std::move(text), '\\', "\\\\");
  for (const char letter : {'[', ']', ':'})
    text = with_each(std::move(text), letter, std::string("\\") + letter);
  text = with_each(std::move(text), '\n', " ");
  return with_each(std::move(text), '\'', "'\\''");
}

std::string zsh_function(const std::string& path) {
  return "_partwise" + (path.empty() ? "" : "_" + with_each(path, ' ', "_"));
}

std::string zsh_flag(const CLI::Option& option) {
  const auto names = names_of(option);
  std::string action;
  if (takes_value(option)) {
    const auto choices = choices_in(option.get_description());
    action = ":value:" + (choices.empty() ? "_files" : "(" + join(choices, " ") + ")");
  }
  const auto words = fmt::format("[{}]{}", zsh_text(option.get_description()), action);
  std::string text;
  for (const auto& name : names) text += fmt::format(" \\\n    '*{}{}'", name, words);
  return text;
}

std::string zsh_part(const Page& page) {
  std::string text = zsh_function(page.path) + "() {\n";
  const auto commands = commands_of(*page.app);
  if (commands.empty()) {
    text += "  _arguments";
    for (const auto* option : flags_of(*page.app)) text += zsh_flag(*option);
    return text + " \\\n    '*:file:_files'\n}\n\n";
  }
  text += "  local -a commands\n  commands=(\n";
  for (const auto* command : commands)
    text += fmt::format("    '{}:{}'\n", command->get_name(), zsh_text(command->get_description()));
  text += "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n";
  text += "    _arguments";
  for (const auto* option : flags_of(*page.app)) text += zsh_flag(*option);
  text += "\n    return\n  fi\n  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n";
  text += "  case $command in\n";
  for (const auto* command : commands) {
    const auto path =
        page.path.empty() ? command->get_name() : page.path + " " + command->get_name();
    text += fmt::format("    {}) {} ;;\n", command->get_name(), zsh_function(path));
  }
  return text + "  esac\n}\n\n";
}

// ---- man

std::string roff(std::string text) {
  text = with_each(std::move(text), '\\', "\\e");
  text = with_each(std::move(text), '-', "\\-");
  text = with_each(std::move(text), '\'', "\\(aq");
  std::string lines;
  std::size_t at = 0;
  for (;;) {
    const auto end = text.find('\n', at);
    const auto line = text.substr(at, end == std::string::npos ? end : end - at);
    lines += (line.starts_with('.') ? "\\&" : "") + line;
    if (end == std::string::npos) return lines;
    lines += "\n.br\n";
    at = end + 1;
  }
}

std::string shown_name(const CLI::Option& option) {
  if (!option.nonpositional()) return option.get_name(true);
  return join(names_of(option), ", ") + (takes_value(option) ? " VALUE" : "");
}

std::string roff_option(const CLI::Option& option) {
  const auto standard = option.get_default_str();
  return fmt::format(".TP\n.B {}\n{}{}\n", roff(shown_name(option)), roff(option.get_description()),
                     standard.empty() ? "" : roff(fmt::format(" (default: {})", standard)));
}

std::string roff_page(const Page& page) {
  std::string arguments;
  for (const auto* argument : arguments_of(*page.app)) {
    const auto name = argument->get_name(true);
    arguments += argument->get_required() ? " " + name : " [" + name + "]";
  }
  auto text = fmt::format(".SS partwise {}{} [OPTIONS]\n{}\n", roff(page.path), roff(arguments),
                          roff(page.app->get_description()));
  for (const auto* argument : arguments_of(*page.app)) text += roff_option(*argument);
  for (const auto* option : flags_of(*page.app)) text += roff_option(*option);
  if (const auto footer = page.app->get_footer(); !footer.empty())
    text += ".PP\n" + roff(footer.substr(footer.find_first_not_of('\n'))) + "\n";
  return text;
}

constexpr std::array<std::pair<int, const char*>, 5> kExitCodes{
    {{0, "done"},
     {1, "something in your files, options or machine is wrong; one line says what and what to do"},
     {2, "the command line is wrong"},
     {3, "a bug of ours"},
     {130, "interrupted by SIGINT, SIGTERM or SIGHUP"}}};

}  // namespace

std::string exit_codes() {
  std::string text;
  for (const auto& [code, meaning] : kExitCodes) text += fmt::format("  {:<4} {}\n", code, meaning);
  return text;
}

std::string bash_completion(const CLI::App& app) {
  std::string paths;
  std::string values;
  std::string words;
  for (const auto& [path, command] : pages_of(app)) {
    if (!path.empty()) paths += (paths.empty() ? "" : "|") + fmt::format("'{}'", path);
    std::vector<std::string> offered;
    for (const auto* one : commands_of(*command)) offered.push_back(one->get_name());
    for (const auto* option : flags_of(*command)) {
      for (const auto& name : names_of(*option)) {
        offered.push_back(name);
        if (!takes_value(*option)) continue;
        const auto choices = choices_in(option->get_description());
        values +=
            fmt::format("    '{} {}') words='{}' value=1 ;;\n", path, name, join(choices, " "));
      }
    }
    words += fmt::format("      '{}') words='{}' ;;\n", path, join(offered, " "));
  }
  return fmt::format(R"(# bash completion of partwise, made by `partwise completion bash`
_partwise() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command='' words='' value='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${{command:+$command }}${{COMP_WORDS[i]}}" in
      {}) command="${{command:+$command }}${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$command ${{COMP_WORDS[COMP_CWORD-1]}}" in
{}  esac
  if [[ -z $value ]]; then
    case "$command" in
{}    esac
    [[ $word == -* || $words != -* ]] || words=''
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -o bashdefault -F _partwise partwise
)",
                     paths, values, words);
}

std::string zsh_completion(const CLI::App& app) {
  std::string text = "#compdef partwise\n# zsh completion, made by `partwise completion zsh`\n\n";
  for (const auto& page : pages_of(app)) text += zsh_part(page);
  return text +
         "if [[ $funcstack[1] == _partwise ]]; then\n  _partwise \"$@\"\nelse\n  compdef _partwise "
         "partwise\nfi\n";
}

std::string manual_page(const CLI::App& app, const std::string& version) {
  auto text = fmt::format(
      ".TH PARTWISE 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\npartwise \\- image classifiers "
      "whose "
      "filters stand for object parts\n.SH SYNOPSIS\n.B partwise\nCOMMAND [ARGUMENTS] "
      "[OPTIONS]\n.SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      roff(version), roff(app.get_description()));
  for (const auto& page : pages_of(app)) {
    if (!page.path.empty() && commands_of(*page.app).empty()) text += roff_page(page);
  }
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : kExitCodes)
    text += fmt::format(".TP\n.B {}\n{}\n", code, roff(meaning));
  return text;
}

}  // namespace partwise::cli
