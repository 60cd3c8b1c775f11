#include "tools/cli/flags/flags.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/files/temporary_folder.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "core/text/suggest.h"
#include "core/text/terminal.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/plan/search.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/store/merge.h"
#include "tools/cli/score/score_experiment.h"

namespace openset {

absl::StatusOr<std::string> SpecOfStudyFolder(const std::string& argument, RunConfig* config) {
  std::error_code error;
  const std::filesystem::path given = std::filesystem::path(UserPath(argument)).lexically_normal();
  if (argument.empty() || !std::filesystem::is_directory(given, error)) {
    // The path of neither a file nor a folder is no study's name.
    if (!IsBundle(argument)) OPENSET_RETURN_IF_ERROR(UseBundle(argument, config).status());
    return argument;
  }
  const std::filesystem::path folder = given.has_filename() ? given : given.parent_path();
  const std::string spec = JoinPath(folder.string(), absl::StrCat(NameOfStudyFolder(argument), ".textproto"));
  if (!FileExists(spec)) {
    // A name without "/" may be a study's, too, unless the folder is a store.
    const std::string path = FileExists(JoinPath(folder.string(), "version")) ? argument + "/" : argument;
    if (BundleOf(argument).empty()) OPENSET_RETURN_IF_ERROR(UseBundle(path, config).status());
    return argument;
  }
  OPENSET_RETURN_IF_ERROR(UseBundle(argument, config).status());
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
  folders->carried_tasks.insert(folders->carried_tasks.end(), carried.tasks.begin(), carried.tasks.end());
  return absl::OkStatus();
}

// If a study in the file `path` names a task that no library has, adds the library of a bundle in the same folder that
// has it, as for a study that `openset records spec BUNDLE` printed. `advice` receives what to do if there is none.
// Other problems of the file are found later.
absl::Status AddLibraryBeside(const std::string& path, SpecFolders* folders, std::string* advice) {
  ExperimentSpec spec;
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxTextBytes);
  if (!text.ok() || !ParseTextProto(*text, path, &spec).ok()) return absl::OkStatus();
  SpecFolders around = *folders;
  AddSpecFolders(SpecFoldersAround(path.find('/') == std::string::npos ? "." : path.substr(0, path.rfind('/'))),
                 &around);
  std::vector<std::string> known = NamesIn(around.tasks);
  const std::vector<std::string> carried = NamesIn(folders->carried_tasks);
  known.insert(known.end(), carried.begin(), carried.end());
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
    const absl::StatusOr<Store> bundle = OpenBundle(JoinPath(folder, name));
    if (!bundle.ok()) continue;
    std::map<std::string, std::string> library = bundle->bundle()->library;
    if (absl::c_none_of(wanted, [&](const std::string& task) { return library.count(task) > 0; })) continue;
    static std::optional<TemporaryFolder> unpacked;  // until the process exits
    OPENSET_ASSIGN_OR_RETURN(TemporaryFolder made, TemporaryFolder::Make("library"));
    unpacked = std::move(made);
    // Tasks by their names, of which the user's libraries have none.
    for (auto entry = library.begin(); entry != library.end();) {
      const bool is_other = absl::StartsWith(entry->first, "tasks/") && wanted.count(entry->first) == 0;
      entry = is_other ? library.erase(entry) : std::next(entry);
    }
    return CarryLibrary(library, unpacked->path(), folders);
  }
  if (absl::StartsWith(*text, "# proto-file:")) {  // as `records spec` prints it
    *advice =
        "if 'openset records spec' printed this study from a bundle that has its task, put a copy of the bundle beside "
        "it";
  }
  return absl::OkStatus();
}

// The folders that were given, without the default ones.
absl::Status CheckDataFolders(const RunConfig& config) {
  for (const std::string& folder : config.deployment.data_folder()) {
    std::error_code error;
    if (std::filesystem::is_directory(folder, error)) continue;
    const std::string where = config.given.count("data") > 0 ? "--data" : config.Where("data_folder");
    return absl::NotFoundError(absl::StrCat(where, ": there is no folder ", folder));
  }
  return absl::OkStatus();
}

// The studies in the user's folder, then those of the libraries.
std::vector<std::string> KnownStudies(const SpecFolders& folders) {
  std::vector<std::string> known;
  std::vector<std::string> all = {UserPath(".")};
  all.insert(all.end(), folders.specs.begin(), folders.specs.end());
  for (const std::string& folder : all) {
    for (const std::string& file : ListFolder(folder).value_or(std::vector<std::string>())) {
      absl::string_view name = file;
      ExperimentSpec spec;
      if (!absl::ConsumeSuffix(&name, ".textproto")) continue;
      // Other files in the user's folder may be tasks or settings.
      if (folder == all[0] && !ReadTextProto(JoinPath(folder, file), &spec, Completeness::kPartial).ok()) continue;
      known.emplace_back(name);
    }
  }
  return known;
}

// "small" for ./small.textproto, or for the study "small" in the libraries.
absl::StatusOr<std::string> SpecByName(const std::string& name, const SpecFolders& folders) {
  const std::string own = UserPath(absl::StrCat(name, ".textproto"));
  if (absl::EndsWith(name, ".textproto")) return UserPath(name);
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(UserPath(name), error);
  if (!IsName(name) && is_folder) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": is a folder without a study, STUDY.textproto: write the path of one; 'openset report' ",
                     "and 'openset compare' take the folder of a bundle without one"));
  }
  if (!IsName(name)) return name;
  if (!FileExists(own)) {
    const std::vector<std::string> known = KnownStudies(folders);
    if (absl::c_linear_search(known, name)) return name;
    return absl::InvalidArgumentError(
        absl::StrCat(UnknownName("study", name, known, "openset list studies"),
                     is_folder ? absl::StrCat("; for the folder of that name, write ", name, "/") : ""));
  }
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
absl::Status SelectForTask(const RunConfig& config, StudyOptions* options) {
  OPENSET_ASSIGN_OR_RETURN(const SlurmArray array, ThisArray(config.slurm_task));
  if (array.only_these()) options->only_records = {array.record().begin(), array.record().end()};
  return absl::OkStatus();
}

}  // namespace

void AddChangeFlags(Command* command) {
  for (const char* flag : {"set", "axis", "seeds", "methods", "until", "max_trials"}) command->flags.push_back(flag);
}

absl::Status RefuseChangeFlags(const std::string& what, const RunConfig& config) {
  for (const char* flag : {"set", "axis", "seeds", "methods", "until"}) {
    if (config.given.count(flag) == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat("--", flag, ": is for a study, not for ", what));
  }
  return absl::OkStatus();
}

absl::StatusOr<StudyOptions> MakeStudyOptions(const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const Devices devices, FindDevices(config));
  StudyOptions options = config.study;
  options.expand.default_device = devices.default_device;
  options.expand.device_kind = devices.kind;
  options.data_folders = config.data_folders;
  OPENSET_RETURN_IF_ERROR(CheckDataFolders(config));
  if (config.is_slurm_task()) {  // the submitter has removed what runs again, and has chosen the records
    options.redo.clear();
    options.only.clear();
  }
  const auto line = std::make_shared<ProgressLine>("images", isatty(STDERR_FILENO) != 0, &std::cerr);
  options.progress = [line](const std::string& what, int64_t done, int64_t total) { line->Update(what, done, total); };
  return options;
}

absl::StatusOr<std::unique_ptr<Study>> LoadStudy(const std::string& argument, RunConfig config, StoreUse use) {
  OPENSET_ASSIGN_OR_RETURN(const std::string spec, SpecOfStudyFolder(argument, &config));
  OPENSET_ASSIGN_OR_RETURN(const Store store, OpenStore(config, use));
  OPENSET_ASSIGN_OR_RETURN(SpecFolders folders, FindSpecFolders(config));
  if (const BundleContent* const bundle = store.bundle(); bundle != nullptr) {
    if (!bundle->damaged.empty()) {
      return absl::AbortedError(absl::StrCat("corrupt records:\n", absl::StrJoin(bundle->damaged, "\n")));
    }
    static std::optional<TemporaryFolder> unpacked;  // until the process exits
    if (!unpacked.has_value()) {
      OPENSET_ASSIGN_OR_RETURN(unpacked, TemporaryFolder::Make("library"));
    }
    OPENSET_RETURN_IF_ERROR(CarryLibrary(bundle->library, unpacked->path(), &folders));
  }
  OPENSET_ASSIGN_OR_RETURN(StudyOptions options, MakeStudyOptions(config));
  if (config.is_slurm_task()) OPENSET_RETURN_IF_ERROR(SelectForTask(config, &options));
  // The name of a study that `openset score` made.
  if (const absl::StatusOr<ScoreRequest> request = FindScoreRequest(store, spec);
      request.ok() && spec.find('/') == std::string::npos) {
    RunConfig others = config;
    others.given.erase("methods");
    OPENSET_RETURN_IF_ERROR(RefuseChangeFlags("what 'openset score' measured", others));
    ScoreRequest chosen = *request;
    const auto choose = [&config](ScoreRequest* one) {
      if (config.given.count("methods") == 0) return;
      one->mutable_methods()->Assign(config.study.changes.methods.begin(), config.study.changes.methods.end());
    };
    choose(&chosen);
    for (ScoreRequest& also : *chosen.mutable_also()) choose(&also);
    OPENSET_ASSIGN_OR_RETURN(ScoreExperiment score, MakeScoreExperiment(chosen, folders));
    return Study::Make(std::move(score.experiment), store, options);
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string name, SpecByName(spec, folders));
  std::string advice;
  if (absl::EndsWith(name, ".textproto")) OPENSET_RETURN_IF_ERROR(AddLibraryBeside(name, &folders, &advice));
  absl::StatusOr<std::unique_ptr<Study>> study = Study::Load(name, folders, store, options);
  if (study.ok()) {
    for (const std::string& task : (*study)->experiment().replaced_tasks) {
      std::cerr << "hint: " << task << ": is not the task that came with the records in " << store.folder()
                << ", which is used\n";
    }
    return study;
  }
  if (store.bundle() != nullptr) {
    advice = absl::StrCat("the records alone need neither a spec nor data: name the bundle, ", store.folder());
  }
  return advice.empty() ? study.status()
                        : absl::Status(study.status().code(), absl::StrCat(study.status().message(), "\n", advice));
}

bool IsQuery(const std::string& argument) {
  return argument.find_first_of("=<>~") != std::string::npos && !FileExists(UserPath(argument));
}

std::string TrialCount(int trials) { return absl::StrCat(trials, trials == 1 ? " trial" : " trials"); }

void ShowDataHints(const Study& study) {
  for (const std::string& line : study.contents().changed) std::cerr << "hint: " << line << "\n";
  for (const std::string& line : study.contents().damaged) std::cerr << "hint: " << line << "\n";
  for (const std::string& line : study.experiment().task_hints) std::cerr << "hint: " << line << "\n";
  for (const std::string& line : study.RepeatLines()) std::cerr << "hint: " << line << "\n";
}

namespace {

// A line if presets, the override or the command line change the epochs of the method's training, but not of the
// training from which it starts.
std::vector<std::string> PretrainingLines(const LoadedMethod& method) {
  const int64_t epochs = method.spec.pretraining().training().epochs();
  if (epochs == 0) return {};
  int64_t own = 0, own_before = 0;
  for (int layer = 0; layer <= method.own; ++layer) {
    const MethodSpec& laid = method.layers[layer].spec;
    if (laid.training().has_epochs()) own = laid.training().epochs();
    if (laid.pretraining().training().has_epochs()) own_before = laid.pretraining().training().epochs();
  }
  if (epochs != own_before || own == method.spec.training().epochs()) return {};
  return {absl::StrCat("hint: ", method.spec.name(), ": starts from a training of its own of ", epochs,
                       epochs == 1 ? " epoch" : " epochs",
                       ", which presets and `override { training }` leave as it is: "
                       "--set=pretraining.training.epochs=",
                       method.spec.training().epochs(), " changes it")};
}

// Lines about methods of --methods that the study's file doesn't name.
std::vector<std::string> AddedMethodLines(const Experiment& experiment) {
  const auto chooses = [](const std::string& change) { return absl::StartsWith(change, "--methods="); };
  ExperimentSpec written;
  if (absl::c_none_of(experiment.overrides, chooses) || !ReadTextProto(experiment.source.file(), &written).ok()) {
    return {};
  }
  std::vector<std::string> lines;
  for (const std::string& method : experiment.spec.method()) {
    if (absl::c_linear_search(written.method(), method)) continue;
    lines.push_back(absl::StrCat("hint: --methods: ", method, " is not a method of the study ", written.name(),
                                 ": its results are made too"));
  }
  return lines;
}

}  // namespace

std::vector<std::string> MethodLines(const Study& study) {
  std::vector<std::string> lines;
  for (const LoadedMethod& method : study.experiment().methods) {
    for (std::string& line : PresetWarnings(method)) lines.push_back(std::move(line));
    for (std::string& line : PretrainingLines(method)) lines.push_back(std::move(line));
  }
  for (std::string& line : AddedMethodLines(study.experiment())) lines.push_back(std::move(line));
  return lines;
}

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

namespace {

// A file's path, or NAME=FILE.
std::string ResolveUserPath(const std::string& argument) {
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

SampleOptions MakeSampleOptions(const RunConfig& config) {
  SampleOptions options;
  options.set_score(config.score);
  options.set_higher_is_known(config.higher_is_known);
  for (const std::string& set : NamesOf(config.known)) options.add_known(set);
  for (const std::string& set : NamesOf(config.unknown)) options.add_unknown(set);
  for (const std::string& set : NamesOf(config.near)) options.add_near(set);
  for (const std::string& set : NamesOf(config.far)) options.add_far(set);
  for (const std::string& set : NamesOf(config.skip)) options.add_skip(set);
  return options;
}

namespace {

// Whether the samples are `files` times the same ones, by their labels: runs of several networks, for example.
bool AreRepeated(const SampleSet& samples, size_t files) {
  const size_t block = samples.label.size() / files;
  if (files < 2 || block == 0 || block * files != samples.label.size()) return false;
  const auto first = samples.label.begin(), end = first + static_cast<int64_t>(block);
  if (std::all_of(first, end, [&](int32_t label) { return label == *first; })) return false;
  return std::equal(end, samples.label.end(), first);  // each label is that of one block before
}

}  // namespace

SampleReader FileReader(const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  for (const std::string& file : files) paths.push_back(ResolveUserPath(file));
  return [paths, files](const SetRoles& roles, ScoreDirection direction) {
    absl::StatusOr<SampleSet> samples = ReadSampleSet(paths, roles, direction);
    if (samples.ok() && AreRepeated(*samples, files.size())) {
      std::cerr << "hint: " << absl::StrJoin(files, ", ")
                << ": have the same labels in the same order. Are they the same samples, of several runs? Joined, they "
                   "count as so many more samples: compare the runs by 'openset compare A_{seed}.csv B_{seed}.csv'\n";
    }
    return samples;
  };
}

SampleReader FitReader(const RunConfig& config) { return config.fit.empty() ? nullptr : FileReader({config.fit}); }

absl::StatusOr<std::vector<SampleReader>> FitReaders(const RunConfig& config, size_t methods) {
  if (config.fit.empty()) return std::vector<SampleReader>(methods);
  std::vector<std::string> files = {config.fit};
  if (!FileExists(UserPath(config.fit))) files = absl::StrSplit(config.fit, ',');
  if (files.size() == 1) return std::vector<SampleReader>(methods, FileReader(files));
  if (files.size() != methods) {
    return absl::InvalidArgumentError(absl::StrCat("--fit: names ", files.size(), " files for ", methods,
                                                   " methods: give one for all or, joined by commas, one for each"));
  }
  std::vector<SampleReader> readers;
  for (const std::string& file : files) readers.push_back(FileReader({file}));
  return readers;
}

absl::StatusOr<ScoredSamples> ReadScoredSamples(const std::vector<std::string>& files, const RunConfig& config,
                                                const SampleReader& read_fit) {
  return ScoreSamples(MakeSampleOptions(config), FileReader(files), read_fit);
}

IntervalOptions MakeIntervalOptions(const RunConfig& config) {
  IntervalOptions options;
  options.set_ci_method(config.ci_method);
  options.set_replicates(config.replicates);
  options.set_level(config.level);
  options.set_seed(config.seed);
  options.set_threads(config.threads);
  return options;
}

absl::StatusOr<TextFormat> ParseFormat(const RunConfig& config, const std::vector<TextFormat>& known) {
  absl::StatusOr<TextFormat> format = ParseTextFormat(config.format, known);
  if (!format.ok()) return Annotate(format.status(), "--format");
  return format;
}

absl::StatusOr<TextFormat> ParseTableFormat(const RunConfig& config) {
  return ParseFormat(config, {TextFormat::kText, TextFormat::kMarkdown, TextFormat::kLatex, TextFormat::kCsv});
}

absl::StatusOr<int> ParseSplit(const RunConfig& config) {
  int split = 0;
  if (config.split.empty() || absl::SimpleAtoi(config.split, &split)) return split;
  return absl::InvalidArgumentError(absl::StrCat("--split: '", config.split, "' is not a number"));
}

absl::Status WriteOut(absl::string_view text, const RunConfig& config) {
  if (!config.out.empty()) return WriteFileAtomically(UserPath(config.out), text);
  std::cout << text;
  return absl::OkStatus();
}

}  // namespace openset
