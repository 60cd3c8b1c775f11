#include "tools/cli/records/bundle_records.h"

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "experiments/store/bundle.h"
#include "experiments/store/records/evaluated_at.h"
#include "tools/cli/flags/user_path.h"

namespace openset {
namespace {

constexpr char kLibrary[] = "library/";

}  // namespace

bool IsBundle(const std::string& argument) { return absl::EndsWith(argument, ".zip"); }

std::string BundleOfFolder(const std::string& argument) {
  std::error_code error;
  if (argument.empty() || !std::filesystem::is_directory(UserPath(argument), error)) return argument;
  const std::filesystem::path given = std::filesystem::path(argument).lexically_normal();
  const std::filesystem::path folder = given.has_filename() ? given : given.parent_path();
  const std::string bundle = absl::StrCat(JoinPath(folder.string(), folder.filename().string()), ".zip");
  return FileExists(UserPath(bundle)) ? bundle : argument;
}

absl::StatusOr<BundleRecords> ReadBundleRecords(const std::string& path) {
  BundleRecords bundle;
  std::map<std::string, TrialRecord> first;
  const auto use = [&](const TrialRecord& record, const std::string& /*bytes*/) {
    const auto [at, is_new] = first.try_emplace(record.trial_id(), record);
    if (!is_new) {
      ++bundle.replicas;
      if (EvaluatedAt(record) < EvaluatedAt(at->second)) at->second = record;
    }
    return absl::OkStatus();
  };
  const auto file = [&](const std::string& name, const std::string& content) {
    bundle.library[std::string(absl::StripPrefix(name, kLibrary))] = content;
    return absl::OkStatus();
  };
  const auto wanted = [](const std::string& name) { return absl::StartsWith(name, kLibrary); };
  OPENSET_ASSIGN_OR_RETURN(bundle.digest, ReadBundle(path, use, &bundle.refused, {}, file, wanted));
  for (auto& [id, record] : first) bundle.records.push_back(std::move(record));
  return bundle;
}

absl::StatusOr<TrialRecord> TrialOfBundle(const BundleRecords& read, const std::string& bundle,
                                          const std::string& beginning) {
  std::vector<const TrialRecord*> found;
  for (const TrialRecord& record : read.records) {
    if (absl::StartsWith(record.trial_id(), beginning)) found.push_back(&record);
  }
  if (found.size() == 1) return *found[0];
  if (found.empty()) return absl::NotFoundError(absl::StrCat(bundle, ": no trial begins with '", beginning, "'"));
  return absl::InvalidArgumentError(absl::StrCat(
      bundle, ": ", found.size(), " trials", beginning.empty() ? "" : absl::StrCat(" begin with '", beginning, "'"),
      ": give the first digits of one ('openset records ls ", bundle, "' lists them)"));
}

absl::Status RefusedStatus(const BundleRecords& bundle) {
  const size_t count = bundle.refused.size();
  if (count == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(count, count == 1 ? " record is" : " records are", " corrupt and left out:\n",
                                         absl::StrJoin(bundle.refused, "\n")));
}

}  // namespace openset
