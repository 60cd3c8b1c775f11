#include "eval/metrics/aurc.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"

namespace openset {
namespace {

// 1 / (from + 1) + ... + 1 / to.
double ReciprocalSum(int64_t from, int64_t to) {
  double sum = 0;
  for (int64_t k = from + 1; k <= to; ++k) sum += 1.0 / static_cast<double>(k);
  return sum;
}

// Sum over k of (errors among the first k) / k, where `block` follows `before`. For equal scores, the expectation over
// their orders: after j of them there are before.errors + j * block.errors / block.samples errors.
double ExpectedSum(const Risk& before, const Risk& block) {
  if (block.samples == 0) return 0;
  if (block.samples == 1) return (before.errors + block.errors) / (before.samples + 1);
  const double reciprocals = ReciprocalSum(before.samples, before.samples + block.samples);
  const double share = block.errors / block.samples;
  return before.errors * reciprocals + share * (block.samples - before.samples * reciprocals);
}

// The same if all samples have this loss.
double RunSum(const Risk& before, int64_t samples, double loss) {
  return ExpectedSum(before, {samples, loss * static_cast<double>(samples)});
}

// The losses of the samples of a tie block that count, with their weights, ascending.
std::vector<std::pair<double, int64_t>> LossesOf(const RankedInput& ranked, int64_t block, RiskSamples::Value over) {
  std::vector<std::pair<double, int64_t>> losses;
  for (const uint32_t sample : ranked.ranking().Block(block)) {
    const int64_t weight = ranked.weight(sample);
    if (weight == 0 || (ranked.input().IsUnknown(sample) && over != RiskSamples::POOL)) continue;
    losses.emplace_back(LossOf(ranked, sample), weight);
  }
  std::sort(losses.begin(), losses.end());
  return losses;
}

// Adds runs of samples, in their order, to `before`.
double SumOfRuns(const std::vector<std::pair<double, int64_t>>& runs, Risk* before) {
  double sum = 0;
  for (const auto& [loss, samples] : runs) {
    sum += RunSum(*before, samples, loss);
    before->samples += samples;
    before->errors += loss * static_cast<double>(samples);
  }
  return sum;
}

double SumOverOrder(const RankedInput& ranked, RiskSamples::Value over) {
  Risk before;
  double sum = 0;
  for (const uint32_t sample : ranked.ranking().order()) {
    const bool unknown = ranked.input().IsUnknown(sample);
    const int64_t weight = ranked.weight(sample);
    if (weight == 0 || (unknown && over != RiskSamples::POOL)) continue;
    const double loss = LossOf(ranked, sample);
    sum += RunSum(before, weight, loss);
    before.samples += weight;
    before.errors += loss * static_cast<double>(weight);
  }
  return sum;
}

double SumOverBlocks(const RankedInput& ranked, RiskSamples::Value over, AurcSpec::Form form) {
  Risk before;
  double sum = 0;
  for (int64_t i = 0; i < ranked.ranking().num_blocks(); ++i) {
    const Risk block = RiskOfBlock(ranked, i, over);
    if (block.samples == 0) continue;
    if (form == AurcSpec::CORRECT_FIRST || form == AurcSpec::ERROR_FIRST) {
      std::vector<std::pair<double, int64_t>> losses = LossesOf(ranked, i, over);
      if (form == AurcSpec::ERROR_FIRST) std::reverse(losses.begin(), losses.end());
      sum += SumOfRuns(losses, &before);
      continue;
    }
    sum += ExpectedSum(before, block);
    before.samples += block.samples;
    before.errors += block.errors;
  }
  return sum;
}

double TrapezoidDistinct(const RankedInput& ranked, RiskSamples::Value over) {
  Risk before;
  double twice_area = 0;
  double last_risk = 0;
  for (int64_t i = 0; i < ranked.ranking().num_blocks(); ++i) {
    const Risk block = RiskOfBlock(ranked, i, over);
    if (block.samples == 0) continue;
    const bool first = before.samples == 0;
    before.samples += block.samples;
    before.errors += block.errors;
    const double risk = before.errors / before.samples;
    twice_area += block.samples * ((first ? risk : last_risk) + risk);
    last_risk = risk;
  }
  return twice_area / 2 / before.samples;
}

// Sum of the risks over the order, minus half of the first and of the last: trapezoids of width 1/n.
MetricResult TrapezoidNormalised(const RankedInput& ranked, RiskSamples::Value over, const Risk& total) {
  if (total.samples == 1) return MetricResult::Absent("needs two samples");
  double first_risk = 0;
  for (const uint32_t sample : ranked.ranking().order()) {
    if (ranked.weight(sample) == 0 || (over != RiskSamples::POOL && ranked.input().IsUnknown(sample))) continue;
    first_risk = LossOf(ranked, sample);
    break;
  }
  const double last_risk = total.errors / total.samples;
  return (SumOverOrder(ranked, over) - (first_risk + last_risk) / 2) / (total.samples - 1);
}

// (Errors among the first k) / n at k = 1 .. n in the order of the input, in trapezoids, over 1 - 1/n.
MetricResult AugrcNormalised(const RankedInput& ranked, RiskSamples::Value over, const Risk& total) {
  if (total.samples == 1) return MetricResult::Absent("needs two samples");
  double sum = 0;
  double errors = 0;
  double first = -1;
  for (const uint32_t sample : ranked.ranking().order()) {
    const double weight = ranked.weight(sample);
    if (weight == 0 || (over != RiskSamples::POOL && ranked.input().IsUnknown(sample))) continue;
    const double error = LossOf(ranked, sample);
    if (first < 0) first = error;
    // errors + error, errors + 2 error, ..., errors + weight error
    sum += weight * errors + error * weight * (weight + 1) / 2;
    errors += error * weight;
  }
  return (sum - (first + errors) / 2) / static_cast<double>(total.samples) / static_cast<double>(total.samples - 1);
}

}  // namespace

double LossOf(const RankedInput& ranked, int64_t sample) {
  const EvaluationInput& input = ranked.input();
  if (input.IsUnknown(sample)) return 1;
  if (!input.loss().empty()) return input.loss()[sample];
  return input.IsCorrect(sample) ? 0 : 1;
}

namespace {

Risk RiskOfTally(const Tally& tally, RiskSamples::Value over) {
  if (over != RiskSamples::POOL) return {tally.known(), static_cast<double>(tally.wrong)};
  return {tally.all(), static_cast<double>(tally.wrong) + static_cast<double>(tally.unknown)};
}

}  // namespace

Risk RiskOfBlock(const RankedInput& ranked, int64_t block, RiskSamples::Value over) {
  Risk risk = RiskOfTally(ranked.blocks()[block], over);
  if (ranked.input().loss().empty()) return risk;
  for (const uint32_t sample : ranked.ranking().Block(block)) {
    if (!ranked.input().IsUnknown(sample)) risk.errors += ranked.weight(sample) * LossOf(ranked, sample);
  }
  return risk;
}

Risk RiskOfAll(const RankedInput& ranked, RiskSamples::Value over) {
  Risk all = RiskOfTally(ranked.total(), over);
  if (ranked.input().loss().empty()) return all;
  all.errors = 0;
  for (int64_t i = 0; i < ranked.ranking().num_blocks(); ++i) all.errors += RiskOfBlock(ranked, i, over).errors;
  return all;
}

MetricResult Aurc(const RankedInput& ranked, RiskSamples::Value over, AurcSpec::Form form) {
  const Risk total = RiskOfAll(ranked, over);
  if (total.samples == 0) return AbsentWithoutKnown();
  switch (form) {
    case AurcSpec::INPUT_ORDER:
      return SumOverOrder(ranked, over) / total.samples;
    case AurcSpec::TRAPEZOID_DISTINCT:
      return TrapezoidDistinct(ranked, over);
    case AurcSpec::TRAPEZOID_NORMALISED:
      return TrapezoidNormalised(ranked, over, total);
    case AurcSpec::FORM_UNSPECIFIED:
    case AurcSpec::EXPECTED:
    case AurcSpec::CORRECT_FIRST:
    case AurcSpec::ERROR_FIRST:
      break;
  }
  return SumOverBlocks(ranked, over, form) / total.samples;
}

void SumOfRisks::Add(const Risk& block) {
  const int64_t skipped = std::min(std::max<int64_t>(after_ - before_.samples, 0), block.samples);
  if (skipped == 0) {
    value_ += ExpectedSum(before_, block);
  } else if (skipped < block.samples) {
    // The skipped samples of the block have their share of its errors.
    const double share = block.errors / static_cast<double>(block.samples);
    value_ += ExpectedSum({before_.samples + skipped, before_.errors + share * static_cast<double>(skipped)},
                          {block.samples - skipped, share * static_cast<double>(block.samples - skipped)});
  }
  before_.samples += block.samples;
  before_.errors += block.errors;
}

std::vector<Risk> BestBlocks(const RankedInput& ranked, RiskSamples::Value over) {
  std::map<double, int64_t> samples_of;  // each loss
  if (ranked.input().loss().empty()) {
    const Risk all = RiskOfAll(ranked, over);
    const auto errors = static_cast<int64_t>(all.errors);
    samples_of = {{0, all.samples - errors}, {1, errors}};
  } else {
    for (int64_t i = 0; i < ranked.ranking().num_blocks(); ++i) {
      for (const auto& [loss, samples] : LossesOf(ranked, i, over)) samples_of[loss] += samples;
    }
  }
  std::vector<Risk> blocks;
  for (const auto& [loss, samples] : samples_of) {
    if (samples > 0) blocks.push_back({samples, loss * static_cast<double>(samples)});
  }
  return blocks;
}

std::vector<AurcPart> PooledAurcParts(const RankedInput& ranked) {
  if (!ranked.input().has_predictions()) return {};
  const EvaluationInput& input = ranked.input();
  std::vector<AurcPart> parts(1 + std::max(1, input.num_groups()));
  for (int32_t group = 0; group + 1 < parts.size(); ++group) parts[group + 1].group = group;

  // An error adds, in expectation, 1/k for each k after its tie block, and within it (samples - before * reciprocals)
  // / samples. Walked from the last block on, the first of these is a running sum.
  int64_t before = ranked.total().all();
  double behind = 0;
  for (int64_t block = ranked.ranking().num_blocks() - 1; block >= 0; --block) {
    const int64_t samples = ranked.blocks()[block].all();
    if (samples == 0) continue;
    before -= samples;
    const double reciprocals = ReciprocalSum(before, before + samples);
    const double worth = behind + (samples - before * reciprocals) / samples;
    behind += reciprocals;
    for (int64_t place = ranked.ranking().BlockBegin(block); place < ranked.ranking().BlockBegin(block + 1); ++place) {
      const uint32_t sample = ranked.ranking().order()[place];
      const SampleKind kind = ranked.samples()[place].kind();
      const int64_t weight = ranked.weight(sample);
      const bool unknown = kind == SampleKind::kUnknown;
      AurcPart& part = parts[!unknown ? 0 : input.group().empty() ? 1 : 1 + input.group()[sample]];
      part.samples += weight;
      if (kind == SampleKind::kCorrect) continue;
      part.errors += weight;
      part.aurc += weight * worth;
    }
  }
  for (AurcPart& part : parts) part.aurc /= ranked.total().all();
  return parts;
}

namespace {

// Aurc() minus the Aurc() of the best possible score for the same predictions: of n samples, all correct ones first
// (EXACT), or r + (1 - r) ln(1 - r) for the error rate r. In [0, 1] with EXPECTED, lower is better; other forms may be
// slightly below 0.
MetricResult ExcessAurc(const RankedInput& ranked, const EaurcSpec& spec) {
  const RiskSamples::Value over = RiskSamples::KNOWN;
  const Risk total = RiskOfAll(ranked, over);
  if (total.samples == 0) return AbsentWithoutKnown();
  const MetricResult area = Aurc(ranked, over, spec.form());
  if (!area.value.has_value()) return area;
  const double aurc = *area.value;
  if (spec.oracle() == EaurcSpec::EXACT) {
    SumOfRisks best;
    for (const Risk& block : BestBlocks(ranked, over)) best.Add(block);
    return aurc - best.value() / total.samples;
  }
  if (!ranked.input().loss().empty()) {
    return MetricResult::Absent("the asymptotic best is that of right and wrong answers; take oracle: EXACT");
  }
  const double risk = total.errors / total.samples;
  const double best = total.errors == total.samples ? 1 : risk + (1 - risk) * std::log1p(-risk);
  return aurc - best;
}

// Area under the generalised risk-coverage curve (Traub et al. 2024): (errors among the accepted samples) / n over
// coverage, by the trapezoid rule between distinct scores, from coverage 0; TRAPEZOID_NORMALISED: as Aurc(). In [0,
// 0.5], lower is better. Absent if Aurc() is.
MetricResult Augrc(const RankedInput& ranked, RiskSamples::Value over, AugrcSpec::Form form) {
  const Risk total = RiskOfAll(ranked, over);
  if (total.samples == 0) return AbsentWithoutKnown();
  if (form == AugrcSpec::TRAPEZOID_NORMALISED) return AugrcNormalised(ranked, over, total);
  double twice_area = 0;
  double errors = 0;
  for (int64_t i = 0; i < ranked.ranking().num_blocks(); ++i) {
    const Risk block = RiskOfBlock(ranked, i, over);
    twice_area += static_cast<double>(block.samples) * (2 * errors + block.errors);
    errors += block.errors;
  }
  return twice_area / 2 / total.samples / total.samples;
}

// Augrc() minus r^2 / 2, the Augrc() of the best possible score at the error rate r. In [0, 0.5], lower is better.
MetricResult ExcessAugrc(const RankedInput& ranked) {
  const RiskSamples::Value over = RiskSamples::KNOWN;
  if (!ranked.input().loss().empty()) return MetricResult::Absent("the best is that of right and wrong answers");
  const MetricResult augrc = Augrc(ranked, over, AugrcSpec::TRAPEZOID_DISTINCT);
  if (!augrc.value.has_value()) return augrc;
  const Risk total = RiskOfAll(ranked, over);
  const double risk = total.errors / static_cast<double>(total.samples);
  return *augrc.value - risk * risk / 2;
}

// P(the wrong prediction has the higher unknown score) + P(tie) / 2, for a wrong and a correct prediction of known
// samples. In [0, 1], higher is better. Absent without wrong or without correct predictions of known samples.
MetricResult AurocMisclassification(const RankedInput& ranked) {
  const Tally& total = ranked.total();
  if (total.known() == 0) return AbsentWithoutKnown();
  if (total.wrong == 0) return MetricResult::Absent("no wrong predictions of known samples");
  if (total.correct == 0) return MetricResult::Absent("no correct predictions of known samples");
  uint64_t twice_pairs = 0;
  uint64_t correct_below = 0;
  for (const Tally& block : ranked.blocks()) {
    twice_pairs += block.wrong * (2 * correct_below + block.correct);
    correct_below += block.correct;
  }
  return static_cast<double>(twice_pairs) / (2.0 * total.wrong * total.correct);
}

}  // namespace

Metric Make(const AurcSpec& spec, MetricSpec::KindCase kind) {
  const bool pooled = kind == MetricSpec::kPooledAurc;
  return {WithForm(With({"AURC"}, pooled, "pooled"), spec.form(), AurcSpec::EXPECTED),
          [over = pooled ? RiskSamples::POOL : RiskSamples::KNOWN, form = spec.form()](const RankedInput& ranked) {
            return Aurc(ranked, over, form);
          }};
}

Metric Make(const EaurcSpec& spec) {
  return {
      WithForm(With({"E-AURC"}, spec.oracle() == EaurcSpec::EXACT, "exact oracle"), spec.form(), AurcSpec::EXPECTED),
      [spec](const RankedInput& ranked) { return ExcessAurc(ranked, spec); }};
}

Metric Make(const AugrcSpec& spec, MetricSpec::KindCase kind) {
  const bool pooled = kind == MetricSpec::kPooledAugrc;
  return {WithForm(With({"AUGRC"}, pooled, "pooled"), spec.form(), AugrcSpec::TRAPEZOID_DISTINCT),
          [over = pooled ? RiskSamples::POOL : RiskSamples::KNOWN, form = spec.form()](const RankedInput& ranked) {
            return Augrc(ranked, over, form);
          }};
}

Metric Make(const EaugrcSpec&) { return {{"E-AUGRC"}, ExcessAugrc}; }

Metric Make(const AurocMisclassificationSpec&) {
  return {{"AUROC of errors"}, AurocMisclassification, [](const RankedInput& ranked) -> int64_t {
            return std::min(ranked.total().correct, ranked.total().wrong);
          }};
}

}  // namespace openset
