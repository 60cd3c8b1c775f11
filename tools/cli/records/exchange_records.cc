#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/suggest.h"
#include "experiments/spec/spec_folders.h"
#include "experiments/store/bundle.h"
#include "experiments/store/merge.h"
#include "experiments/store/records/record_fields.h"
#include "experiments/store/store_contents.h"
#include "experiments/store/upgrade.h"
#include "experiments/study/study.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/run_config.h"
#include "tools/cli/records/actions.h"
#include "tools/cli/records/bundle_records.h"

namespace openset {
namespace {

constexpr int kWithout[] = {TrialRecord::kMetricFieldNumber, TrialRecord::kEpochFieldNumber,
                            TrialRecord::kDetailsFieldNumber};

// Of `ids`, all of the store, those of the study's trials, also the candidates of its searches.
std::vector<std::string> RecordsOfStudy(const Study& study, const std::vector<std::string>& ids, UnreadRecords* unread,
                                        std::vector<std::string>* hints) {
  const std::set<std::string> there(ids.begin(), ids.end());
  const int trials = static_cast<int>(study.plan().trials.size());
  std::set<std::string> wanted, found;
  for (int t = 0; t < trials; ++t) wanted.insert(study.plan().trial_id(t));
  absl::c_copy_if(wanted, std::inserter(found, found.end()), [&](const auto& id) { return there.count(id) > 0; });
  if (found.size() < wanted.size()) {
    hints->push_back(absl::StrCat(wanted.size() - found.size(), " of ", TrialCount(static_cast<int>(wanted.size())),
                                  " of the study ", study.name(), " have no record"));
  }
  // A finished search is not planned again. The record of the tuned trial names its candidates, unless it chose the
  // method's own values: then the candidates are found by the name of the study.
  std::set<std::string> candidates;
  for (const TrialRecord& record : LoadRecords(study.store(), unread, kWithout)) {
    const TrialSpec& trial = record.trial();
    const bool is_candidate = trial.data().test_known().only_last_per_class() > 0;
    if (is_candidate && trial.experiment() == study.name() && trial.overrides().empty()) {
      candidates.insert(record.trial_id());
    }
    if (found.count(record.trial_id()) == 0) continue;
    for (const SearchCandidate& candidate : trial.search().candidate()) {
      candidates.insert(candidate.trial_id());
      for (const SearchRung& rung : candidate.rung()) candidates.insert(rung.trial_id());
    }
  }
  absl::c_copy_if(candidates, std::inserter(found, found.end()), [&](const auto& id) { return there.count(id) > 0; });
  return {found.begin(), found.end()};
}

// A record names one study, the one whose run made it. Says how many trials of `study`, whose spec the store keeps,
// have records that name others, and that the query therefore left out.
void AddOtherNames(const std::string& study, const Store& store, const std::vector<std::string>& exported,
                   const std::vector<RecordFields>& all, const RunConfig& config, std::vector<std::string>* hints) {
  std::map<std::string, std::string> others;  // the other studies of records that were left out, by their ids
  const std::set<std::string> have(exported.begin(), exported.end());
  for (const RecordFields& fields : all) {
    const RecordField* const of_record = Find(fields, "experiment");
    const std::string& id = Find(fields, "trial")->value;
    if (of_record != nullptr && of_record->value != study && have.count(id) == 0) others[id] = of_record->value;
  }
  const absl::StatusOr<KeptSpec> kept = LoadKeptSpec(store, study);
  if (others.empty() || !kept.ok() || kept->text.empty()) return;
  constexpr char kHow[] = "'openset records export SPEC.textproto' exports the records of all of its trials";
  const absl::StatusOr<std::unique_ptr<Study>> loaded =
      LoadStudy(JoinPath(store.ReportFolder(study), "spec.textproto"), config);
  if (!loaded.ok()) {
    hints->push_back(
        absl::StrCat("trials of ", study, " that runs of other studies made are not in the bundle: ", kHow));
    return;
  }
  std::set<std::string> left_out, studies;
  for (int t = 0; t < static_cast<int>((*loaded)->plan().trials.size()); ++t) {
    const auto other = others.find((*loaded)->plan().trial_id(t));
    if (other == others.end()) continue;
    left_out.insert(other->first);
    studies.insert(other->second);
  }
  if (left_out.empty()) return;
  hints->push_back(absl::StrCat("the bundle lacks ", TrialCount(static_cast<int>(left_out.size())), " of ", study,
                                " that runs of ", absl::StrJoin(studies, ", "), " made: ", kHow));
}

}  // namespace

absl::Status ExportRecords(const std::optional<std::string>& text, const RunConfig& config) {
  if (config.bundle.empty()) {
    return absl::InvalidArgumentError("--bundle: name the archive to write, --bundle=results.zip");
  }
  if (!absl::EndsWith(config.bundle, ".zip")) {
    return absl::InvalidArgumentError(absl::StrCat("--bundle: ", config.bundle, ": a bundle's name must end in ",
                                                   ".zip; `openset report SPEC --format=csv --tidy` writes a table"));
  }
  RecordQuery query;
  const bool is_study = text.has_value() && !absl::StripAsciiWhitespace(*text).empty() && !IsQuery(*text);
  if (text.has_value() && !is_study) {
    OPENSET_ASSIGN_OR_RETURN(query, RecordQuery::Parse(*text));
  }
  OPENSET_ASSIGN_OR_RETURN(const Store store, ExistingStore(config, StoreUse::kRead));
  std::vector<std::string> ids, hints;
  std::map<std::string, std::string> spec_of_study;
  UnreadRecords unread;
  const auto knows_all = [&unread]() -> absl::Status {
    OPENSET_RETURN_IF_ERROR(unread.ReadFailure());
    if (unread.damaged.empty()) return absl::OkStatus();
    return absl::DataLossError(
        absl::StrCat(unread.damaged[0], "; 'openset records verify' moves corrupt records to quarantine/"));
  };
  if (!text.has_value() || is_study) {
    ids = RecordIds(store, &unread);
    OPENSET_RETURN_IF_ERROR(knows_all());
    if (is_study) {
      OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(*text, config));
      ids = RecordsOfStudy(*study, ids, &unread, &hints);
      OPENSET_RETURN_IF_ERROR(knows_all());
      const absl::StatusOr<std::string> spec = ReadFile(study->experiment().source.file(), kMaxTextBytes);
      if (spec.ok()) spec_of_study[absl::StrCat("specs/", study->name(), ".textproto")] = *spec;
    }
  } else {
    const std::vector<RecordFields> all = LoadFields(store, &unread);
    for (const std::string& line : unread.VersionLines()) std::cerr << line << "\n";
    OPENSET_RETURN_IF_ERROR(knows_all());
    OPENSET_RETURN_IF_ERROR(query.Resolve(all));
    ids = query.TrialsOf(all);
    for (const std::string& study : query.ValuesOf("experiment")) AddOtherNames(study, store, ids, all, config, &hints);
  }
  if (ids.empty()) return absl::NotFoundError(absl::StrCat("no record of ", store.folder(), " matches"));
  BundleExtras extras;
  for (const std::string& what : config.with) {
    if (what != "outputs" && what != "checkpoints") {
      return absl::InvalidArgumentError(
          absl::StrCat("--with: ", UnknownName("addition", what, {"outputs", "checkpoints"})));
    }
    (what == "outputs" ? extras.outputs : extras.checkpoints) = true;
  }
  for (const std::string& what : config.without) {
    if (what != "details")
      return absl::InvalidArgumentError(absl::StrCat("--without: ", UnknownName("part", what, {"details"})));
    extras.details = false;
  }
  OPENSET_ASSIGN_OR_RETURN(SpecFolders folders, FindSpecFolders(config));
  folders.specs.push_back(UserPath("."));  // for studies that are in no library
  OPENSET_ASSIGN_OR_RETURN(const TemporaryFolder unpacked, TemporaryFolder::Make("bundle"));
  OPENSET_RETURN_IF_ERROR(AddLibraryOf(store, unpacked.path(), &folders));
  std::vector<std::string> left_out;
  {
    UnreadRecords others;  // not in the bundle, or of another version, which WriteBundle() refuses
    std::vector<TrialRecord> records = LoadRecords(store, &others, kWithout);
    OPENSET_RETURN_IF_ERROR(others.ReadFailure());
    const std::set<std::string> wanted(ids.begin(), ids.end());
    records.erase(std::remove_if(records.begin(), records.end(),
                                 [&](const TrialRecord& record) { return wanted.count(record.trial_id()) == 0; }),
                  records.end());
    extras.library = LibraryOfRecords(records, folders, &left_out);
    extras.library.insert(spec_of_study.begin(), spec_of_study.end());
  }
  const absl::StatusOr<BundleWritten> written = WriteBundle(store, ids, UserPath(config.bundle), extras);
  if (absl::IsDataLoss(written.status())) {
    return absl::DataLossError(
        absl::StrCat(written.status().message(), "; 'openset records verify' moves corrupt records to quarantine/"));
  }
  if (!written.ok()) return written.status();
  std::cout << config.bundle << ": " << Counted(written->manifest.records(), "trial")
            << (written->manifest.replicas() > 0
                    ? absl::StrCat(" and ", written->manifest.replicas(), " more records of them")
                    : "")
            << "\nsha256 of the content (not of the file) " << written->digest << "\n";
  left_out.insert(left_out.end(), written->left_out.begin(), written->left_out.end());
  for (const std::string& line : left_out) std::cerr << "left out: " << OneLine(line) << "\n";
  for (const std::string& hint : hints) std::cerr << "hint: " << OneLine(hint) << "\n";
  return absl::OkStatus();
}

absl::Status UpgradeRecords(const std::string& from, const std::string& to) {
  UpgradeCounts counts;
  if (IsBundle(from) != IsBundle(to)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "usage: openset records upgrade OLD NEW: both are stores, or both bundles whose names end in .zip, not '", from,
        "' and '", to, "'"));
  }
  if (!IsBundle(from)) {
    OPENSET_ASSIGN_OR_RETURN(counts, UpgradeStore(Store(UserPath(from)), Store(UserPath(to))));
  } else {
    if (FileExists(UserPath(to))) return absl::AlreadyExistsError(absl::StrCat(to, " exists; name a new bundle"));
    BundleWritten written;
    OPENSET_ASSIGN_OR_RETURN(counts, UpgradeBundle(UserPath(from), UserPath(to), &written));
    std::cout << "sha256 of the content (not of the file) " << written.digest << "\n";
  }
  std::cout << to << ": " << Counted(counts.merged.trials, "new trial") << ", "
            << Counted(counts.merged.replicas + counts.merged.differing, "more record") << " of them, "
            << Counted(counts.checkpoints, "checkpoint") << ", " << counts.outputs << " outputs\n";
  for (const std::string& line : counts.left_out) std::cerr << "left out: " << OneLine(line) << "\n";
  if (counts.left_out.empty()) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat(Counted(counts.left_out.size(), "result"), " of ", from, " could not be upgraded"));
}

absl::Status MergeRecords(const std::vector<std::string>& sources, const RunConfig& config) {
  if (sources.empty()) {
    return absl::InvalidArgumentError("usage: openset records merge STORE_OR_BUNDLE... (into --store)");
  }
  OPENSET_ASSIGN_OR_RETURN(const Store store, OpenStore(config, StoreUse::kMayMake));
  for (const std::string& source : sources) OPENSET_RETURN_IF_ERROR(CheckMergeSource(UserPath(source)));
  MergeCounts counts;
  for (const std::string& source : sources) OPENSET_RETURN_IF_ERROR(MergeFrom(UserPath(source), store, &counts));
  std::cout << Counted(counts.trials, "new trial") << ", " << Counted(counts.replicas, "replica")
            << " with the same numbers, " << counts.differing << " with other numbers, " << counts.there
            << " there already";
  if (counts.outputs + counts.checkpoints > 0) {
    std::cout << "; " << Counted(counts.checkpoints, "new checkpoint") << ", " << counts.outputs << " new outputs";
  }
  std::cout << "\n";
  std::vector<std::string> parts;
  if (counts.differing > 0) {
    UnreadRecords unread;
    int contradictions = 0;
    for (const std::string& id : ReplicaIds(store, &unread)) {
      const absl::StatusOr<std::vector<TrialRecord>> records = LoadReplicas(store, id);
      unread.Add(records.status());
      if (!records.ok()) continue;
      const std::vector<std::string> lines = DifferenceLines(*records);
      if (lines.empty()) continue;
      std::cout << id.substr(0, 12) << ": its records have different numbers and are kept side by side\n";
      for (const std::string& line : lines) std::cout << "  " << line << "\n";
      contradictions += ContradictEachOther(*records);
    }
    if (contradictions > 0) {
      parts.push_back(
          absl::StrCat("the records of ", Counted(contradictions, "trial"),
                       " contradict each other (above); until you remove the wrong one, lists may show it"));
    }
    counts.unreadable.insert(counts.unreadable.end(), unread.unreadable.begin(), unread.unreadable.end());
  }
  if (!counts.damaged.empty()) {
    parts.push_back(absl::StrCat(Counted(counts.damaged.size(), "corrupt record"), " left out:\n",
                                 absl::StrJoin(counts.damaged, "\n")));
  }
  if (!counts.unreadable.empty()) parts.push_back(UnreadableText(counts.unreadable));
  return parts.empty() ? absl::OkStatus() : absl::AbortedError(absl::StrJoin(parts, "\n"));
}

}  // namespace openset
