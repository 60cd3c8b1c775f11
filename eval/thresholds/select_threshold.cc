#include "eval/thresholds/select_threshold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "eval/metrics/decisions.h"
#include "eval/metrics/threshold_metric.h"
#include "eval/statistics/intervals.h"

namespace openset {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr int kCoverages = 20;

int64_t Errors(const Tally& accepted) { return static_cast<int64_t>(accepted.wrong) + accepted.unknown; }

// The accepted samples and all of them, of one cluster or altogether.
struct DecidedTally {
  Tally accepted;
  Tally total;
};

// The decisions about each cluster; nothing if no two samples belong together.
std::vector<DecidedTally> DecidedOfClusters(double threshold, const RankedInput& samples) {
  const EvaluationInput& input = samples.input();
  std::map<int64_t, DecidedTally> found;
  for (size_t i = 0; i < input.cluster().size(); ++i) {
    const auto sample = static_cast<int64_t>(i);
    const uint32_t weight = samples.weight(sample);
    Tally tally;
    if (input.IsUnknown(sample)) {
      tally.unknown = weight;
    } else if (!input.has_predictions()) {
      tally.not_judged = weight;
    } else {
      (input.IsCorrect(sample) ? tally.correct : tally.wrong) = weight;
    }
    DecidedTally& decided = found[input.cluster()[i]];
    decided.total += tally;
    if (input.unknown_score()[i] <= threshold) decided.accepted += tally;
  }
  std::vector<DecidedTally> clusters;
  if (static_cast<int64_t>(found.size()) == input.num_samples()) return clusters;
  for (const auto& [number, decided] : found) clusters.push_back(decided);
  return clusters;
}

// `count`: the share's samples among those of a cluster, or of all.
std::optional<CountedShare> Share(const DecidedTally& all, const std::vector<DecidedTally>& clusters,
                                  ClusterCount (*count)(const DecidedTally&)) {
  const ClusterCount of_all = count(all);
  if (of_all.all == 0) return std::nullopt;
  std::vector<ClusterCount> of_clusters;
  for (const DecidedTally& cluster : clusters) of_clusters.push_back(count(cluster));
  const ExactInterval interval =
      clusters.empty() ? ClopperPearson(of_all.part, of_all.all, 0.95) : ClusteredInterval(of_clusters, 0.95);
  return CountedShare{static_cast<double>(of_all.part) / static_cast<double>(of_all.all), interval.low, interval.high};
}

int64_t RejectedUnknown(const DecidedTally& decided) {
  return static_cast<int64_t>(decided.total.unknown) - decided.accepted.unknown;
}

// The largest threshold that rejects at least `share` of the unknown samples: the next score below the ones that must
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
    const Tally& accepted = walk.decisions().accepted;
    if (accepted.all() == 0) continue;
    const double risk = static_cast<double>(Errors(accepted)) / static_cast<double>(accepted.all());
    if (risk <= target) threshold = validation.ranking().Score(block);
  }
  if (!threshold.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat("no threshold has a risk of at most ", target,
                                                      ": the most certain samples are wrong or unknown more often"));
  }
  return *threshold;
}

absl::StatusOr<double> Conformal(const RankedInput& validation, double target) {
  const int64_t n = validation.total().known();
  const auto wanted = static_cast<int64_t>(std::ceil(static_cast<double>(n + 1) * target * (1 - 1e-12)));
  if (wanted > n && target == 1) {
    return absl::FailedPreconditionError(
        "no number of validation samples can guarantee to accept all new ones; give a target below 1");
  }
  if (wanted > n) {
    return absl::FailedPreconditionError(absl::StrCat(n, " known validation samples can't guarantee that ", target,
                                                      " of new ones are accepted; that takes at least ",
                                                      std::ceil(target / (1 - target) * (1 - 1e-12))));
  }
  int64_t accepted = 0;
  for (int64_t block = 0; block < validation.ranking().num_blocks(); ++block) {
    accepted += validation.blocks()[block].known();
    if (accepted > 0 && accepted >= wanted) return validation.ranking().Score(block);
  }
  return kInfinity;
}

absl::StatusOr<double> GuaranteeingRisk(const RankedInput& validation, double target, double delta) {
  // Given the score of a block, the scores below it are independent draws from the part of the distribution below it.
  // The block itself, with its ties, isn't among them, so the threshold rejects it.
  std::optional<double> threshold;
  const int64_t n = validation.total().all();
  Tally below;
  int64_t next = 1;  // the next coverage, in 1 / kCoverages
  double least = 1;  // the smallest of the bounds
  for (int64_t block = 0; block < validation.ranking().num_blocks(); ++block) {
    const Tally& tally = validation.blocks()[block];
    const int64_t reached = static_cast<int64_t>(below.all()) + tally.all();
    if (tally.all() > 0 && reached * kCoverages >= next * n) {
      const double bound = below.all() > 0 ? ClopperPearsonUpper(Errors(below), below.all(), delta / kCoverages) : 1;
      least = std::min(least, bound);
      if (below.all() > 0 && bound <= target) threshold = std::nextafter(validation.ranking().Score(block), -kInfinity);
      next = reached * kCoverages / n + 1;
    }
    below += tally;
  }
  if (!threshold.has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat("no threshold can guarantee a risk of at most ", target, " with probability ", 1 - delta,
                     least < 1 ? absl::StrFormat("; the smallest risk that these %d samples can guarantee is %.4g", n,
                                                 std::ceil(least * 1e4) / 1e4)
                               : absl::StrFormat("; these %d samples can guarantee none", n),
                     ": give more validation samples, a larger target or a larger delta"));
  }
  return *threshold;
}

}  // namespace

bool ReadsTarget(ThresholdRule rule) {
  return rule == ThresholdRule::kKnownAccepted || rule == ThresholdRule::kConformal ||
         rule == ThresholdRule::kUnknownRejected || rule == ThresholdRule::kRiskAtMost ||
         rule == ThresholdRule::kRiskGuaranteed;
}

std::string WarningOf(ThresholdRule rule, const RankedInput& validation) {
  const bool loses_nothing_by_accepting =
      rule == ThresholdRule::kBestOpenSetFMacro || rule == ThresholdRule::kBestOpenSetFMicro ||
      rule == ThresholdRule::kBestYoudenMacro || rule == ThresholdRule::kBestYoudenMicro;
  if (!loses_nothing_by_accepting || validation.total().unknown > 0) return "";
  return "warning: there are no unknown validation samples, so this rule accepts nearly all; known_accepted and "
         "conformal limit how many known samples are rejected";
}

absl::StatusOr<double> SelectThreshold(ThresholdRule rule, double target, const RankedInput& validation, double delta) {
  const bool needs_known = rule != ThresholdRule::kUnknownRejected && rule != ThresholdRule::kRiskAtMost &&
                           rule != ThresholdRule::kRiskGuaranteed;
  const bool needs_unknown = rule == ThresholdRule::kUnknownRejected || rule == ThresholdRule::kBestNaccRates ||
                             rule == ThresholdRule::kBestOpenSetAccuracy;
  const bool needs_predictions = rule != ThresholdRule::kKnownAccepted && rule != ThresholdRule::kConformal &&
                                 rule != ThresholdRule::kUnknownRejected;
  if (!(delta > 0 && delta < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("delta must lie between 0 and 1 (is ", delta, ")"));
  }
  if (ReadsTarget(rule) && !(target >= 0 && target <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("target must lie in 0 .. 1 (is ", target, ")"));
  }
  if (needs_predictions && !validation.input().has_predictions()) {
    return absl::FailedPreconditionError(
        "the rule needs predictions; known_accepted, conformal and unknown_rejected don't");
  }
  const bool needs_classes = rule == ThresholdRule::kBestOpenSetFMacro || rule == ThresholdRule::kBestOpenSetFMicro ||
                             rule == ThresholdRule::kBestYoudenMacro || rule == ThresholdRule::kBestYoudenMicro ||
                             rule == ThresholdRule::kBestNaccRates;
  if (needs_classes && !validation.input().has_classes()) {
    return absl::FailedPreconditionError(
        "the rule needs the predicted classes, and the samples only say which answers are right; risk and "
        "risk_guaranteed need no more");
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
    case ThresholdRule::kConformal:
      return Conformal(validation, target);
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
    case ThresholdRule::kBestOpenSetAccuracy:
      return best(OpenSetAccuracy());
    case ThresholdRule::kRiskGuaranteed:
      return GuaranteeingRisk(validation, target, delta);
    case ThresholdRule::kRiskAtMost:
      break;
  }
  return KeepingRisk(validation, target);
}

ThresholdReport DescribeThreshold(double threshold, const RankedInput& samples) {
  const bool judged = samples.input().has_predictions();
  DecisionWalk walk(samples, judged);
  walk.AcceptUpTo(threshold);
  const Decisions& decisions = walk.decisions();
  ThresholdReport report;
  report.threshold = threshold;
  report.accepted = decisions.accepted;
  report.total = decisions.total;
  const std::vector<DecidedTally> clusters = DecidedOfClusters(threshold, samples);
  report.clusters = static_cast<int64_t>(clusters.size());
  const auto share = [&](ClusterCount (*count)(const DecidedTally&)) {
    return Share({report.accepted, report.total}, clusters, count);
  };
  report.known_accepted = share([](const DecidedTally& of) {
    return ClusterCount{of.accepted.known(), of.total.known()};
  });
  report.unknown_rejected = share([](const DecidedTally& of) {
    return ClusterCount{RejectedUnknown(of), of.total.unknown};
  });
  report.coverage = share([](const DecidedTally& of) { return ClusterCount{of.accepted.all(), of.total.all()}; });
  if (!judged) return report;
  report.correct_accepted = share([](const DecidedTally& of) {
    return ClusterCount{of.accepted.correct, of.total.known()};
  });
  report.risk = share([](const DecidedTally& of) { return ClusterCount{Errors(of.accepted), of.accepted.all()}; });
  if (report.known_accepted.has_value() && report.unknown_rejected.has_value()) {
    report.open_set_accuracy = share([](const DecidedTally& of) {
      return ClusterCount{of.accepted.correct + RejectedUnknown(of), of.total.all()};
    });
  }
  if (!samples.input().has_classes()) return report;
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
