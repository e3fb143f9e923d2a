#include "partwise/findings/findings_file.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/progress.h"
#include "partwise/formats/safetensors.h"

#include <bit>
#include <cstring>

namespace partwise::findings {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "draws.safetensors";
constexpr const char* kNewFile = "draws.new.safetensors";

static_assert(std::endian::native == std::endian::little);

template <typename Run, typename Visit>
void for_each_finding(Run& run, const Visit& visit) {
  for (auto& [key, finding] : run.findings) visit(key, finding);
  for (auto& layer : run.layers) {
    for (auto& [key, finding] : layer.findings) visit(layer.layer + "/" + key, finding);
  }
}

std::string bytes_of(const std::vector<double>& values) {
  std::string bytes(values.size() * sizeof(double), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<double> numbers_in(std::string_view bytes) {
  std::vector<double> values(bytes.size() / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
  return values;
}

// Gives {"file", "hash"}, what findings.json says of it.
nlohmann::json write_draws(const fs::path& folder, const RunFindings& findings) {
  formats::NamedArrays file;
  for_each_finding(findings, [&](const std::string& name, const Finding& finding) {
    const auto& [own, partner] = finding.draws;
    const int64_t sets = partner.empty() ? 1 : 2;
    file.arrays[name] = formats::make_array(formats::Dtype::f64, {sets, std::ssize(own)},
                                            bytes_of(own) + bytes_of(partner));
  });
  const auto bytes = formats::format_safetensors(file);
  write_file_atomically(folder / kNewFile, bytes);
  return {{"file", kFile}, {"hash", content_hash(bytes)}};
}

nlohmann::json draws_named_in(const nlohmann::json& findings_json) {
  auto nothing = nlohmann::json::object();
  const auto named = findings_json.is_object() ? findings_json.value("draws", nothing) : nothing;
  return named.is_object() ? named : nothing;
}

// Nothing where no file is: a writer may take it away, and put the next one there, between two
// looks.
std::optional<FileBytes> file_at(const fs::path& path) {
  constexpr int kLooks = 8;
  for (int look = 1; fs::exists(path); ++look) {
    try {
      return map_file(path);
    } catch (const Error&) {
      if (look == kLooks) throw;
    }
  }
  return std::nullopt;
}

// The draws whose hash findings.json names: its own writer's, who may not have come to giving them
// their name, or was killed before. Looked for in the order they move.
std::optional<FileBytes> draws_of(const fs::path& folder, const nlohmann::json& findings_json) {
  const auto hash = draws_named_in(findings_json).value("hash", nlohmann::json());
  for (const char* name : {kNewFile, kFile}) {
    auto file = file_at(folder / name);
    if (file && hash == content_hash(file->bytes)) return file;
  }
  return std::nullopt;
}

// Puts them back; why not, where the file is missing or belongs to another findings.json.
std::string add_draws(const fs::path& folder,
                      const nlohmann::json& findings_json,
                      const std::optional<FileBytes>& draws,
                      RunFindings& findings) {
  if (draws_named_in(findings_json).value("file", nlohmann::json()) != kFile)
    return "an older program measured it, without keeping its draws";
  if (!draws && !fs::exists(folder / kFile)) return fmt::format("{} is missing", kFile);
  if (!draws) return fmt::format("{} is damaged or belongs to another findings.json", kFile);
  const auto file = formats::parse_safetensors(*draws);
  for_each_finding(findings, [&](const std::string& name, Finding& finding) {
    const auto found = file.arrays.find(name);
    if (found == file.arrays.end()) return;
    const auto& [dtype, shape, content, owner] = found->second;
    ensure(dtype == formats::Dtype::f64 && shape.size() == 2 && (shape[0] == 1 || shape[0] == 2),
           "{}: {} is {}, expected [1 or 2, draws] of F64; measure again: partwise measure {}",
           draws->name, name, formats::shape_text(shape), folder.string());
    const auto half = content.size() / static_cast<std::size_t>(shape[0]);
    finding.draws.own = numbers_in(content.substr(0, half));
    finding.draws.partner = numbers_in(content.substr(half));
  });
  return "";
}

}  // namespace

std::optional<RunFindings> read_findings(const runs::RunFolder& run) {
  const auto path = run.path() / "findings.json";
  if (!fs::exists(path)) return std::nullopt;
  auto json_findings = read_json(path);
  auto draws = draws_of(run.path(), json_findings);
  while (!draws) {  // gone with their findings, where it was measured anew meanwhile
    auto now = read_json(path);
    if (now == json_findings) break;
    json_findings = std::move(now);
    draws = draws_of(run.path(), json_findings);
  }
  auto findings = findings_from_json(json_findings, path.string());
  findings.without_draws = add_draws(run.path(), json_findings, draws, findings);
  if (findings.data_hash.empty()) findings.data_hash = run.manifest().value("data_hash", "");
  return findings;
}

std::vector<RunFindings> findings_put_aside(const runs::RunFolder& run) {
  std::vector<RunFindings> found;
  for (const auto& entry : fs::directory_iterator(run.path())) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with("findings-epoch-") || !name.ends_with(".json")) continue;
    try {
      found.push_back(findings_from_json(read_json(entry.path()), entry.path().string()));
    } catch (const Error&) {
      say(fmt::format("{}: cannot be read; going on without it", entry.path().string()));
    }
  }
  return found;
}

void settle_findings(const runs::RunFolder& run) {
  const auto& folder = run.path();
  if (!fs::exists(folder / kNewFile)) return;
  try {
    const auto draws = draws_of(folder, read_json(folder / "findings.json"));
    if (draws && draws->name == (folder / kNewFile).string())
      fs::rename(folder / kNewFile, folder / kFile);
  } catch (const Error&) {  // no findings that could lose their draws
  }
}

void write_findings(const runs::RunFolder& run, const RunFindings& findings) {
  const auto& folder = run.path();
  remove_abandoned_writes(folder);
  remove_abandoned_writes(run.pictures());
  settle_findings(run);
  auto object = to_json(findings);
  object["draws"] = write_draws(folder, findings);
  write_sealed_json(folder / "findings.json", object);  // from here on the new ones are valid
  fs::rename(folder / kNewFile, folder / kFile);
}

RunFindings require_findings(const runs::RunFolder& run) {
  auto findings = read_findings(run);
  ensure(findings.has_value(), "{0}: has not been measured; run: partwise measure {0}",
         run.path().string());
  return std::move(*findings);
}

}  // namespace partwise::findings
