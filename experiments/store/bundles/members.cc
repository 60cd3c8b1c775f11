#include "experiments/store/bundles/members.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/text/hex.h"
#include "core/text/name.h"
#include "core/text/one_line.h"
#include "experiments/store/store.h"
#include "experiments/store/store_contents.h"

namespace openset {
bool IsBundleFile(absl::string_view name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  if (parts[0] == "library") {
    if (parts.size() != 3 || (parts[1] != "specs" && parts[1] != "tasks" && parts[1] != "catalog")) return false;
    absl::string_view of_file = parts[2];
    return absl::ConsumeSuffix(&of_file, ".textproto") && IsName(std::string(of_file));
  }
  if (parts.size() != 4 || !IsKey(parts[2]) || !absl::StartsWith(parts[2], parts[1]) || parts[1].size() != 2) {
    return false;
  }
  const std::string& file = parts[3];
  if (file == kSummaryFile || file == kActionFile) return parts[0] == "outputs" || parts[0] == "checkpoints";
  if (parts[0] == "outputs") return file == kOutputsFile;
  return parts[0] == "checkpoints" && (file == kCheckpointFile || file == kStateFile);
}

std::string TrialOfBundleMember(absl::string_view name) {
  const bool is_replica = absl::ConsumePrefix(&name, "replicas/");
  if (!is_replica && !absl::ConsumePrefix(&name, "records/")) return "";
  if (name.size() < 3 + kSha256Digits || name[2] != '/') return "";
  const absl::string_view shard = name.substr(0, 2), id = name.substr(3, kSha256Digits);
  if (!IsKey(id) || !absl::StartsWith(id, shard)) return "";
  absl::string_view rest = name.substr(3 + kSha256Digits);
  if (!absl::ConsumeSuffix(&rest, ".rec")) return "";
  if (!is_replica) return rest.empty() ? std::string(id) : "";
  return absl::ConsumePrefix(&rest, "/") && IsKey(rest) ? std::string(id) : "";
}

std::string StrangeMember(absl::string_view name) {
  return absl::StrCat("has a member that no bundle has: '", OneLine(name), "'");
}

}  // namespace openset
