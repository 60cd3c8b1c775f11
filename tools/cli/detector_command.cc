#include <cstdint>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "core/text/table.h"
#include "eval/files/sample_set.h"
#include "eval/files/score_file.h"
#include "eval/metrics/evaluation_input.h"
#include "eval/thresholds/select_threshold.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/evaluation/detector.h"

namespace openset {
namespace {

absl::Status Save(const std::vector<std::string>& files, const RunConfig& config) {
  if (config.out.empty())
    return absl::InvalidArgumentError("--out: name the detector file to write, as in --out=detector.npz");
  if (!absl::EndsWith(config.out, ".npz")) return absl::InvalidArgumentError("--out: a detector file ends in .npz");
  ThresholdRequest request;
  *request.mutable_samples() = MakeSampleOptions(config);
  request.set_rule(config.rule);
  request.set_target(config.target);
  request.set_delta(config.delta);
  OPENSET_ASSIGN_OR_RETURN(const Detector detector,
                           MakeDetector(request, absl::StrJoin(files, ", "), FileReader(files), FitReader(config)));
  OPENSET_RETURN_IF_ERROR(WriteDetector(detector, UserPath(config.out)));
  std::cout << DetectorText(detector.spec);
  return absl::OkStatus();
}

// The outputs, and whether they have labels.
absl::StatusOr<std::pair<SampleSet, bool>> ReadOutputs(const std::vector<std::string>& arguments) {
  std::vector<std::string> paths, stems;
  for (const std::string& argument : arguments) {
    paths.push_back(UserPath(argument));
    stems.push_back(std::filesystem::path(paths.back()).stem().string());
  }
  // Samples without labels count as unknown.
  OPENSET_ASSIGN_OR_RETURN(std::vector<ScoreFile> files,
                           ReadScoreFiles(paths, ScoreDirection::kHigherIsUnknown, stems));
  bool has_labels = false;
  for (const ScoreFile& file : files) {
    has_labels = has_labels || absl::c_any_of(file.label, [](int64_t label) { return label != kUnknownLabel; });
  }
  OPENSET_ASSIGN_OR_RETURN(SampleSet samples, MakeSampleSet(std::move(files), {}));
  return std::pair(std::move(samples), has_labels);
}

std::string ClassName(const DetectorSpec& spec, const Decided& decided, size_t row) {
  if (decided.prediction.empty()) return "";
  const int32_t c = decided.prediction[row];
  return c < spec.class_name_size() ? spec.class_name(c) : absl::StrCat(c);
}

// A row for each sample: its place in the files, the score, the decision and the class.
std::string RowsCsv(const DetectorSpec& spec, const Decided& decided) {
  Table table{{"sample", "unknown_score", "decision", "prediction"}, {}, 0};
  for (size_t i = 0; i < decided.rejected.size(); ++i) {
    table.rows.push_back({absl::StrCat(i), FullPrecision(decided.unknown_score[i]),
                          decided.rejected[i] ? "rejected" : "accepted", ClassName(spec, decided, i)});
  }
  return ToCsv(table);
}

std::string Share(const char* name, const std::optional<CountedShare>& share) {
  if (!share.has_value()) return "";
  return absl::StrFormat("%s %.2f %% (%.2f to %.2f)\n", name, 100 * share->value, 100 * share->low, 100 * share->high);
}

absl::Status Apply(const std::string& path, const std::vector<std::string>& outputs, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const Detector detector, ReadDetector(UserPath(path)));
  OPENSET_ASSIGN_OR_RETURN(auto read, ReadOutputs(outputs));
  OPENSET_ASSIGN_OR_RETURN(const Decided decided, ApplyDetector(detector, std::move(read.first), read.second));
  if (!config.out.empty()) {
    OPENSET_RETURN_IF_ERROR(WriteFileAtomically(UserPath(config.out), RowsCsv(detector.spec, decided)));
    std::cout << decided.num_rejected << " of " << decided.rejected.size() << " samples are rejected\n";
    if (decided.report.has_value()) {
      if (decided.report->clusters > 0) {
        std::cout << "95 % intervals of samples in " << decided.report->clusters << " clusters:\n";
      }
      std::cout << Share("known accepted  ", decided.report->known_accepted)
                << Share("unknown rejected", decided.report->unknown_rejected)
                << Share("risk            ", decided.report->risk);
    }
  } else {
    std::cout << RowsCsv(detector.spec, decided);
  }
  for (const std::string& hint : decided.hints) std::cerr << "hint: " << hint << "\n";
  return absl::OkStatus();
}

absl::Status RunDetector(const std::vector<std::string>& arguments, const RunConfig& config) {
  const std::string& what = arguments[0];
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (what == "save" && !rest.empty()) return Save(rest, config);
  if (what == "apply" && rest.size() >= 2) return Apply(rest[0], {rest.begin() + 1, rest.end()}, config);
  if (what == "show" && rest.size() == 1) {
    OPENSET_ASSIGN_OR_RETURN(const Detector detector, ReadDetector(UserPath(rest[0])));
    std::cout << DetectorText(detector.spec);
    return absl::OkStatus();
  }
  const std::vector<std::string> known = {"apply", "save", "show"};
  if (!absl::c_linear_search(known, what)) return absl::InvalidArgumentError(UnknownName("action", what, known));
  return absl::InvalidArgumentError(absl::StrCat(what, what == "save"    ? ": takes files of validation outputs"
                                                       : what == "apply" ? ": takes a detector and files of outputs"
                                                                         : ": takes one detector"));
}

}  // namespace

Command DetectorCommand() {
  Command command;
  command.name = "detector";
  command.arguments = "save VALIDATION... | apply DETECTOR OUTPUTS... | show DETECTOR";
  command.min_arguments = 2;
  command.max_arguments = 1000;
  command.summary = "Keeps a score, what it is fitted to, and a threshold in one file, and decides with it.";
  command.description =
      "save   chooses a threshold on the validation outputs, as `openset threshold` does, and writes it to --out with\n"
      "       the score, the samples that the score is fitted to (--fit), the names of the classes, and what the rule\n"
      "       guarantees\n"
      "apply  decides which samples of other outputs are rejected: a .csv with a row for each sample, on standard "
      "output\n"
      "       or to --out. Outputs of another network are refused. Labels are not needed; with them, --out also "
      "prints\n"
      "       how many decisions were right\n"
      "show   says what a detector is\n"
      "\n"
      "  openset detector save validation.npz --score=knn --fit=fit.npz --rule=conformal --target=0.95 --out=d.npz\n"
      "  openset detector apply d.npz new.npz --out=decisions.csv\n"
      "  openset detector show d.npz\n"
      "\n"
      "Python and the C library read the same file and decide the same, to the bit. See docs/decisions.md.\n";
  command.flags = {"rule", "target", "delta", "out"};
  const std::vector<std::string> more = SampleFlags();
  command.flags.insert(command.flags.end(), more.begin(), more.end());
  command.run = RunDetector;
  return command;
}

}  // namespace openset
