#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace partwise {

// Whole file; an Error names the path and the reason. `limit` guards against a wrong or hostile
// file.
std::string read_file(const std::filesystem::path& path, std::size_t limit = std::size_t{1} << 32U);

// All or nothing: written beside the target, flushed to disk, then renamed over it.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

// Puts the bytes behind what the file holds, making it where there is none, and flushes them to
// disk. What a full disk leaves of them is a first part.
void append_to_file(const std::filesystem::path& path, std::string_view bytes);

// Takes away what a writer that was killed left in the folder beside its target.
void remove_abandoned_writes(const std::filesystem::path& folder);

nlohmann::json read_json(const std::filesystem::path& path);
void write_json_atomically(const std::filesystem::path& path, const nlohmann::json& json);

// Creates the folder (and its parents); an Error says why it can't be written to.
void make_writable_folder(const std::filesystem::path& folder);

// 64-bit FNV-1a as 16 hex digits: recognises content, guards against damage, not against malice.
std::string content_hash(std::string_view bytes);

}  // namespace partwise
