#include "experiments/study/check_inputs.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/proto/proto_digest.h"
#include "core/proto/traits.h"
#include "core/status_macros.h"
#include "core/text/hex.h"
#include "core/text/one_line.h"
#include "data/catalog.pb.h"
#include "data/path_below.h"
#include "data/readers/image_folder.h"
#include "data/selection.h"
#include "data/sets/data_set.h"
#include "data/sets/data_set_parts.h"
#include "data/sets/folder_data_set.h"
#include "data/splits/class_splits.h"
#include "experiments/action/stage.h"
#include "experiments/spec/model_files.h"
#include "experiments/spec/open_set.pb.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store_contents.h"

namespace openset {
namespace {

// The store's file with the content (DataSetPart.content_sha256) of the data of its last run. A data set may be called
// "folder:/../photos": names that lead out of the folder are replaced by their digest.
std::string ContentPath(const Store& store, const std::string& data_set, const std::string& part) {
  const std::string path = absl::StrCat(data_set, "/", part, ".sha256");
  return absl::StrCat(store.folder(), "/data/", WhyNotBelow(path).empty() ? path : Sha256Hex(path));
}

// The parts of the tasks' samples, by data set.
std::map<std::string, std::set<std::string>> PartsOf(const std::vector<TaskSpec>& tasks) {
  std::map<std::string, std::set<std::string>> parts;
  for (const TaskSpec& task : tasks) {
    if (HasFilesOfSplits(task)) continue;  // files of features, which have checksums
    for (const std::string& part : TrainParts(task)) parts[task.data_set()].insert(part);
    for (const std::string& part : TestParts(task)) parts[task.data_set()].insert(part);
    const ExternalSource& external = task.external();
    if (task.has_external()) parts[external.data_set()].insert(external.validation_part());
    if (task.has_external() && !task.test_only()) parts[external.data_set()].insert(external.part());
    for (const UnknownSource& unknown : SourcesOf(task)) {
      std::set<std::string>& of_it = parts[unknown.data_set()];
      of_it.insert(unknown.part());
      of_it.insert(unknown.more_part().begin(), unknown.more_part().end());
    }
    for (const ShiftedSource& shifted : task.shifted()) parts[shifted.data_set()].insert(shifted.part());
  }
  return parts;
}

// The records that have a digest of a part.
struct DigestRecords {
  double newest = 0;  // the time of the newest one
  int64_t own = 0;    // how many are of the study
};
using PartDigests = std::map<std::string, DigestRecords>;
// Keyed by data set and part.
using RecordedParts = std::map<std::pair<std::string, std::string>, PartDigests>;

void AddSelection(const Selection& selection, double time, bool is_own,
                  std::set<std::pair<std::string, std::string>>* seen, RecordedParts* parts) {
  for (const PartOfDataSet& part : PartsOf(selection)) {
    if (!part.has_part_digest()) continue;
    DigestRecords& records = (*parts)[{selection.data_set(), part.part()}][part.part_digest()];
    records.newest = std::max(records.newest, time);
    // A record uses a part in several selections, known and unknown ones.
    if (is_own && seen->insert({selection.data_set(), part.part()}).second) ++records.own;
  }
}

absl::StatusOr<RecordedParts> PartsOfRecords(const Store& store, const std::string& study) {
  constexpr int kWithout[] = {TrialRecord::kMetricFieldNumber, TrialRecord::kEpochFieldNumber,
                              TrialRecord::kDetailsFieldNumber};
  RecordedParts parts;
  UnreadRecords unread;
  const std::vector<TrialRecord> records = LoadRecords(store, &unread, kWithout);
  OPENSET_RETURN_IF_ERROR(unread.ReadFailure());  // each counts
  for (const TrialRecord& record : records) {
    double time = 0;
    for (const StageProvenance& stage : record.provenance().stage()) time = std::max(time, stage.started_at_seconds());
    const TaskData& data = record.trial().data();
    const bool is_own = !study.empty() && record.trial().experiment() == study;
    std::set<std::pair<std::string, std::string>> seen;
    const auto add = [&](const Selection& selection) { AddSelection(selection, time, is_own, &seen, &parts); };
    for (const Selection* selection : {&data.train(), &data.test_known(), &data.external(), &data.validation_known()}) {
      add(*selection);
    }
    for (const auto* groups : {&data.test_unknown(), &data.validation_unknown()}) {
      for (const UnknownGroup& group : *groups) add(group.selection());
    }
    for (const ShiftedGroup& group : data.test_shifted()) add(group.selection());
  }
  return parts;
}

// Sets the digest of a part whose images are not here: the one that most records of the study have, the newest of those
// that equally many have; else `remembered`, of the store's last run; else that of the newest record. Returns how it
// was found, the end of a sentence; "" if there is none.
std::string TellAbsentPart(const std::string& data_set, const RecordedParts& recorded, const std::string& remembered,
                           DataSetPart* part) {
  const auto found = recorded.find({data_set, part->name()});
  const PartDigests none;
  const PartDigests& digests = found == recorded.end() ? none : found->second;
  int64_t own = 0, own_digests = 0;
  for (const auto& [digest, records] : digests) {
    own += records.own;
    own_digests += records.own > 0;
  }
  if (own == 0 && !remembered.empty()) {
    part->set_content_sha256(remembered);
    return "the digest that the store's last run saved.";
  }
  if (digests.empty()) return "";
  const auto best = absl::c_max_element(digests, [](const auto& a, const auto& b) {
    return std::pair(a.second.own, a.second.newest) < std::pair(b.second.own, b.second.newest);
  });
  TellPartDigest(best->first, part);
  if (own_digests > 1) {
    return absl::StrCat("the digest that most records of the study have (", best->second.own, " of ", own, "; ",
                        own_digests, " differ).");
  }
  return absl::StrCat("the digest that the records have of them",
                      own == 0 && digests.size() > 1
                          ? absl::StrCat(" (", digests.size(), " differ: the newest record's is taken).")
                          : ".");
}

// How the part's images differ from the catalog's, or from those of the store's last run, whose digest is `remembered`
// ("" if there was none); "" if they don't differ or are not here.
std::string ChangeOfImages(const DataSetInfo& info, const DataSetPart& part, const std::string& remembered,
                           const std::vector<std::string>& data_folders) {
  if (part.has_content_sha256() && part.content_sha256() == remembered) return "";
  const absl::Status files = CheckFiles(info, part.name(), data_folders);
  if (absl::IsDataLoss(files)) return OneLine(files.message());
  if (!files.ok() || !part.has_content_sha256() || remembered.empty()) return "";
  std::string last;
  if (part.has_image_folder() || part.has_image_list()) {
    const absl::StatusOr<std::shared_ptr<const ImageSource>> images = OpenPart(info, part.name(), data_folders);
    if (images.ok()) last = LastToChange(**images);
  }
  return absl::StrCat("the images of its part '", part.name(), "' have changed since the last run on this store",
                      last.empty() ? "" : absl::StrCat(" (the last to change was ", OneLine(last), ")"),
                      ": bring the old ones back, or run the study again");
}

// The sentence on images that can't be decoded; `damaged` has a message for each.
std::string DamagedText(const DataSetInfo& info, std::vector<std::string> damaged) {
  absl::c_sort(damaged);
  const std::string them = damaged.size() == 1 ? "it" : "them";
  absl::string_view folder = info.name();
  const bool is_folder = absl::ConsumePrefix(&folder, kFolderPrefix);
  return absl::StrCat(info.name(), ": ", damaged.size(), damaged.size() == 1 ? " image" : " images",
                      " can't be decoded, and a training or test that reads one fails: ", OneLine(damaged[0]),
                      damaged.size() > 1 ? " ..." : "", "; 'openset data verify ", OneLine(info.name()),
                      " --images' decodes all; repair or remove ", them, ", or leave ", them, " out: ",
                      is_folder ? absl::StrCat("openset data describe '", OneLine(folder),
                                               "' --skip_damaged, and name its entry in the task")
                                : "describe the folder again with --skip_damaged");
}

}  // namespace

absl::StatusOr<ResolvedContents> ResolveContentDigests(const Store& store, const std::vector<std::string>& data_folders,
                                                       const ProgressReport& progress,
                                                       const std::vector<TaskSpec>& tasks, const std::string& study,
                                                       Catalog* catalog) {
  ResolvedContents resolved;
  std::map<std::string, std::vector<std::string>> absent;  // parts by how their digests are found
  std::optional<RecordedParts> recorded;
  for (const auto& [name, parts] : PartsOf(tasks)) {
    std::vector<std::string> damaged;
    OPENSET_RETURN_IF_ERROR(AddContentDigests(name, parts, data_folders, catalog, progress, &damaged));
    DataSetInfo* info = catalog->FindMutable(name);
    if (info == nullptr) continue;
    if (!damaged.empty()) resolved.damaged.push_back(DamagedText(*info, std::move(damaged)));
    std::string change;
    for (DataSetPart& part : *info->mutable_layout(0)->mutable_part()) {
      if (HasChecksums(part)) continue;
      const absl::StatusOr<std::string> last = ReadFile(ContentPath(store, name, part.name()), kSha256Digits);
      if (IsReadFailure(last.status())) return last.status();
      const std::string remembered = last.ok() && IsKey(*last) ? *last : "";
      const bool is_used = parts.count(part.name()) > 0;
      if (change.empty() && is_used) change = ChangeOfImages(*info, part, remembered, data_folders);
      if (part.has_content_sha256()) continue;
      if (!is_used) {
        if (!remembered.empty()) part.set_content_sha256(remembered);
        continue;
      }
      // Records are read once, and only if they can count: of no study, what was remembered comes first.
      if (!recorded.has_value() && (!study.empty() || remembered.empty())) {
        OPENSET_ASSIGN_OR_RETURN(recorded, PartsOfRecords(store, study));
      }
      const std::string how = TellAbsentPart(name, recorded.value_or(RecordedParts()), remembered, &part);
      absent[how].push_back(absl::StrCat(name, ", ", part.name()));
      if (how.empty()) resolved.unresolved.push_back(absent[how].back());
    }
    if (!change.empty()) resolved.changed.push_back(absl::StrCat("results on ", name, " may be missing: ", change));
  }
  for (const auto& [how, names] : absent) {
    resolved.lines.push_back(absl::StrCat("The images of ", absl::StrJoin(names, "; "), " are not on this machine",
                                          how.empty()
                                              ? ", and the store has no record of them: results on them can't be found."
                                              : absl::StrCat(": results are found by ", how)));
  }
  return resolved;
}

absl::Status RememberContents(const Store& store, const Experiment& experiment) {
  for (const auto& [name, parts] : PartsOf(experiment.tasks)) {
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, experiment.catalog.Find(name));
    for (const DataSetPart& part : info->layout(0).part()) {
      const std::string path = ContentPath(store, name, part.name());
      if (!part.has_content_sha256() || IsToldByDigest(part) ||
          ReadFile(path, kSha256Digits).value_or("") == part.content_sha256())
        continue;
      OPENSET_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/'))));
      OPENSET_RETURN_IF_ERROR(WriteFileAtomically(path, part.content_sha256()));
    }
  }
  return absl::OkStatus();
}

namespace {

// Whether the catalog lists a file of the part that has no checksum.
bool LacksChecksums(const DataSetInfo& info, const std::string& part) {
  for (const DataSetLayout& layout : info.layout()) {
    for (const DataSetPart& stored : layout.part()) {
      if (stored.name() != part) continue;
      for (const DataFile* file : FilesOf(stored)) {
        if (file->sha256_size() == 0) return true;
      }
    }
  }
  return false;
}

// The inputs of a plan's actions, or of those that are needed.
class Inputs {
 public:
  Inputs(const Plan& plan, bool needed_only) {
    for (const Action& action : plan.actions) {
      if (!needed_only || action.is_needed()) StageOf(action).AddReads(action, plan.TrialOf(action), &reads_);
    }
    for (const Selection* selection : reads_.selections) {
      for (const PartOfDataSet& part : PartsOf(*selection)) parts_.insert({selection->data_set(), part.part()});
    }
  }

  const std::set<std::pair<std::string, std::string>>& parts() const { return parts_; }
  const std::set<const Selection*>& selections() const { return reads_.selections; }
  const std::set<const ModelSpec*>& models() const { return reads_.models; }

 private:
  ActionReads reads_;
  std::set<std::pair<std::string, std::string>> parts_;
};

}  // namespace

absl::Status CheckInputs(const Plan& plan, const Catalog& catalog, const std::vector<std::string>& data_folders) {
  const Inputs inputs(plan, true);
  for (const ModelSpec* model : inputs.models()) OPENSET_RETURN_IF_ERROR(CheckModelFiles(*model, data_folders));
  for (const auto& [data_set, part] : inputs.parts()) {
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(data_set));
    OPENSET_RETURN_IF_ERROR(CheckFiles(*info, part, data_folders));
    if (LacksChecksums(*info, part)) OPENSET_RETURN_IF_ERROR(OpenPart(*info, part, data_folders).status());
  }
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const ImageSource>> opened;
  std::set<std::string> seen;
  for (const Selection* selection : inputs.selections()) {
    if (!DividesClusters(*selection, catalog) || !seen.insert(MessageDigest(*selection)).second) continue;
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(selection->data_set()));
    const auto open = [&](const std::string& part) -> absl::StatusOr<std::shared_ptr<const ImageSource>> {
      std::shared_ptr<const ImageSource>& source = opened[{info->name(), part}];
      if (source == nullptr) {
        OPENSET_ASSIGN_OR_RETURN(source, OpenPart(*info, part, data_folders));
      }
      return source;
    };
    OPENSET_RETURN_IF_ERROR(OpenSelection(*selection, *info, open).status());
  }
  return absl::OkStatus();
}

std::vector<std::string> SharedClusters(const Plan& plan, const Catalog& catalog,
                                        const std::vector<std::string>& data_folders) {
  // The clusters of a selection's samples; empty if some part has none.
  const auto clusters_of = [&](const Selection& selection) -> std::vector<int64_t> {
    const absl::StatusOr<const DataSetInfo*> info = catalog.Find(selection.data_set());
    const bool has_clusters = info.ok() && absl::c_all_of(PartsOf(selection), [&](const PartOfDataSet& wanted) {
                                const absl::StatusOr<const DataSetPart*> part = FindPart(**info, wanted.part());
                                return part.ok() && HasClusters(**part);
                              });
    if (!has_clusters) return {};
    absl::StatusOr<OpenedSelection> opened = OpenSelection(selection, catalog, data_folders);
    return opened.ok() ? std::move(opened->samples.cluster) : std::vector<int64_t>();
  };
  struct Found {
    std::string first;
    int other_splits = 0;
  };
  std::map<std::pair<std::string, std::string>, Found> found;  // by task, and by what is trained with
  std::set<std::pair<std::string, bool>> seen;
  for (const Trial& trial : plan.trials) {
    const TaskData& data = trial.data();
    const bool with_external = data.has_external() && TraitsOf(trial.method().open_set()).external_images();
    if (!seen.insert({absl::StrCat(trial.task(), "/", trial.split()), with_external}).second) continue;
    const std::vector<const Selection*> tests = TestSelections(data);
    const auto check = [&](const Selection& fit, const std::string& what) {
      const std::vector<int64_t> of_fit = clusters_of(fit);
      const std::set<int64_t> fit_clusters(of_fit.begin(), of_fit.end());
      std::set<int64_t> shared;
      int64_t samples = 0, tested = 0;
      for (const Selection* test : tests) {
        if (fit_clusters.empty() || test->data_set() != fit.data_set()) continue;
        for (const int64_t cluster : clusters_of(*test)) {
          ++tested;
          if (fit_clusters.count(cluster) == 0) continue;
          shared.insert(cluster);
          ++samples;
        }
      }
      if (shared.empty()) return;
      Found& of_task = found[{trial.task(), what}];
      if (!of_task.first.empty()) {
        ++of_task.other_splits;
        return;
      }
      of_task.first =
          absl::StrCat("task ", OneLine(trial.task()), ", split ", trial.split(), ": ", samples, " of ", tested,
                       " test samples are of clusters (", shared.size(), ") that have ", what, ", too");
    };
    // A task without trainings fits scores to the samples that it tests, if they are in no other part.
    const bool is_tested = data.train().part() == data.test_known().part() && !data.train().has_fold();
    if (!is_tested) check(data.train(), "training samples");
    if (with_external) check(data.external(), "external images");
  }
  std::vector<std::string> lines;
  for (const auto& [key, of_task] : found) {
    lines.push_back(
        absl::StrCat(of_task.first,
                     of_task.other_splits > 0 ? absl::StrCat(" (and in ", of_task.other_splits, " other splits)") : "",
                     ", so the test is easier than new samples are: ",
                     key.second == "training samples"
                         ? "keep each cluster in one part, or let openset draw the parts or folds (docs/data.md)"
                         : "take external images from a part, or a data set, without these clusters"));
  }
  return lines;
}

std::vector<MissingData> FindMissingData(const Plan& plan, const Catalog& catalog,
                                         const std::vector<std::string>& data_folders) {
  const Inputs inputs(plan, false);
  std::vector<MissingData> missing;
  for (const auto& [data_set, part] : inputs.parts()) {
    const absl::StatusOr<const DataSetInfo*> info = catalog.Find(data_set);
    if (!info.ok() || (!missing.empty() && missing.back().data_set == data_set)) continue;
    const absl::Status files = CheckFiles(**info, part, data_folders);
    if (files.ok()) continue;
    std::string fix = absl::StrCat("openset data fetch ", data_set);
    if ((*info)->fetch_size() == 0) {
      fix = "provide the files";
    } else if (absl::c_all_of((*info)->fetch(), [](const DataSource& source) { return source.has_by_hand(); })) {
      absl::StrAppend(&fix, " says what to do by hand");
    }
    missing.push_back({data_set, OneLine(files.message()), std::move(fix)});
  }
  return missing;
}

}  // namespace openset
