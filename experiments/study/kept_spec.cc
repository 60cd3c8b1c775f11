#include "experiments/study/kept_spec.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "experiments/spec/changed_spec.h"
#include "experiments/spec/experiment.proto.h"

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

// The folder of the study's reports; "" if it has none.
std::string FolderOf(const Store& store, const std::string& study) {
  const std::filesystem::path plain = store.ReportFolder(study);
  std::error_code error;
  if (std::filesystem::exists(plain / kFile, error)) return plain;
  std::filesystem::path newest;
  std::filesystem::file_time_type newest_time;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator folder(plain.parent_path(), error); !error && folder != end;
       folder.increment(error)) {
    if (!absl::StartsWith(folder->path().filename().string(), study + "+")) continue;
    std::error_code absent;
    const auto time = std::filesystem::last_write_time(folder->path() / kFile, absent);
    if (absent || (!newest.empty() && time <= newest_time)) continue;
    newest = folder->path();
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

KeptSpec LoadKeptSpec(const Store& store, const std::string& study) {
  KeptSpec kept;
  if (!IsName(study)) return kept;  // a name from a record could be a path
  const std::string folder = FolderOf(store, study);
  if (folder.empty()) return kept;
  kept.text = ReadFile(JoinPath(folder, kFile), kMostBytes).value_or("");
  if (!ParseTextProto(kept.text, kFile, &kept.spec).ok() || kept.spec.method_size() == 0) return {};
  return kept;
}

}  // namespace openset
