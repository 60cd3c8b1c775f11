#include "experiments/evaluate/details.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/in_parallel.h"
#include "data/task.pb.h"
#include "eval/curves/curves.h"
#include "eval/thresholds/select_threshold.h"
#include "experiments/spec/method.proto.h"

namespace openset {
namespace {

constexpr int kMaxPoints = 512;
constexpr double kMaxArea = 5e-4;  // the largest change of area by thinning a curve
constexpr int kBins = 64;
constexpr int kMistakes = 24;       // for each kind
constexpr int kConfusions = 2500;   // at most those of 50 known classes
constexpr double kAccepted = 0.95;  // the share of known samples, if a method has no threshold of its own

// The names of the sets of unknown samples, if there are several.
std::vector<std::string> SetNames(const TrialSpec& trial) {
  std::vector<std::string> names;
  if (trial.data().test_unknown_size() < 2) return names;
  for (const UnknownGroup& group : trial.data().test_unknown()) names.push_back(group.name());
  return names;
}

// For the pool, or for one set of unknown samples and all known ones.
struct CurveOf {
  RecordedCurve::Kind kind;
  std::optional<size_t> set;
};

std::vector<CurvePoint> PointsOf(const CurveOf& curve, const RankedInput& pool) {
  std::optional<RankedInput> part;
  if (curve.set.has_value()) {
    const EvaluationInput& input = pool.input();
    std::vector<uint32_t> weight(input.num_samples());
    for (int64_t i = 0; i < input.num_samples(); ++i) weight[i] = !input.IsUnknown(i) || input.group()[i] == *curve.set;
    part = pool;
    part->Reweight(weight);
  }
  const RankedInput& ranked = part.has_value() ? *part : pool;
  switch (curve.kind) {
    case RecordedCurve::ROC:
      return RocCurve(ranked);
    case RecordedCurve::OSCR:
      return OscrCurve(ranked);
    case RecordedCurve::RISK_COVERAGE:
      return RiskCoverageCurve(ranked, RiskOver::kKnown);
    case RecordedCurve::RISK_COVERAGE_POOL:
      return RiskCoverageCurve(ranked, RiskOver::kPool);
    case RecordedCurve::KIND_UNSPECIFIED:
      break;
  }
  return {};
}

void AddCurves(const std::vector<std::string>& sets, const RankedInput& ranked, TrialDetails* details) {
  std::vector<CurveOf> curves = {
      {RecordedCurve::ROC, {}}, {RecordedCurve::OSCR, {}}, {RecordedCurve::RISK_COVERAGE, {}}};
  if (ranked.total().unknown > 0) curves.push_back({RecordedCurve::RISK_COVERAGE_POOL, {}});
  for (size_t set = 0; set < sets.size(); ++set) {
    curves.push_back({RecordedCurve::ROC, set});
    curves.push_back({RecordedCurve::OSCR, set});
  }
  std::vector<std::vector<CurvePoint>> points(curves.size());
  InParallel(static_cast<int64_t>(curves.size()), [&](int64_t c) {
    const std::vector<CurvePoint> whole = PointsOf(curves[c], ranked);
    if (!whole.empty()) points[c] = Thinned(whole, kMaxPoints, kMaxArea);
  });
  for (size_t c = 0; c < curves.size(); ++c) {
    if (points[c].empty()) continue;
    RecordedCurve* recorded = details->add_curve();
    recorded->set_kind(curves[c].kind);
    if (curves[c].set.has_value()) recorded->set_set(sets[*curves[c].set]);
    for (const CurvePoint& point : points[c]) {
      recorded->add_x(static_cast<float>(point.x));
      recorded->add_y(static_cast<float>(point.y));
    }
  }
}

void AddDensity(const std::vector<std::string>& sets, const RankedInput& ranked, TrialDetails* details) {
  const auto [low, high] = RangeOfDensities(ranked);
  if (low > high) return;
  ScoreDensity* density = details->mutable_density();
  density->set_low(low);
  density->set_high(high);
  const EvaluationInput& input = ranked.input();
  const int bins = low < high ? kBins : 1;
  const auto add = [&](ScoreCounts::Kind kind, const std::string& set, const auto& is_of) {
    std::vector<int64_t> count(bins, 0);
    int64_t below = 0, above = 0, samples = 0;
    for (int64_t i = 0; i < input.num_samples(); ++i) {
      if (!is_of(i)) continue;
      ++samples;
      const double score = input.unknown_score()[i];
      if (score < low) {
        ++below;
      } else if (score > high) {
        ++above;
      } else {
        ++count[low < high ? std::min<int>(static_cast<int>((score - low) / (high - low) * bins), bins - 1) : 0];
      }
    }
    if (samples == 0) return;
    ScoreCounts* series = density->add_series();
    series->set_kind(kind);
    if (!set.empty()) series->set_set(set);
    series->mutable_count()->Assign(count.begin(), count.end());
    series->set_below(below);
    series->set_above(above);
  };
  add(ScoreCounts::KNOWN_RIGHT, "", [&](int64_t i) { return !input.IsUnknown(i) && input.IsCorrect(i); });
  add(ScoreCounts::KNOWN_WRONG, "", [&](int64_t i) { return !input.IsUnknown(i) && !input.IsCorrect(i); });
  if (sets.empty()) add(ScoreCounts::UNKNOWN, "", [&](int64_t i) { return input.IsUnknown(i); });
  for (size_t set = 0; set < sets.size(); ++set) {
    add(ScoreCounts::UNKNOWN, sets[set], [&](int64_t i) { return input.IsUnknown(i) && input.group()[i] == set; });
  }
}

// The method's own threshold for this number of known classes, if it has one.
std::optional<double> OwnThreshold(const DecisionSpec& decision, int known_classes) {
  for (const KnownClassesThreshold& entry : decision.by_known_classes()) {
    if (entry.known_classes() == known_classes) return entry.threshold();
  }
  if (decision.has_threshold()) return decision.threshold();
  return std::nullopt;
}

void AddDecisions(const TrialSpec& trial, const Outputs& outputs, const std::vector<std::string>& sets,
                  const RankedInput& ranked, TrialDetails* details) {
  const EvaluationInput& input = ranked.input();
  const Selection& known = trial.data().test_known();
  DecisionTable table;
  std::optional<double> threshold = OwnThreshold(trial.method().decision(), known.class_id_size());
  if (threshold.has_value()) {
    table.set_rule("the method's own threshold");
  } else {
    const absl::StatusOr<double> accepting = SelectThreshold(ThresholdRule::kKnownAccepted, kAccepted, ranked);
    if (!accepting.ok()) return;  // no known samples
    threshold = *accepting;
    table.set_rule("95 % of the known samples are accepted");
  }
  table.set_threshold(*threshold);
  for (const int32_t class_id : known.class_id()) {
    ClassDecisions* row = table.add_known();
    row->set_class_id(class_id);
    row->set_samples(0);
    row->set_rejected(0);
    row->set_right(0);
    row->set_right_rejected(0);
  }
  const auto group_of = [&](int64_t i) { return sets.empty() ? 0 : input.group()[i]; };
  std::map<std::pair<int32_t, int64_t>, int> unknown_row;  // by set and class id
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    if (input.IsUnknown(i)) unknown_row[{group_of(i), outputs.class_id[i]}] = 0;
  }
  for (auto& [key, place] : unknown_row) {
    place = table.unknown_size();
    ClassDecisions* row = table.add_unknown();
    row->set_class_id(key.second);
    if (!sets.empty()) row->set_set(sets[key.first]);
    row->set_samples(0);
    row->set_rejected(0);
  }
  std::map<std::pair<int32_t, int32_t>, int64_t> confusion;  // by actual and predicted class
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    const bool is_known = !input.IsUnknown(i);
    const int place = is_known ? input.label()[i] : unknown_row[{group_of(i), outputs.class_id[i]}];
    ClassDecisions* row = is_known ? table.mutable_known(place) : table.mutable_unknown(place);
    // A classifier that says unknown by itself rejects the sample.
    const bool rejected = input.unknown_score()[i] > *threshold || input.prediction()[i] >= input.num_classes();
    const bool right = is_known && input.IsCorrect(i);
    row->set_samples(row->samples() + 1);
    row->set_rejected(row->rejected() + rejected);
    if (is_known) row->set_right(row->right() + right);
    if (is_known) row->set_right_rejected(row->right_rejected() + (right && rejected));
    if (!rejected) ++confusion[{is_known ? place : -1 - place, input.prediction()[i]}];
  }
  std::vector<std::pair<std::pair<int32_t, int32_t>, int64_t>> cells(confusion.begin(), confusion.end());
  std::stable_sort(cells.begin(), cells.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [classes, samples] : cells) {
    if (table.confusion_size() == kConfusions) {
      table.set_confusion_cut(true);
      break;
    }
    Confusion* cell = table.add_confusion();
    cell->set_actual(classes.first);
    cell->set_predicted(classes.second);
    cell->set_samples(samples);
  }
  *details->mutable_decisions() = std::move(table);
}

void AddMistakes(const TrialSpec& trial, const Outputs& outputs, const std::vector<std::string>& sets,
                 const RankedInput& ranked, TrialDetails* details) {
  const EvaluationInput& input = ranked.input();
  const absl::Span<const uint32_t> order = ranked.ranking().order();
  const auto add = [&](Mistake::Kind kind, int64_t row) {
    Mistake* mistake = details->add_mistake();
    mistake->set_kind(kind);
    mistake->set_row(row);
    mistake->set_unknown_score(input.unknown_score()[row]);
    mistake->set_class_id(outputs.class_id[row]);
    if (!sets.empty() && input.IsUnknown(row)) mistake->set_set(sets[input.group()[row]]);
    if (input.prediction()[row] < trial.data().test_known().class_id_size()) {
      mistake->set_predicted_label(input.prediction()[row]);
    }
  };
  int found = 0;
  for (auto row = order.rbegin(); row != order.rend() && found < kMistakes; ++row) {
    if (input.IsUnknown(*row) || !input.IsCorrect(*row)) continue;
    add(Mistake::KNOWN_TAKEN_FOR_UNKNOWN, *row);
    ++found;
  }
  for (const Mistake::Kind kind : {Mistake::UNKNOWN_TAKEN_FOR_KNOWN, Mistake::WRONG_CLASS}) {
    const bool unknown = kind == Mistake::UNKNOWN_TAKEN_FOR_KNOWN;
    found = 0;
    for (auto row = order.begin(); row != order.end() && found < kMistakes; ++row) {
      if (input.IsUnknown(*row) != unknown || (!unknown && input.IsCorrect(*row))) continue;
      add(kind, *row);
      ++found;
    }
  }
}

}  // namespace

TrialDetails MakeDetails(const TrialSpec& trial, const Outputs& outputs, const RankedInput& ranked) {
  const std::vector<std::string> sets = SetNames(trial);
  TrialDetails details;
  AddCurves(sets, ranked, &details);
  AddDensity(sets, ranked, &details);
  AddDecisions(trial, outputs, sets, ranked, &details);
  AddMistakes(trial, outputs, sets, ranked, &details);
  return details;
}

}  // namespace openset
