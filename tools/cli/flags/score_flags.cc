#include "tools/cli/flags/score_flags.h"

#include <iostream>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "tools/cli/flags/flags.h"

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
          "Groups of samples whose labels are used as they are; a name with a comma in double quotes. task: how many "
          "classes are known, or which ones: names, "
          "ids, or @FILE with one on each line.");
ABSL_FLAG(std::vector<std::string>, unknown, {},
          "Groups of samples that are unknown, whatever their labels. task: how many classes are unknown, or which "
          "ones. Empty: all that are not known.");
ABSL_FLAG(std::vector<std::string>, near, {},
          "Groups of unknown samples near the known classes. task new: data sets or folders of such samples. task "
          "wordnet: how "
          "many near classes to draw. Empty: all candidates.");
ABSL_FLAG(std::vector<std::string>, far, {},
          "Groups of unknown samples far from the known classes. task new: data sets or folders of such samples. task "
          "wordnet: "
          "names of classes of another data set, to test whether they are far.");
ABSL_FLAG(std::vector<std::string>, skip, {}, "Groups of samples to leave out.");
ABSL_FLAG(std::string, ci_method, "bca",
          "bca or percentile (bootstrap), or delong: the closed form for auroc and openauc, bca for other metrics.");
ABSL_FLAG(int, replicates, 2000, "Bootstrap replicates.");
ABSL_FLAG(double, level, 0.95, "Confidence of the intervals.");
ABSL_FLAG(uint64_t, seed, 0,
          "Seed of the bootstrap. task: seed of the draws; the same seed gives the same splits on every machine. data "
          "describe: seed of the train/test split, if the folder has no parts.");
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

absl::StatusOr<TextFormat> FormatFromFlags() { return ParseTextFormat(absl::GetFlag(FLAGS_format)); }

absl::Status WriteOut(absl::string_view text) {
  const std::string out = absl::GetFlag(FLAGS_out);
  if (!out.empty()) return WriteFileAtomically(UserPath(out), text);
  std::cout << text;
  return absl::OkStatus();
}

}  // namespace openset
