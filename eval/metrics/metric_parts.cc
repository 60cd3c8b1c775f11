#include "eval/metrics/metric_parts.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

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

std::string Words(const std::string& enumerator) {
  return absl::StrReplaceAll(absl::AsciiStrToLower(enumerator), {{"_", " "}});
}

std::string Number(double value) { return absl::StrFormat("%g", value); }

std::string Percent(double share) { return absl::StrCat(Number(100 * share), " %"); }

std::string PositiveText(bool unknown_positive) { return unknown_positive ? "unknown positive" : "known positive"; }

MetricLabel With(MetricLabel label, bool is_set, const std::string& detail) {
  if (is_set) label.push_back(detail);
  return label;
}

int64_t KnownSamples(const RankedInput& ranked) { return ranked.total().known(); }
int64_t UnknownSamples(const RankedInput& ranked) { return ranked.total().unknown; }
int64_t AllSamples(const RankedInput& ranked) { return ranked.total().all(); }
int64_t SmallerSide(const RankedInput& ranked) { return std::min(KnownSamples(ranked), UnknownSamples(ranked)); }

}  // namespace openset
