#include "tools/cli/records/bundle_records.h"

#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/temporary_folder.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "core/text/one_line.h"
#include "data/selection.h"
#include "data/task.pb.h"
#include "experiments/spec/command_sources.h"
#include "experiments/spec/method.proto.h"
#include "experiments/store/merge.h"
#include "experiments/store/store_contents.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/run_config.h"

namespace openset {
namespace {

std::set<std::string> DataSetsOf(const TaskData& data) {
  std::set<std::string> names = {data.train().data_set(), data.external().data_set()};
  for (const Selection* selection : TestSelections(data)) names.insert(selection->data_set());
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
    if (!trial.spec_sha256().empty()) add("specs", trial.experiment(), folders.specs, trial.spec_sha256());
    const CommandSpec& command = trial.method().training().command();
    if (!command.source().empty() && seen.insert({"sources", command.source_sha256()}).second) {
      left_out->push_back(absl::StrCat("the sources of ", trial.method().name(), ": ", SourcesText(command),
                                       ": give them to whoever is to train it again"));
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

absl::Status AddLibraryOf(const Store& store, const std::string& folder, SpecFolders* folders) {
  if (store.bundle() == nullptr) return absl::OkStatus();
  for (const auto& [name, content] : store.bundle()->library) {
    const std::string path = JoinPath(folder, name);
    OPENSET_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/'))));
    OPENSET_RETURN_IF_ERROR(WriteFileAtomically(path, content));
  }
  AddSpecFolders(SpecFoldersBelow(folder), folders);
  const std::filesystem::path path = std::filesystem::path(store.folder()).lexically_normal();
  if (path.stem() == path.parent_path().filename()) {
    AddSpecFolders(SpecFoldersBelow(path.parent_path().string()), folders);
  }
  return absl::OkStatus();
}

absl::Status WithMissingLibrary(const absl::Status& status, const Store& store, const TrialRecord& record) {
  const std::string task = record.trial().task().substr(0, record.trial().task().find('+')), bundle = store.folder();
  if (store.bundle() == nullptr || !absl::IsNotFound(status) ||
      store.bundle()->library.count(absl::StrCat("tasks/", task, ".textproto")) > 0) {
    return status;
  }
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(), "; ", bundle, " doesn't contain it: ask someone who has the store and the task ",
                   "to export the bundle again, with 'openset records export --bundle=", bundle, " --library=FOLDER'"));
}

std::vector<FieldDifference> Distance(const TrialSpec& before, const TrialSpec& after, size_t* distance) {
  std::vector<FieldDifference> differences = FindDifferences(before, after);
  *distance = 4 * differences.size() + (before.method().name() != after.method().name()) +
              (before.task() != after.task()) + (before.split() != after.split());
  return differences;
}

absl::Status CheckIsOfBundle(const Study& study) {
  const Plan& plan = study.plan();
  if (study.store().bundle() == nullptr || plan.trials.empty()) return absl::OkStatus();
  UnreadRecords unread;
  constexpr int kWithout[] = {TrialRecord::kMetricFieldNumber, TrialRecord::kEpochFieldNumber,
                              TrialRecord::kDetailsFieldNumber};
  const std::vector<TrialRecord> records = LoadRecords(study.store(), &unread, kWithout);
  std::set<std::string> wanted;
  for (size_t t = 0; t < plan.trials.size(); ++t) wanted.insert(plan.trial_id(static_cast<int>(t)));
  if (records.empty() ||
      absl::c_any_of(records, [&](const TrialRecord& record) { return wanted.count(record.trial_id()) > 0; })) {
    return absl::OkStatus();
  }
  const std::string bundle = study.store().folder(), spec = study.experiment().source.file();
  const std::string& of_study = records[0].trial().experiment();
  if (of_study != study.name() &&
      absl::c_all_of(records, [&](const TrialRecord& record) { return record.trial().experiment() == of_study; })) {
    return absl::FailedPreconditionError(absl::StrCat(bundle, ": the bundle is of the study '", OneLine(of_study),
                                                      "', not of ", spec, ": name the bundle alone, or copy its spec"));
  }
  const TrialSpec first = plan.trials[0].Spec();
  std::vector<FieldDifference> differences;
  size_t least = std::numeric_limits<size_t>::max();
  for (const TrialRecord& record : records) {
    size_t distance = 0;
    std::vector<FieldDifference> of_record = Distance(record.trial(), first, &distance);
    if (distance >= least) continue;
    least = distance;
    differences = std::move(of_record);
  }
  // Fields that the schema has got since are absent in the records.
  const auto changed = absl::c_find_if(differences, [](const FieldDifference& one) { return !one.before.empty(); });
  return absl::FailedPreconditionError(absl::StrCat(
      bundle, ": has ", records.size(), " records, all of other trials than ", spec,
      ": the spec is not the one that they were made with",
      changed == differences.end() ? ""
                                   : absl::StrCat(" (first difference: ", changed->path, ": ",
                                                  changed->after.empty() ? "absent" : OneLine(changed->after), ", was ",
                                                  OneLine(changed->before), ")"),
      "; name the bundle alone for the records as they are"));
}

ExperimentSpec SpecInBundle(const Store& bundle, const std::vector<TrialRecord>& records) {
  ExperimentSpec spec;
  if (bundle.bundle() == nullptr || records.empty()) return spec;
  const std::string& study = records[0].trial().experiment();
  const auto is_other = [&](const TrialRecord& record) { return record.trial().experiment() != study; };
  const auto found = bundle.bundle()->library.find(absl::StrCat("specs/", study, ".textproto"));
  if (found == bundle.bundle()->library.end() || absl::c_any_of(records, is_other)) return spec;
  return ParseTextProto(found->second, found->first, &spec).ok() ? spec : ExperimentSpec();
}

std::vector<std::string> MissingTrialLines(const Store& bundle, const std::vector<TrialRecord>& records,
                                           const RunConfig& config) {
  const std::string study = SpecInBundle(bundle, records).name();
  const auto is_changed = [](const TrialRecord& record) { return record.trial().overrides_size() > 0; };
  if (!IsName(study) || absl::c_any_of(records, is_changed)) return {};
  const absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Make("bundle");
  if (!folder.ok()) return {};
  const std::string path = JoinPath(folder->path(), absl::StrCat(study, ".textproto"));
  if (!WriteFileAtomically(path, bundle.bundle()->library.at(absl::StrCat("specs/", study, ".textproto"))).ok())
    return {};
  const absl::StatusOr<std::unique_ptr<Study>> loaded = LoadStudy(path, config);
  if (!loaded.ok() || !(*loaded)->contents().unresolved.empty()) return {};
  std::set<std::string> there;
  for (const TrialRecord& record : records) there.insert(record.trial_id());
  const std::vector<int> reported = (*loaded)->ReportedTrials();
  const auto has_record = [&](int trial) { return there.count((*loaded)->plan().trial_id(trial)) > 0; };
  const int have = static_cast<int>(absl::c_count_if(reported, has_record));
  const int trials = static_cast<int>(reported.size()) + (*loaded)->waiting();
  if (have == 0 || have == trials) return {};
  return {absl::StrCat(trials - have, " of ", TrialCount(trials), " of the study ", study,
                       " have no record in this bundle")};
}

absl::StatusOr<std::vector<TrialRecord>> RecordsOfBundle(const std::string& argument, RunConfig config,
                                                         ExperimentSpec* spec) {
  OPENSET_RETURN_IF_ERROR(UseBundle(argument, &config).status());
  OPENSET_ASSIGN_OR_RETURN(const Store store, OpenStore(config, StoreUse::kRecords));
  UnreadRecords unread;
  std::vector<TrialRecord> records = LoadFirstRecords(store, &unread);
  OPENSET_RETURN_IF_ERROR(unread.Problems());
  if (spec != nullptr) *spec = SpecInBundle(store, records);
  return records;
}

}  // namespace openset
