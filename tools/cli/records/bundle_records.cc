

#include "tools/cli/records/bundle_records.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "data/task.pb.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/bundle.h"
#include "experiments/store/records/evaluated_at.h"
#include "tools/cli/flags/run_config.h"

namespace openset {
namespace {

std::set<std::string> DataSetsOf(const TaskData& data) {
  std::set<std::string> names = {data.train().data_set(), data.test_known().data_set(), data.external().data_set()};
  for (const UnknownGroup& group : data.test_unknown()) names.insert(group.selection().data_set());
  for (const ShiftedGroup& group : data.test_shifted()) names.insert(group.selection().data_set());
  names.erase("");
  return names;
}

}  // namespace

std::map<std::string, std::string> LibraryOfRecords(const std::vector<TrialRecord>& records, const SpecFolders& folders,
                                                    std::vector<std::string>* left_out) {
  std::map<std::string, std::string> library;
  std::set<std::pair<std::string, std::string>> seen;
  // Adds a file if it is new and found and has this SHA-256; "" accepts any content.
  const auto add = [&](const std::string& kind, const std::string& name, const std::vector<std::string>& where,
                       const std::string& sha256) {
    if (name.empty() || !seen.insert({kind, name + " " + sha256}).second) return;
    const absl::StatusOr<std::string> file = FindSpecFile(kind, name, where, "");
    const absl::StatusOr<std::string> content = file.ok() ? ReadFile(*file, kMaxTextBytes) : file;
    if (content.ok() && (sha256.empty() || Sha256Hex(*content) == sha256)) {
      library[absl::StrCat(kind, "/", name, ".textproto")] = *content;
    } else {
      left_out->push_back(
          absl::StrCat(kind, "/", name, content.ok() ? ": has changed since" : ": is not in any library"));
    }
  };
  for (const TrialRecord& record : records) {
    const TrialSpec& trial = record.trial();
    if (!trial.spec_sha256().empty()) {
      add("specs", trial.experiment(), folders.specs, trial.spec_sha256());
    }
    add("tasks", trial.task().substr(0, trial.task().find('+')), folders.tasks, "");
    for (const std::string& data_set : DataSetsOf(trial.data())) {
      if (!absl::StrContains(data_set, ':') && !absl::StrContains(data_set, '/')) {
        add("catalog", data_set, folders.catalog, "");
      }
    }
  }
  return library;
}

absl::Status UnpackLibrary(const std::map<std::string, std::string>& library, const std::string& folder,
                           SpecFolders* folders) {
  for (const auto& [name, content] : library) {
    const std::string path = JoinPath(folder, name);
    OPENSET_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/'))));
    OPENSET_RETURN_IF_ERROR(WriteFileAtomically(path, content));
  }
  AddSpecFolders(SpecFoldersBelow(folder), folders);
  return absl::OkStatus();
}

void AddOwnFolder(const std::string& bundle, SpecFolders* folders) {
  const std::filesystem::path path = std::filesystem::path(bundle).lexically_normal();
  if (path.stem() != path.parent_path().filename()) return;
  AddSpecFolders(SpecFoldersBelow(path.parent_path().string()), folders);
}

absl::Status WithMissingLibrary(const absl::Status& status, const std::string& bundle,
                                const std::map<std::string, std::string>& library, const TrialRecord& record) {
  const std::string task = record.trial().task().substr(0, record.trial().task().find('+'));
  if (!absl::IsNotFound(status) || library.count(absl::StrCat("tasks/", task, ".textproto")) > 0) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(), "; ", bundle, " doesn't contain it: ask someone who has the store and the task ",
                   "to export the bundle again, with 'openset records export --bundle=", bundle, " --library=FOLDER'"));
}

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
