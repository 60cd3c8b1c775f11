

#include "tools/cli/flags/flags.h"

#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/files/temporary_folder.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/terminal.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/plan/search.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/store/bundle.h"
#include "experiments/store/merge.h"
#include "experiments/store/store.h"
#include "experiments/store/store_contents.h"
#include "tools/cli/flags/deploy_flags.h"
#include "tools/cli/flags/library_flags.h"
#include "tools/cli/score/score_experiment.h"

namespace openset {
namespace {

// The content of a published folder, which is kept until the process exits.
struct Published {
  std::optional<TemporaryFolder> folder;
  std::map<std::string, std::string> library;
};

Published& ThePublished() {
  static Published published;
  return published;
}

// Puts the bundle's records into a temporary store, which is removed when the process exits, and sets --store to it.
absl::Status ReadIntoStore(const std::string& bundle) {
  if (absl::GetFlag(FLAGS_store).has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--store: ", bundle, " has the records of this study; for those of a store, name the spec"));
  }
  OPENSET_ASSIGN_OR_RETURN(TemporaryFolder made, TemporaryFolder::Make("study"));
  Published& published = ThePublished();
  published.folder = std::move(made);
  const std::string path = JoinPath(published.folder->path(), "store");
  const Store store(path);
  OPENSET_RETURN_IF_ERROR(store.Make());
  MergeCounts counts;
  OPENSET_RETURN_IF_ERROR(MergeFrom(bundle, store, &counts, &published.library));
  if (!counts.unreadable.empty()) return absl::UnavailableError(UnreadableText(counts.unreadable));
  if (!counts.damaged.empty()) {
    return absl::AbortedError(absl::StrCat("corrupt records:\n", absl::StrJoin(counts.damaged, "\n")));
  }
  absl::SetFlag(&FLAGS_store, path);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> SpecOfStudyFolder(const std::string& argument) {
  std::error_code error;
  const std::filesystem::path given = std::filesystem::path(UserPath(argument)).lexically_normal();
  if (argument.empty() || !std::filesystem::is_directory(given, error)) return argument;
  const std::filesystem::path folder = given.has_filename() ? given : given.parent_path();
  const std::string name = JoinPath(folder.string(), folder.filename().string());
  const std::string spec = absl::StrCat(name, ".textproto"), bundle = absl::StrCat(name, ".zip");
  if (!FileExists(spec)) return argument;
  // A dangling link counts as an unreadable bundle, not as a missing one.
  if (std::filesystem::exists(std::filesystem::symlink_status(bundle, error))) {
    OPENSET_RETURN_IF_ERROR(ReadIntoStore(bundle));
  }
  return spec;
}

namespace {

// Writes the tasks and catalog entries of a bundle's library below `root`, and adds them to `folders` behind the user's
// libraries.
absl::Status CarryLibrary(const std::map<std::string, std::string>& library, const std::string& root,
                          SpecFolders* folders) {
  const std::vector<std::string> entries = NamesIn(folders->catalog);
  for (const auto& [name, content] : library) {
    const bool is_task = absl::StartsWith(name, "tasks/"), is_entry = absl::StartsWith(name, "catalog/");
    if (!is_task && !is_entry) continue;
    // Two different files of one name would be an error, and the user's libraries take precedence.
    const std::string file = name.substr(name.find('/') + 1);
    if (is_entry && absl::c_linear_search(entries, absl::StripSuffix(file, ".textproto"))) continue;
    const std::string path = JoinPath(root, name);
    OPENSET_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/'))));
    OPENSET_RETURN_IF_ERROR(WriteFileAtomically(path, content));
  }
  const SpecFolders carried = SpecFoldersBelow(root);
  folders->catalog.insert(folders->catalog.end(), carried.catalog.begin(), carried.catalog.end());
  folders->carried_tasks = carried.tasks;
  return absl::OkStatus();
}

constexpr char kLibrary[] = "library/";  // in a bundle (experiments/store/bundle.h)

// If a study in the file `path` names a task that no library has, adds the library of a bundle in the same folder that
// has it, as for a study that `openset records spec BUNDLE` printed. Other problems of the file are found later.
absl::Status AddLibraryBeside(const std::string& path, SpecFolders* folders) {
  ExperimentSpec spec;
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxTextBytes);
  if (!text.ok() || !ParseTextProto(*text, path, &spec).ok()) return absl::OkStatus();
  const std::vector<std::string> known = NamesIn(folders->tasks);
  std::set<std::string> wanted;
  for (const std::string& task : spec.task()) {
    const std::string name = task.substr(0, task.find('+'));
    if (!absl::EndsWith(name, ".textproto") && !absl::c_linear_search(known, name)) {
      wanted.insert(absl::StrCat("tasks/", name, ".textproto"));
    }
  }
  if (wanted.empty()) return absl::OkStatus();
  const std::string folder = path.find('/') == std::string::npos ? "." : path.substr(0, path.rfind('/'));
  for (const std::string& name : ListFolder(folder).value_or(std::vector<std::string>())) {
    if (!absl::EndsWith(name, ".zip")) continue;
    std::map<std::string, std::string> library;
    std::vector<std::string> refused;
    const auto add = [&](const std::string& file, const std::string& content) {
      library[std::string(absl::StripPrefix(file, kLibrary))] = content;
      return absl::OkStatus();
    };
    const absl::Status read =
        ReadBundle(
            JoinPath(folder, name), [](const TrialRecord&, const std::string&) { return absl::OkStatus(); }, &refused,
            {}, add, [](const std::string& file) { return absl::StartsWith(file, kLibrary); })
            .status();
    if (!read.ok() || absl::c_none_of(wanted, [&](const std::string& task) { return library.count(task) > 0; })) {
      continue;
    }
    static std::optional<TemporaryFolder> unpacked;  // until the process exits
    OPENSET_ASSIGN_OR_RETURN(TemporaryFolder made, TemporaryFolder::Make("library"));
    unpacked = std::move(made);
    // Tasks by their names, of which the user's libraries have none.
    for (auto entry = library.begin(); entry != library.end();) {
      const bool is_other = absl::StartsWith(entry->first, "tasks/") && wanted.count(entry->first) == 0;
      entry = is_other ? library.erase(entry) : std::next(entry);
    }
    OPENSET_RETURN_IF_ERROR(CarryLibrary(library, unpacked->path(), folders));
    folders->tasks.insert(folders->tasks.end(), folders->carried_tasks.begin(), folders->carried_tasks.end());
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AddCarriedLibrary(SpecFolders* folders) {
  const Published& published = ThePublished();
  if (!published.folder.has_value()) return absl::OkStatus();
  return CarryLibrary(published.library, JoinPath(published.folder->path(), "library"), folders);
}

}  // namespace openset

ABSL_FLAG(std::string, redo, "",
          "Make results in the store again: 'changed' (made by components whose source code has changed since), 'all', "
          "the name of a method of the study (results that only its trials need), or 'failed' (trainings that failed "
          "start over instead of continuing from their saved state). `run` removes these results when it begins; "
          "`plan` shows what it would do.");

ABSL_FLAG(std::string, only, "",
          "Which of the trials without a record to run: 'failed' (one of their actions failed before), 'missing' (none "
          "failed). 'changed': do what --redo=changed does, and nothing else. Default: all trials without a record.");

ABSL_FLAG(std::string, slurm_task, "", "Set in the jobs that --engine=slurm submits: the file of their array.");

ABSL_FLAG(
    std::string, axis, "",
    "PATH=VALUE,VALUE: measure each of several values of a field of the methods (training.epochs=5,10), as an axis "
    "of the spec does. May be given several times: all combinations.");

ABSL_FLAG(std::string, set, "",
          "PATH=VALUE: set a field of every method that has it (training.epochs=5, loss.open_auc.lambda=0.2) or of the "
          "study (train_limit_per_class=100). Overrides the spec; may be given several times. Records say what was "
          "overridden, and the report has its own folder.");
ABSL_FLAG(
    std::string, until, "",
    "METRIC: DIFFERENCE, such as 'auroc: 1.0': add splits, then seeds, until every comparison of this metric with "
    "the baseline is decided or a difference of this size (in the unit of tables) is excluded; the spec's splits "
    "and seeds come first. Or the fields of `until` in a spec: 'metric { auroc {} } difference: 1 max_splits: "
    "30'.");
ABSL_FLAG(std::string, seeds, "", "Seeds instead of the spec's: 0..4, or 0,3,7..9.");
ABSL_FLAG(std::vector<std::string>, methods, {},
          "Methods, separated by commas, instead of the spec's. With `score`, empty: all that need no training.");

ABSL_FLAG(
    std::vector<std::string>, tag, {},
    "Labels of the records that this run makes, separated by commas: 'openset records ls tag=NAME' finds them. They "
    "change no trial: records that exist already keep their own.");

ABSL_FLAG(int64_t, max_trials, openset::kMostTrials,
          "Refuse a study that would make more trials, or more candidates of searches, than this.");

namespace openset {
namespace {

// The folders that were given, without the default ones.
absl::Status CheckDataFolders() {
  OPENSET_ASSIGN_OR_RETURN(const Deployment deployment, DeploymentFromFlags());
  for (const std::string& folder : deployment.spec.data_folder()) {
    std::error_code error;
    if (std::filesystem::is_directory(folder, error)) continue;
    const std::string where =
        absl::c_linear_search(deployment.flags, "data") ? "--data" : deployment.Where("data_folder");
    return absl::NotFoundError(absl::StrCat(where, ": there is no folder ", folder));
  }
  return absl::OkStatus();
}

// "small" for ./small.textproto, or for the study "small" in the libraries.
absl::StatusOr<std::string> SpecByName(const std::string& name, const SpecFolders& folders) {
  const std::string own = UserPath(absl::StrCat(name, ".textproto"));
  if (absl::EndsWith(name, ".textproto")) return UserPath(name);
  if (name.empty() || !FileExists(own)) return name;
  for (const std::string& folder : folders.specs) {
    const absl::StatusOr<std::string> content =
        ReadFile(JoinPath(folder, absl::StrCat(name, ".textproto")), kMaxTextBytes);
    if (!content.ok()) continue;
    if (*content == ReadFile(own, kMaxTextBytes).value_or("")) return name;
    return absl::InvalidArgumentError(absl::StrCat("'", name, "' may be ", own, " or the study of that name in ",
                                                   folder, ": use '", name, ".textproto' for yours, or give a path"));
  }
  return own;
}

// Applies the submitter's choice of actions in a task of Slurm.
absl::Status SelectForTask(StudyOptions* options) {
  OPENSET_ASSIGN_OR_RETURN(const SlurmArray array, ThisArray(absl::GetFlag(FLAGS_slurm_task)));
  if (array.only_these()) options->only_records = {array.record().begin(), array.record().end()};
  return absl::OkStatus();
}

}  // namespace

bool IsSlurmTask() { return !absl::GetFlag(FLAGS_slurm_task).empty(); }

void AddChangeFlags(Command* command) {
  for (const char* flag : {"set", "axis", "seeds", "methods", "until", "max_trials"}) command->flags.push_back(flag);
  command->repeated_flags.insert(command->repeated_flags.end(), {"set", "axis"});
}

absl::Status RefuseChangeFlags(const std::string& what) {
  for (const auto& [flag, given] : {std::pair{"set", !absl::GetFlag(FLAGS_set).empty()},
                                    {"axis", !absl::GetFlag(FLAGS_axis).empty()},
                                    {"seeds", !absl::GetFlag(FLAGS_seeds).empty()},
                                    {"methods", !absl::GetFlag(FLAGS_methods).empty()},
                                    {"until", !absl::GetFlag(FLAGS_until).empty()}}) {
    if (given) return absl::InvalidArgumentError(absl::StrCat("--", flag, ": is for a study, not for ", what));
  }
  return absl::OkStatus();
}

absl::StatusOr<StudyOptions> StudyOptionsFromFlags() {
  OPENSET_ASSIGN_OR_RETURN(const Devices devices, DevicesFromFlags());
  StudyOptions options;
  options.expand.default_device = devices.default_device;
  options.expand.device_kind = devices.kind;
  options.expand.max_trials = absl::GetFlag(FLAGS_max_trials);
  OPENSET_ASSIGN_OR_RETURN(options.data_folders, DataFoldersFromFlags());
  OPENSET_RETURN_IF_ERROR(CheckDataFolders());
  if (!IsSlurmTask()) {  // otherwise the submitter has removed what runs again, and has chosen the records
    options.redo = absl::GetFlag(FLAGS_redo);
    options.only = absl::GetFlag(FLAGS_only);
  }
  const auto line = std::make_shared<ProgressLine>("images", isatty(STDERR_FILENO) != 0, &std::cerr);
  options.progress = [line](const std::string& what, int64_t done, int64_t total) { line->Update(what, done, total); };
  options.changes.set = absl::StrSplit(absl::GetFlag(FLAGS_set), '\n', absl::SkipEmpty());
  options.changes.axis = absl::StrSplit(absl::GetFlag(FLAGS_axis), '\n', absl::SkipEmpty());
  options.changes.seeds = absl::GetFlag(FLAGS_seeds);
  options.changes.until = absl::GetFlag(FLAGS_until);
  options.changes.methods = absl::GetFlag(FLAGS_methods);
  options.changes.tag = absl::GetFlag(FLAGS_tag);
  return options;
}

absl::StatusOr<std::unique_ptr<Study>> LoadStudy(const std::string& argument, StoreUse use) {
  OPENSET_ASSIGN_OR_RETURN(const std::string spec, SpecOfStudyFolder(argument));
  OPENSET_ASSIGN_OR_RETURN(const Store store, StoreFromFlags(use));
  OPENSET_ASSIGN_OR_RETURN(SpecFolders folders, SpecFoldersFromFlags());
  OPENSET_RETURN_IF_ERROR(AddCarriedLibrary(&folders));
  OPENSET_ASSIGN_OR_RETURN(StudyOptions options, StudyOptionsFromFlags());
  if (IsSlurmTask()) OPENSET_RETURN_IF_ERROR(SelectForTask(&options));
  // The name of a study that `openset score` made.
  if (const absl::StatusOr<ScoreRequest> request = FindScoreRequest(store, spec);
      request.ok() && spec.find('/') == std::string::npos) {
    OPENSET_ASSIGN_OR_RETURN(ScoreExperiment score, MakeScoreExperiment(*request, folders));
    return Study::Make(std::move(score.experiment), store, options);
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string name, SpecByName(spec, folders));
  if (absl::EndsWith(name, ".textproto")) OPENSET_RETURN_IF_ERROR(AddLibraryBeside(name, &folders));
  return Study::Load(name, folders, store, options);
}

std::string TrialCount(int trials) { return absl::StrCat(trials, trials == 1 ? " trial" : " trials"); }

std::string SearchText(const Study& study) {
  const std::string text =
      absl::StrCat(study.plan().trials.size() - study.ReportedTrials().size(),
                   " of them are candidates of searches; tuned trials after them: ", study.waiting());
  std::string undecided;
  for (const std::string& line : study.UndecidedLines()) absl::StrAppend(&undecided, ". ", line);
  for (const PlannedSearch& planned : study.plan().searches) {
    const TrialSearch& search = planned.search;
    if (search.rungs.empty()) continue;
    const std::vector<size_t> sizes = RungSizes(search);
    std::vector<std::string> rungs;
    for (size_t r = 0; r < sizes.size(); ++r) {
      rungs.push_back(absl::StrCat(sizes[r], " after ", search.rungs[r], search.rungs[r] == 1 ? " epoch" : " epochs"));
    }
    return absl::StrCat(text, "; of each search are measured ", absl::StrJoin(rungs, ", "), undecided);
  }
  return text + undecided;
}

}  // namespace openset

ABSL_FLAG(std::string, metrics, "",
          "Metrics, separated by commas. Give fields that differ from the defaults in braces: 'auroc, partial_openauc "
          "{ max_ofpr: 0.1 }'. Empty: all.");
ABSL_FLAG(std::string, score, "",
          "The unknown score to compute from the logits. Give fields that differ from the defaults in braces: energy, "
          "'energy { temperature: 2 }'. Empty: the score in the files, otherwise max_softmax.");
ABSL_FLAG(bool, higher_is_known, false,
          "The files' unknown_score is a confidence (larger = more known); openset negates it.");
ABSL_FLAG(std::string, fit, "", "A file with outputs of held-out known samples, for scores that are fitted.");
ABSL_FLAG(std::vector<std::string>, known, {},
          "Groups of samples whose labels are used as they are; a name with a comma in double quotes. With `task`: how "
          "many classes are known, or which ones: names, ids, or @FILE with one on each line.");
ABSL_FLAG(std::vector<std::string>, unknown, {},
          "Groups of samples that are unknown, whatever their labels. With `task`: how many classes are unknown, or "
          "which ones; empty: all that are not known.");
ABSL_FLAG(std::vector<std::string>, near, {},
          "Groups of unknown samples near the known classes. With `task`: data sets or folders of such samples.");
ABSL_FLAG(std::vector<std::string>, far, {},
          "Groups of unknown samples far from the known classes. With `task`: data sets or folders of such samples.");
ABSL_FLAG(std::vector<std::string>, skip, {}, "Groups of samples to leave out.");
ABSL_FLAG(std::string, ci_method, "bca",
          "bca or percentile (bootstrap), or delong: the closed form for auroc and openauc, bca for other metrics.");
ABSL_FLAG(int, replicates, 2000, "Bootstrap replicates.");
ABSL_FLAG(double, level, 0.95, "Confidence of the intervals.");
ABSL_FLAG(
    uint64_t, seed, 0,
    "Seed of the bootstrap. With `task`: seed of the draws; the same seed gives the same splits on every machine. "
    "With `data`: seed of the train/test split that describe draws, if the folder has no parts.");
ABSL_FLAG(int, threads, 0, "Threads of the bootstrap; 0: one per core. Results are unaffected.");

namespace openset {
namespace {

// A file's path, or NAME=FILE.
std::string UserFile(const std::string& argument) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos || FileExists(UserPath(argument))) return UserPath(argument);
  return absl::StrCat(argument.substr(0, equals + 1), UserPath(argument.substr(equals + 1)));
}

// The names of a flag's list. One in double quotes may contain commas, at which the list was split.
std::vector<std::string> NamesOf(const std::vector<std::string>& parts) {
  std::vector<std::string> names;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string name = parts[i];
    size_t last = i;
    while (absl::StartsWith(name, "\"") && (name.size() < 2 || !absl::EndsWith(name, "\"")) &&
           last + 1 < parts.size()) {
      absl::StrAppend(&name, ",", parts[++last]);
    }
    if (name.size() > 1 && absl::StartsWith(name, "\"") && absl::EndsWith(name, "\"")) {
      names.push_back(name.substr(1, name.size() - 2));
      i = last;
    } else {
      names.push_back(parts[i]);
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> SampleFlags() {
  return {"score", "higher_is_known", "fit", "known", "unknown", "near", "far", "skip"};
}

std::vector<std::string> IntervalFlags() { return {"ci_method", "replicates", "level", "seed", "threads"}; }

SampleOptions SampleOptionsFromFlags() {
  SampleOptions options;
  options.set_score(absl::GetFlag(FLAGS_score));
  options.set_higher_is_known(absl::GetFlag(FLAGS_higher_is_known));
  for (const std::string& set : NamesOf(absl::GetFlag(FLAGS_known))) options.add_known(set);
  for (const std::string& set : NamesOf(absl::GetFlag(FLAGS_unknown))) options.add_unknown(set);
  for (const std::string& set : NamesOf(absl::GetFlag(FLAGS_near))) options.add_near(set);
  for (const std::string& set : NamesOf(absl::GetFlag(FLAGS_far))) options.add_far(set);
  for (const std::string& set : NamesOf(absl::GetFlag(FLAGS_skip))) options.add_skip(set);
  return options;
}

SampleReader FileReader(const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  for (const std::string& file : files) paths.push_back(UserFile(file));
  return [paths](const SetRoles& roles, ScoreDirection direction) { return ReadSampleSet(paths, roles, direction); };
}

SampleReader FitReader() {
  const std::string fit = absl::GetFlag(FLAGS_fit);
  return fit.empty() ? nullptr : FileReader({fit});
}

absl::StatusOr<ScoredSamples> ReadScoredSamples(const std::vector<std::string>& files) {
  return ScoreSamples(SampleOptionsFromFlags(), FileReader(files), FitReader());
}

IntervalOptions IntervalOptionsFromFlags() {
  IntervalOptions options;
  options.set_ci_method(absl::GetFlag(FLAGS_ci_method));
  options.set_replicates(absl::GetFlag(FLAGS_replicates));
  options.set_level(absl::GetFlag(FLAGS_level));
  options.set_seed(absl::GetFlag(FLAGS_seed));
  options.set_threads(absl::GetFlag(FLAGS_threads));
  return options;
}

absl::StatusOr<TextFormat> FormatFromFlags(const std::vector<TextFormat>& known) {
  absl::StatusOr<TextFormat> format = ParseTextFormat(absl::GetFlag(FLAGS_format), known);
  if (!format.ok()) return Annotate(format.status(), "--format");
  return format;
}

absl::StatusOr<TextFormat> TableFormatFromFlags() {
  return FormatFromFlags({TextFormat::kText, TextFormat::kMarkdown, TextFormat::kLatex, TextFormat::kCsv});
}

absl::Status WriteOut(absl::string_view text) {
  const std::string out = absl::GetFlag(FLAGS_out);
  if (!out.empty()) return WriteFileAtomically(UserPath(out), text);
  std::cout << text;
  return absl::OkStatus();
}

}  // namespace openset
