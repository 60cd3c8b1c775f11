#include "eval/thresholds/select_threshold.h"

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "eval/metrics/decisions.h"
#include "eval/metrics/threshold_metric.h"

namespace openset {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<double> Share(double part, double all) {
  if (all == 0) return std::nullopt;
  return part / all;
}

std::optional<double> Risk(const Tally& accepted) {
  return Share(static_cast<double>(accepted.wrong) + accepted.unknown, accepted.all());
}

// The largest threshold that rejects at least `share` of the unknown samples: the score below the highest one that must
// be rejected.
double RejectingUnknown(const RankedInput& validation, double share) {
  const double wanted = share * validation.total().unknown * (1 - 1e-12);
  int64_t rejected = 0;
  for (int64_t block = static_cast<int64_t>(validation.blocks().size()) - 1; block >= 0; --block) {
    if (rejected >= wanted) return validation.ranking().Score(block);
    rejected += validation.blocks()[block].unknown;
  }
  return -kInfinity;
}

absl::StatusOr<double> KeepingRisk(const RankedInput& validation, double target) {
  std::optional<double> threshold;
  DecisionWalk walk(validation, false);
  while (!walk.AtEnd()) {
    const int64_t block = walk.next_block();
    walk.AcceptNext();
    const std::optional<double> risk = Risk(walk.decisions().accepted);
    if (risk.has_value() && *risk <= target) threshold = validation.ranking().Score(block);
  }
  if (!threshold.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat("no threshold has a risk of at most ", target,
                                                      ": the most certain samples are wrong or unknown more often"));
  }
  return *threshold;
}

}  // namespace

absl::StatusOr<double> SelectThreshold(ThresholdRule rule, double target, const RankedInput& validation) {
  const bool needs_known = rule != ThresholdRule::kUnknownRejected && rule != ThresholdRule::kRiskAtMost;
  const bool needs_unknown = rule == ThresholdRule::kUnknownRejected || rule == ThresholdRule::kBestNaccRates;
  const bool reads_target = rule == ThresholdRule::kKnownAccepted || rule == ThresholdRule::kUnknownRejected ||
                            rule == ThresholdRule::kRiskAtMost;
  if (reads_target && !(target >= 0 && target <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("target must lie in 0 .. 1 (is ", target, ")"));
  }
  if (needs_known && validation.total().known() == 0) {
    return absl::FailedPreconditionError("the rule needs known validation samples; there are none");
  }
  if (needs_unknown && validation.total().unknown == 0) {
    return absl::FailedPreconditionError("the rule needs unknown validation samples; there are none");
  }
  const auto best = [&validation](const ThresholdMetric& metric) {
    return BestOverThresholds(metric, validation).threshold;
  };
  switch (rule) {
    case ThresholdRule::kKnownAccepted:
      return *ThresholdAcceptingKnown(validation, target);
    case ThresholdRule::kUnknownRejected:
      return RejectingUnknown(validation, target);
    case ThresholdRule::kBestOpenSetFMacro:
      return best(OpenSetFMacro());
    case ThresholdRule::kBestOpenSetFMicro:
      return best(OpenSetFMicro());
    case ThresholdRule::kBestYoudenMacro:
      return best(YoudenMacro());
    case ThresholdRule::kBestYoudenMicro:
      return best(YoudenMicro());
    case ThresholdRule::kBestNaccRates:
      return best(NaccRates());
    case ThresholdRule::kRiskAtMost:
      break;
  }
  return KeepingRisk(validation, target);
}

ThresholdReport DescribeThreshold(double threshold, const RankedInput& samples) {
  DecisionWalk walk(samples, true);
  walk.AcceptUpTo(threshold);
  const Decisions& decisions = walk.decisions();
  ThresholdReport report;
  report.threshold = threshold;
  report.accepted = decisions.accepted;
  report.total = decisions.total;
  report.known_accepted = Share(report.accepted.known(), report.total.known());
  report.correct_accepted = Share(report.accepted.correct, report.total.known());
  report.unknown_rejected = Share(report.total.unknown - report.accepted.unknown, report.total.unknown);
  report.coverage = Share(report.accepted.all(), report.total.all()).value_or(0);
  report.risk = Risk(report.accepted);
  report.open_set_f_macro = OpenSetFMacro().value(decisions);
  report.open_set_f_micro = OpenSetFMicro().value(decisions);
  report.youden_macro = YoudenMacro().value(decisions);
  report.youden_micro = YoudenMicro().value(decisions);
  if (report.known_accepted.has_value() && report.unknown_rejected.has_value()) {
    report.nacc_rates = NaccRates().value(decisions);
  }
  return report;
}

}  // namespace openset
