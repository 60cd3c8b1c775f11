#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "core/files/temporary_folder.h"
#include "core/status_macros.h"
#include "core/text/wrapped_text.h"
#include "experiments/spec/command_sources.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/model_files.h"
#include "experiments/spec/trial.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/merge.h"
#include "experiments/store/store_contents.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/run_config.h"
#include "tools/cli/records/bundle_records.h"
#include "tools/cli/records/difference_size.h"
#include "tools/cli/records/spec_of_record.h"
#include "tools/cli/run/run_plan.h"

namespace openset {
namespace {

// Removes the candidates of searches, and prints their number: they were evaluated on validation images, and no study
// has a trial for them.
void LeaveOutCandidates(std::vector<TrialRecord>* records) {
  std::set<std::string> candidates;
  for (const TrialRecord& record : *records) {
    for (const SearchCandidate& candidate : record.trial().search().candidate()) {
      candidates.insert(candidate.trial_id());
      for (const SearchRung& rung : candidate.rung()) candidates.insert(rung.trial_id());
    }
  }
  // If the tuned trial equals a trial without a search, its record has no log.
  const auto gone = std::remove_if(records->begin(), records->end(), [&](const TrialRecord& record) {
    return record.trial().data().test_known().only_last_per_class() > 0 || candidates.count(record.trial_id()) > 0;
  });
  const auto count = records->end() - gone;
  records->erase(gone, records->end());
  if (count > 0) std::cout << count << (count == 1 ? " candidate" : " candidates") << " of searches left out\n";
}

// The trials to run again, and the records for comparison.
struct Repeated {
  Store from;
  std::vector<TrialRecord> records;
  std::vector<TrialRecord> stored;  // all records
  size_t left_out = 0;              // further trials of the bundle
};

// The given trial or, of a bundle, the first --trials.
absl::StatusOr<Repeated> RecordsToRepeat(const std::vector<std::string>& arguments, RunConfig config) {
  if (const std::string bundle = BundleOf(arguments[0]); !bundle.empty() && config.store.value_or(bundle) != bundle) {
    return absl::InvalidArgumentError(
        absl::StrCat("--store: the trial is of ", arguments[0],
                     ": leave --store out; --again=FOLDER is the store of the new results"));
  }
  OPENSET_ASSIGN_OR_RETURN(const bool is_bundle, UseBundle(arguments[0], &config));
  if (!is_bundle && arguments.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(arguments[0], ": is not a bundle (BUNDLE.zip): give one trial of the store"));
  }
  const int trials = config.trials;
  if (trials < 0) return absl::InvalidArgumentError(absl::StrCat("--trials: must be at least 0 (is ", trials, ")"));
  OPENSET_ASSIGN_OR_RETURN(const Store store, OpenStore(config, StoreUse::kRecords));
  OPENSET_RETURN_IF_ERROR(store.CheckIsStore());
  UnreadRecords unread;
  constexpr int kWithout[] = {TrialRecord::kEpochFieldNumber, TrialRecord::kDetailsFieldNumber};
  Repeated repeated{store, {}, LoadFirstRecords(store, &unread, kWithout)};
  OPENSET_RETURN_IF_ERROR(is_bundle ? unread.Problems() : unread.ReadFailure());
  if (is_bundle) LeaveOutCandidates(&repeated.stored);
  std::vector<std::string> ids;
  if (arguments.size() > (is_bundle ? 1 : 0)) {
    OPENSET_ASSIGN_OR_RETURN(ids.emplace_back(), FindTrial(store, arguments.back()));
  } else {
    const size_t all = repeated.stored.size(), count = trials == 0 ? all : std::min<size_t>(all, trials);
    for (size_t i = 0; i < count; ++i) ids.push_back(repeated.stored[i].trial_id());
    repeated.left_out = all - count;
  }
  for (const std::string& id : ids) {
    OPENSET_ASSIGN_OR_RETURN(repeated.records.emplace_back(), LoadFirstRecord(store, id));
  }
  return repeated;
}

// The kinds of CPU or GPU of both sides, and what follows for the bits.
std::string MachineLine(const TrialRecord& record, const TrialRecord& again) {
  const std::string before = KindOfMachine(record), now = KindOfMachine(again);
  if (before == now) {
    return before.empty() ? "no kind of CPU is recorded: no LibTorch was used"
                          : absl::StrCat("the same kind of CPU or GPU (", now, ")");
  }
  return absl::StrCat("another kind of CPU or GPU: ", before.empty() ? "unknown" : before, " made the record, and ",
                      now.empty() ? "unknown" : now, " this run, so that the bits can't be expected to agree");
}

// "" unless the same bits were to be expected: the same kind of CPU, and no recorded difference in what computes.
std::string UnexpectedLine(const TrialRecord& record, const TrialRecord& again) {
  if (!OnTheSameKindOfCpu(record, again)) return "";
  for (const std::string& line : ProvenanceDifferences({record, again})) {
    for (const char* field : {"compiler", "libtorch_version", "third_party", "libraries", "component", "threads"}) {
      if (absl::StartsWith(line, field)) return "";
    }
  }
  return "unexpected: the same compiler, libraries and component sources give the same bits on the same kind of CPU; a "
         "difference means that one side ran something else than it says";
}

// Where the sources of a command or the files of a model may be: the current folder, next to the method files of the
// libraries, and the folders that they were in: the record's own, of an older openset, and those of the imported model.
std::vector<std::string> SourceFolders(const SpecFolders& folders, const TrialRecord& record, const Store& from) {
  std::vector<std::string> places = {UserPath(".")};
  places.insert(places.end(), folders.methods.begin(), folders.methods.end());
  const std::string& of_command = record.trial().method().training().command().folder();
  if (!of_command.empty()) places.push_back(of_command);
  const absl::StatusOr<TrainSummary> imported = from.LoadTrainSummary(record.checkpoint_key());
  ModelSpec model = imported.ok() ? imported->action().train().model() : ModelSpec();
  for (const std::string& path : KeepFileNames(&model)) {
    places.push_back(std::filesystem::path(path).parent_path().string());
  }
  return places;
}

// Runs the trial in the other store. Prints and returns the verdict on its numbers.
absl::StatusOr<Reproduced> Repeat(const TrialRecord& record, const Repeated& repeated, const Store& store,
                                  const StudyOptions& options, const SpecFolders& folders, const RunConfig& config) {
  absl::StatusOr<SpecThatRepeats> made = SpecOfRecord(record, folders, store, options);
  if (!made.ok()) return WithMissingLibrary(made.status(), repeated.from, record);
  if (!made->unchecked.empty()) return absl::FailedPreconditionError(made->unchecked);
  ExperimentSpec& spec = made->spec;
  const std::string what = absl::StrCat(record.trial_id().substr(0, 12), ", ", Describe(record.trial()));
  const std::vector<std::string> places = SourceFolders(folders, record, repeated.from);
  if (spec.override().has_model()) {
    OPENSET_RETURN_IF_ERROR(FindFilesByName(places, spec.mutable_override()->mutable_model()), what);
  }
  OPENSET_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make("again"));
  // A source may be ".", which leaves out such names.
  const std::string path = JoinPath(folder.path(), absl::StrCat(".", spec.name(), ".textproto"));
  if (CommandSpec command = record.trial().method().training().command(); !command.source().empty()) {
    OPENSET_RETURN_IF_ERROR(FindSources(places, &command), what);
    OPENSET_RETURN_IF_ERROR(CopySources(command, folder.path()));
  }
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(path, SpecFile(*made, record)));
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, Study::Load(path, folders, store, options));
  OPENSET_RETURN_IF_ERROR(RunPlan(study.get(), config));
  OPENSET_ASSIGN_OR_RETURN(const TrialRecord again, store.LoadRecord(record.trial_id()));
  const std::vector<MetricVerdict> verdicts = CompareAgain(record, again, repeated.stored);
  const Reproduced verdict = VerdictOnAll(verdicts);
  std::cout << what << ": " << VerdictText(verdict) << "\n";
  for (const MetricVerdict& metric : verdicts) {
    std::cout << Wrapped(absl::StrCat("  ", metric.metric, ": ", metric.text)) << "\n";
  }
  std::cout << Wrapped(absl::StrCat("  ", MachineLine(record, again))) << "\n";
  if (verdict == Reproduced::kSameBits) return verdict;
  if (const std::string line = UnexpectedLine(record, again); !line.empty()) {
    std::cout << Wrapped(absl::StrCat("  ", line)) << "\n";
  }
  std::cout << "  the record's number, then this run's, and what made them\n";
  for (const std::string& line : DifferenceLines({record, again})) {
    std::cout << Wrapped(absl::StrCat("    ", line)) << "\n";
  }
  return verdict;
}

absl::Status RunReproduce(const std::vector<std::string>& arguments, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const Repeated repeated, RecordsToRepeat(arguments, config));
  const std::vector<TrialRecord>& records = repeated.records;
  OPENSET_ASSIGN_OR_RETURN(SpecFolders folders, FindSpecFolders(config));
  OPENSET_ASSIGN_OR_RETURN(const TemporaryFolder unpacked, TemporaryFolder::Make("bundle"));
  OPENSET_RETURN_IF_ERROR(AddLibraryOf(repeated.from, unpacked.path(), &folders));
  OPENSET_ASSIGN_OR_RETURN(const StudyOptions options, MakeStudyOptions(config));
  // Commands run in other folders.
  const Store store(AbsolutePath(UserPath(config.again)));
  OPENSET_RETURN_IF_ERROR(store.CheckMayBeMade());
  std::map<Reproduced, int> count;
  for (const TrialRecord& record : records) {
    OPENSET_ASSIGN_OR_RETURN(const Reproduced verdict, Repeat(record, repeated, store, options, folders, config));
    ++count[verdict];
  }
  std::vector<std::string> others;
  for (const auto& [verdict, number] : count) {
    if (verdict != Reproduced::kSameBits) others.push_back(absl::StrCat(number, " ", VerdictText(verdict)));
  }
  const int same = count[Reproduced::kSameBits];
  std::cout << same << " of " << TrialCount(static_cast<int>(records.size())) << " reproduced to the bit"
            << (others.empty() ? "" : "; ") << absl::StrJoin(others, "; ");
  if (repeated.left_out > 0) {
    std::cout << "; the bundle has " << TrialCount(static_cast<int>(records.size() + repeated.left_out))
              << " (--trials=0 runs all)";
  }
  std::cout << "\n";
  if (same == static_cast<int>(records.size())) return absl::OkStatus();
  return absl::AbortedError("some trials have other numbers; the lines above list the differences");
}

}  // namespace

Command ReproduceCommand() {
  Command command;
  command.name = "reproduce";
  command.arguments = "TRIAL | BUNDLE [TRIAL]";
  command.min_arguments = 1;
  command.max_arguments = 2;
  command.summary = "Runs the trials of records again and compares the numbers.";
  command.description =
      "TRIAL is the first digits of an id, in the store or in a bundle (BUNDLE.zip). Without it, --trials trials of\n"
      "the bundle are run. Candidates of searches are left out, because no study has a trial for them. Each trial is\n"
      "run again in the store of --again, with the settings in its record, and must get the same id. Its numbers are\n"
      "compared to the last bit. The verdict on each metric is: same bits; same within the seed's spread (as two\n"
      "seeds of that method differ, by the other stored runs, in 19 of 20 cases for all metrics together: Holm); or\n"
      "different, also if the outputs or all other metrics have the same bits. The trial has the worst of them. "
      "openset\n"
      "prints the kind of CPU (vendor and kernels) or GPU of both sides and, if numbers differ, what differs in the\n"
      "program, its libraries and components, or that the same bits were to be expected.\n"
      "It needs the task, which a bundle contains, and its data ('openset data fetch'). 'openset records spec TRIAL'\n"
      "prints the study that is run. The sources of a trainer of your own (docs/trainer.md), and the files of an "
      "imported\n"
      "model, must be in the current folder, in the methods/ of a --library or where they were. Exit code: 0 if all "
      "numbers are the same, 1 if not.\n"
      "\n"
      "  openset reproduce 3f2a91c0\n"
      "  openset reproduce results.zip --trials=3\n"
      "  openset reproduce results.zip 3f2a91c0\n";
  command.flags = RunFlags();
  // Flags that a repetition doesn't use.
  for (const char* flag : {"engine", "redo", "only", "detach", "slurm_task", "tag", "always_allow"}) {
    command.flags.erase(std::find(command.flags.begin(), command.flags.end(), flag));
  }
  command.flags.insert(command.flags.end(), {"trials", "again", "max_trials"});
  command.run = RunReproduce;
  return command;
}

}  // namespace openset
