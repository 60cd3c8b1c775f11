// What several commands make from their flags: a study and changes of it, published studies, samples with their score.
#ifndef OPENSET_TOOLS_CLI_FLAGS_FLAGS_H_
#define OPENSET_TOOLS_CLI_FLAGS_FLAGS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "eval/report/document.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/spec/spec_folders.h"
#include "experiments/store/store.h"
#include "experiments/study/study.h"
#include "tools/cli/command.h"
#include "tools/cli/flags/run_config.h"
#include "tools/evaluation/request.pb.h"
#include "tools/evaluation/requested.h"

namespace openset {

// A published study is a folder that contains NAME/NAME.textproto, its spec, and NAME/NAME.zip, a bundle of its
// records.

// If `argument` is such a folder, returns the path of its spec, and its bundle becomes the store (UseBundle() in
// tools/cli/flags/run_config.h); otherwise returns `argument`. Errors: kInvalidArgument if --store names another store.
absl::StatusOr<std::string> SpecOfStudyFolder(const std::string& argument, RunConfig* config);

// ---- Flags that several commands share, and the objects that are made from them.

// Adds --set, --axis, --seeds, --methods and --until, which override a study's spec, and --max_trials.
void AddChangeFlags(Command* command);

// Returns kInvalidArgument if one of these is given. For commands that got something other than a study;
// `what` names it: "files", "a bundle".
absl::Status RefuseChangeFlags(const std::string& what, const RunConfig& config);

// Returns the options for the devices of --devices, the data folders of --data, and what overrides the spec. Errors:
// also kNotFound if a folder of --data is missing.
absl::StatusOr<StudyOptions> MakeStudyOptions(const RunConfig& config);

// Loads the study that `argument` of the command line names, with the changes that the flags make. `argument` is the
// path of a .textproto; the name of a study in the libraries, or of one that `openset score` made; NAME for
// NAME.textproto in the user's folder; or a folder with a spec and its bundle (SpecOfStudyFolder()). Errors: also
// kInvalidArgument if NAME is in a library and in the user's folder, unless one file is a copy of the other.
absl::StatusOr<std::unique_ptr<Study>> LoadStudy(const std::string& argument, RunConfig config,
                                                 StoreUse use = StoreUse::kRead);

// Prints to standard error why results of the study may be missing, or are fewer than they seem: images that have
// changed, and splits that are one draw.
void ShowDataHints(const Study& study);

// Lines about methods that train something else than the study's file seems to say: PresetWarnings(), methods that
// start from a training of their own (`pretraining`) whose epochs presets, the override or the command line didn't
// change with those of `training`, and methods of --methods that the file doesn't name.
std::vector<std::string> MethodLines(const Study& study);

// "180 of them are candidates of searches; tuned trials after them: 6". Precondition: trials wait for a search.
std::string SearchText(const Study& study);

// "1 trial", "3 trials".
std::string TrialCount(int trials);

// Whether an argument is a query of records ("method=openauc and auroc>0.9"), and not the name or path of a study.
bool IsQuery(const std::string& argument);

// ---- Flags of the commands that read scores, and the objects that are made from them.

// The names of the flags for reading samples: --score, --fit and the roles of sets.
std::vector<std::string> SampleFlags();
// The names of the flags for intervals: --ci_method, --replicates, --level, --seed, --threads.
std::vector<std::string> IntervalFlags();

SampleOptions MakeSampleOptions(const RunConfig& config);
IntervalOptions MakeIntervalOptions(const RunConfig& config);

// Reads files, whose paths are relative to the user's folder.
SampleReader FileReader(const std::vector<std::string>& files);
// Reads the file of --fit. Empty without the flag.
SampleReader FitReader(const RunConfig& config);
// A reader for each of several methods: --fit names one file for all or, joined by commas, one for each. Errors:
// kInvalidArgument for another number of files.
absl::StatusOr<std::vector<SampleReader>> FitReaders(const RunConfig& config, size_t methods);
// Reads the samples of `files` and computes the score of the flags (tools/evaluation/requested.h), fitted to the
// samples of `read_fit`.
absl::StatusOr<ScoredSamples> ReadScoredSamples(const std::vector<std::string>& files, const RunConfig& config,
                                                const SampleReader& read_fit);

// --format. kInvalidArgument if it is none of `known`.
absl::StatusOr<TextFormat> ParseFormat(const RunConfig& config,
                                       const std::vector<TextFormat>& known = {TextFormat::kText, TextFormat::kMarkdown,
                                                                               TextFormat::kLatex, TextFormat::kCsv,
                                                                               TextFormat::kJson});
// --format of a single table: text, markdown, latex or csv.
absl::StatusOr<TextFormat> ParseTableFormat(const RunConfig& config);

// --split of a task; 0 without the flag. kInvalidArgument if it is not a number.
absl::StatusOr<int> ParseSplit(const RunConfig& config);

// Writes to the file of --out, or to standard output.
absl::Status WriteOut(absl::string_view text, const RunConfig& config);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_FLAGS_H_
