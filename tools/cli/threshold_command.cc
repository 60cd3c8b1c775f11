#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "eval/metrics/confusion.h"
#include "eval/metrics/ranked_input.h"
#include "eval/report/evaluation_hints.h"
#include "eval/report/threshold_report.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/evaluation/requested.h"

namespace openset {
namespace {

absl::StatusOr<ScoredSamples> ReadSide(const std::string& argument, const RunConfig& config) {
  return ReadScoredSamples(absl::StrSplit(argument, ','), config, FitReader(config));
}

absl::Status WriteConfusion(double threshold, const RankedInput& ranked, const SampleSet& samples,
                            const RunConfig& config) {
  if (config.confusion.empty()) return absl::OkStatus();
  if (!ranked.input().has_predictions() || !ranked.input().has_classes()) {
    return absl::InvalidArgumentError("--confusion: needs predicted classes, and the samples have none");
  }
  if (const int32_t classes = ranked.input().num_classes(); classes > kMostConfusionClasses) {
    return absl::InvalidArgumentError(absl::StrCat("--confusion: the table of ", classes,
                                                   " classes is too large; it takes up to ", kMostConfusionClasses,
                                                   " (`openset eval --classes` takes more)"));
  }
  return WriteFileAtomically(UserPath(config.confusion),
                             ConfusionCsv(ConfusionAt(ranked, threshold), samples.class_names));
}

std::vector<std::string> HintsOf(const ScoredSamples& scored, const RankedInput& ranked) {
  return EvaluationHints(scored.samples, ranked, scored.origin);
}

absl::Status RunThreshold(const std::vector<std::string>& arguments, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const TextFormat format, ParseFormat(config));
  ThresholdRequest request;
  request.set_rule(config.rule);
  request.set_target(config.target);
  request.set_delta(config.delta);
  OPENSET_ASSIGN_OR_RETURN(const RequestedRule rule, RequestedThreshold(request));
  OPENSET_ASSIGN_OR_RETURN(const ScoredSamples validation, ReadSide(arguments[0], config));
  OPENSET_ASSIGN_OR_RETURN(const EvaluationInput validation_input, validation.samples.Input());
  const RankedInput ranked(validation_input);
  OPENSET_ASSIGN_OR_RETURN(ChosenThreshold chosen, ChooseThreshold(rule, request, arguments[0], validation, ranked));
  const double threshold = chosen.validation.threshold;
  std::vector<std::string> hints;
  for (const std::string& hint : HintsOf(validation, ranked)) hints.push_back("validation: " + hint);
  if (arguments.size() > 1) {
    OPENSET_ASSIGN_OR_RETURN(const ScoredSamples test, ReadSide(arguments[1], config));
    OPENSET_ASSIGN_OR_RETURN(const EvaluationInput test_input, test.samples.Input());
    const RankedInput ranked_test(test_input);
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> about_test,
                             MeasureOnTest(validation.samples, test.samples, ranked_test, &chosen));
    OPENSET_RETURN_IF_ERROR(WriteConfusion(threshold, ranked_test, test.samples, config));
    for (const std::string& hint : HintsOf(test, ranked_test)) hints.push_back("test: " + hint);
    hints.insert(hints.end(), about_test.begin(), about_test.end());
  } else {
    OPENSET_RETURN_IF_ERROR(WriteConfusion(threshold, ranked, validation.samples, config));
  }
  OPENSET_RETURN_IF_ERROR(WriteOut(FormatThreshold(chosen, format), config));
  for (const std::string& hint : hints) std::cerr << "hint: " << hint << "\n";
  return absl::OkStatus();
}

}  // namespace

Command ThresholdCommand() {
  Command command;
  command.name = "threshold";
  command.arguments = "VALIDATION [TEST]";
  command.min_arguments = 1;
  command.max_arguments = 2;
  command.summary = "Chooses the threshold above which samples are rejected, and measures its decisions.";
  command.description =
      "openset chooses the threshold on the validation samples only, and then measures it on TEST. Files are as for\n"
      "`openset eval`; to give several files for VALIDATION or TEST, join them by commas. Most rules need no unknown\n"
      "validation samples.\n"
      "\n"
      "  openset threshold validation.npz test.npz\n"
      "  openset threshold validation.npz test.npz --rule=risk --target=0.2\n"
      "  openset threshold validation.npz test.npz --rule=conformal --target=0.95 --confusion=confusion.csv\n"
      "  openset threshold validation.npz --rule=youden_macro --score=energy --format=json\n";
  command.flags = {"rule", "target", "delta", "confusion", "format", "out"};
  const std::vector<std::string> more = SampleFlags();
  command.flags.insert(command.flags.end(), more.begin(), more.end());
  command.run = RunThreshold;
  return command;
}

}  // namespace openset
