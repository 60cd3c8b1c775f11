#include "experiments/study/data_contents.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "data/catalog.h"
#include "data/data_set.h"
#include "data/data_set_parts.h"
#include "data/splits/class_splits.h"
#include "data/task.pb.h"
#include "experiments/store/store_contents.h"

namespace openset {
namespace {

constexpr int64_t kDigits = 64;

// Where the store has the content (DataSetPart.content_sha256) of the data that its last run read.
std::string ContentPath(const Store& store, const std::string& data_set, const std::string& part) {
  return absl::StrCat(store.folder(), "/data/", data_set, "/", part, ".sha256");
}

// The parts that the tasks' samples are of, by data set.
std::map<std::string, std::set<std::string>> PartsOf(const Experiment& experiment) {
  std::map<std::string, std::set<std::string>> parts;
  for (const TaskSpec& task : experiment.tasks) {
    for (const std::string& part : TrainParts(task)) parts[task.data_set()].insert(part);
    for (const std::string& part : TestParts(task)) parts[task.data_set()].insert(part);
    const ExternalSource& external = task.external();
    if (task.has_external()) parts[external.data_set()].insert({external.part(), external.validation_part()});
    for (const UnknownSource& unknown : SourcesOf(task)) {
      std::set<std::string>& of_it = parts[unknown.data_set()];
      of_it.insert(unknown.part());
      of_it.insert(unknown.more_part().begin(), unknown.more_part().end());
    }
    for (const ShiftedSource& shifted : task.shifted()) parts[shifted.data_set()].insert(shifted.part());
  }
  return parts;
}

}  // namespace

absl::Status TellContents(const Store& store, const std::vector<std::string>& data_folders,
                          const ProgressReport& progress, Experiment* experiment) {
  for (const auto& [name, parts] : PartsOf(*experiment)) {
    OPENSET_RETURN_IF_ERROR(AddContentDigests(name, parts, data_folders, &experiment->catalog, progress));
    DataSetInfo* info = experiment->catalog.FindMutable(name);
    if (info == nullptr) continue;
    for (DataSetPart& part : *info->mutable_layout(0)->mutable_part()) {
      if (HasChecksums(part) || part.has_content_sha256()) continue;
      const absl::StatusOr<std::string> last = ReadFile(ContentPath(store, name, part.name()), kDigits);
      if (last.ok() && IsKey(*last)) part.set_content_sha256(*last);
    }
  }
  return absl::OkStatus();
}

absl::Status RememberContents(const Store& store, const Experiment& experiment) {
  for (const auto& [name, parts] : PartsOf(experiment)) {
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, experiment.catalog.Find(name));
    for (const DataSetPart& part : info->layout(0).part()) {
      const std::string path = ContentPath(store, name, part.name());
      if (!part.has_content_sha256() || ReadFile(path, kDigits).value_or("") == part.content_sha256()) continue;
      OPENSET_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/'))));
      OPENSET_RETURN_IF_ERROR(WriteFileAtomically(path, part.content_sha256()));
    }
  }
  return absl::OkStatus();
}

}  // namespace openset
