#include "tools/cli/records/bundle_records.h"

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/status_macros.h"
#include "experiments/store/bundle.h"

namespace openset {
namespace {

constexpr char kLibrary[] = "library/";

double EvaluatedAt(const TrialRecord& record) {
  const int stages = record.provenance().stage_size();
  return stages == 0 ? 0 : record.provenance().stage(stages - 1).started_at_seconds();
}

}  // namespace

bool IsBundle(const std::string& argument) { return absl::EndsWith(argument, ".zip"); }

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

absl::Status RefusedStatus(const BundleRecords& bundle) {
  const size_t count = bundle.refused.size();
  if (count == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(count, count == 1 ? " record is" : " records are", " damaged and left out:\n",
                                         absl::StrJoin(bundle.refused, "\n")));
}

}  // namespace openset
