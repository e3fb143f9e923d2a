#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace partwise::cli {

// What shells and `man` show of the program, made from the options as they are declared.
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string manual_page(const CLI::App& app, const std::string& version);

// "0  done" and so on, one per line.
std::string exit_codes();

}  // namespace partwise::cli
