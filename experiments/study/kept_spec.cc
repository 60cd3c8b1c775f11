#include "experiments/study/kept_spec.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/system_calls.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/spec_changes.h"

namespace openset {
namespace {

constexpr char kFile[] = "spec.textproto";
constexpr int64_t kMostBytes = 1 << 20;

std::string TextOf(const Experiment& experiment) {
  // A study that `openset score` made is in no file.
  const std::string text = ReadFile(experiment.source.file(), kMaxTextBytes).value_or(ToText(experiment.spec));
  ExperimentSpec written;
  if (experiment.laid_over.empty() || !ParseTextProto(text, experiment.source.file(), &written).ok()) return text;
  std::string changed;
  for (const SpecLine& line : ChangedSpecLines(written, experiment.spec, experiment.laid_over)) {
    absl::StrAppend(&changed, line.text, "\n");
  }
  return changed;
}

// The folder of the study's reports; "" if it has none. Errors: those of NamesInFolder().
absl::StatusOr<std::string> FolderOf(const Store& store, const std::string& study) {
  const std::string plain = store.ReportFolder(study);
  struct stat info;
  // If it can't be looked at, reading it gives the error.
  if (StatFile(JoinPath(plain, kFile), &info) == 0 || (errno != ENOENT && errno != ENOTDIR)) return plain;
  std::string newest;
  std::pair<int64_t, int64_t> newest_time;
  const std::string reports = JoinPath(store.folder(), "reports");
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesInFolder(reports));
  for (const std::string& name : names) {
    const std::string folder = JoinPath(reports, name);
    if (!absl::StartsWith(name, study + "+") || StatFile(JoinPath(folder, kFile), &info) != 0) continue;
    const std::pair<int64_t, int64_t> time(info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    if (!newest.empty() && time <= newest_time) continue;
    newest = folder;
    newest_time = time;
  }
  return newest;
}

}  // namespace

absl::Status KeepSpec(const Experiment& experiment, const Store& store, const std::string& report_name) {
  const std::string folder = store.ReportFolder(report_name);
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  return WriteFileAtomically(JoinPath(folder, kFile), TextOf(experiment));
}

absl::StatusOr<KeptSpec> LoadKeptSpec(const Store& store, const std::string& study) {
  KeptSpec kept;
  if (!IsName(study)) return kept;  // a name from a record could be a path
  OPENSET_ASSIGN_OR_RETURN(const std::string folder, FolderOf(store, study));
  if (folder.empty()) return kept;
  const absl::StatusOr<std::string> text = ReadFile(JoinPath(folder, kFile), kMostBytes);
  if (IsReadFailure(text.status())) return text.status();
  kept.text = text.value_or("");
  if (!ParseTextProto(kept.text, kFile, &kept.spec).ok() || kept.spec.method_size() == 0) return KeptSpec();
  return kept;
}

}  // namespace openset
