#include "eval/metrics/detection/threshold_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace openset {
namespace {

std::string AtText(double threshold) { return absl::StrFormat("threshold %g", threshold); }
std::string AcceptedText(double share) { return absl::StrFormat("%g %% of known accepted", 100 * share); }

}  // namespace

std::string ThresholdText(const OperatingPoint& at) {
  switch (at.kind_case()) {
    case OperatingPoint::kBestOnGrid:
      return absl::StrCat("best threshold of ", at.best_on_grid().divisions() - 1, " on test");
    case OperatingPoint::kThreshold:
      return AtText(at.threshold());
    case OperatingPoint::kKnownAccepted:
      return AcceptedText(at.known_accepted());
    case OperatingPoint::kBest:
    case OperatingPoint::KIND_NOT_SET:
      break;
  }
  return "best threshold on test";
}

std::string ThresholdText(const BalancedScoreSpec& spec) {
  switch (spec.at_case()) {
    case BalancedScoreSpec::kThreshold:
      return AtText(spec.threshold());
    case BalancedScoreSpec::kOfMethod:
      return "threshold of the method";
    case BalancedScoreSpec::kKnownAccepted:
      return AcceptedText(spec.known_accepted());
    case BalancedScoreSpec::AT_NOT_SET:
      break;
  }
  return AcceptedText(0.95);
}

}  // namespace openset
