#include "experiments/evaluate/evaluation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/formats/header_check.h"
#include "core/in_parallel.h"
#include "core/logging.h"
#include "core/proto/proto_digest.h"
#include "core/proto/traits.h"
#include "core/status_macros.h"
#include "data/selection.h"
#include "data/splits/split_digest.h"
#include "data/task.pb.h"
#include "eval/curves/curves.h"
#include "eval/metrics/display.h"
#include "eval/metrics/evaluate.h"
#include "eval/metrics/evaluation_input.h"
#include "eval/scores/input.h"
#include "eval/scores/make_score.h"
#include "eval/scores/output_kind.h"
#include "eval/statistics/bootstrap.h"
#include "eval/statistics/delong.h"
#include "eval/statistics/jackknife.h"
#include "eval/thresholds/select_threshold.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/model_files.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/store/components.h"
#include "experiments/store/records/input_trainings.h"
#include "experiments/store/records/metric_groups.h"
#include "experiments/store/records/record_id.h"
#include "experiments/store/stage_clock.h"
#include "models/model.pb.h"

namespace openset {
namespace {

constexpr int kMaxPoints = 512;
constexpr double kMaxArea = 5e-4;  // the largest change of area by thinning a curve
constexpr int kBins = 64;
constexpr int kMistakes = 24;       // for each kind
constexpr int kConfusions = 2500;   // all pairs of 50 known classes
constexpr double kAccepted = 0.95;  // the share of known samples, if a method has no threshold of its own

// The names of the groups of unknown samples, if there are several.
std::vector<std::string> UnknownGroupNames(const TrialSpec& trial) {
  std::vector<std::string> names;
  if (trial.data().test_unknown_size() < 2) return names;
  for (const UnknownGroup& group : trial.data().test_unknown()) names.push_back(group.name());
  return names;
}

// For the pool, or for one group of unknown samples and all known ones.
struct CurveOf {
  RecordedCurve::Kind kind;
  std::optional<size_t> group;
};

std::vector<CurvePoint> PointsOf(const CurveOf& curve, const RankedInput& pool) {
  std::optional<RankedInput> part;
  if (curve.group.has_value()) {
    const EvaluationInput& input = pool.input();
    std::vector<uint32_t> weight(input.num_samples());
    for (int64_t i = 0; i < input.num_samples(); ++i)
      weight[i] = !input.IsUnknown(i) || input.group()[i] == *curve.group;
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
      return RiskCoverageCurve(ranked, RiskSamples::KNOWN);
    case RecordedCurve::RISK_COVERAGE_POOL:
      return RiskCoverageCurve(ranked, RiskSamples::POOL);
    case RecordedCurve::KIND_UNSPECIFIED:
      break;
  }
  return {};
}

void AddCurves(const std::vector<std::string>& groups, const RankedInput& ranked, TrialDetails* details) {
  std::vector<CurveOf> curves = {
      {RecordedCurve::ROC, {}}, {RecordedCurve::OSCR, {}}, {RecordedCurve::RISK_COVERAGE, {}}};
  if (ranked.total().unknown > 0) curves.push_back({RecordedCurve::RISK_COVERAGE_POOL, {}});
  for (size_t group = 0; group < groups.size(); ++group) {
    curves.push_back({RecordedCurve::ROC, group});
    curves.push_back({RecordedCurve::OSCR, group});
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
    if (curves[c].group.has_value()) recorded->set_set(groups[*curves[c].group]);
    for (const CurvePoint& point : points[c]) {
      recorded->add_x(static_cast<float>(point.x));
      recorded->add_y(static_cast<float>(point.y));
    }
  }
}

void AddDensity(const std::vector<std::string>& groups, const RankedInput& ranked, TrialDetails* details) {
  const auto [low, high] = RangeOfDensities(ranked);
  if (low > high) return;
  ScoreDensity* density = details->mutable_density();
  density->set_low(low);
  density->set_high(high);
  const EvaluationInput& input = ranked.input();
  const int bins = low < high ? kBins : 1;
  const auto add = [&](ScoreCounts::Kind kind, const std::string& group, const auto& is_of) {
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
    if (!group.empty()) series->set_set(group);
    series->mutable_count()->Assign(count.begin(), count.end());
    series->set_below(below);
    series->set_above(above);
  };
  add(ScoreCounts::KNOWN_RIGHT, "", [&](int64_t i) { return !input.IsUnknown(i) && input.IsCorrect(i); });
  add(ScoreCounts::KNOWN_WRONG, "", [&](int64_t i) { return !input.IsUnknown(i) && !input.IsCorrect(i); });
  if (groups.empty()) add(ScoreCounts::UNKNOWN, "", [&](int64_t i) { return input.IsUnknown(i); });
  for (size_t group = 0; group < groups.size(); ++group) {
    add(ScoreCounts::UNKNOWN, groups[group],
        [&](int64_t i) { return input.IsUnknown(i) && input.group()[i] == group; });
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

// A classifier that predicts "unknown" itself rejects the sample.
bool IsRejected(const EvaluationInput& input, int64_t i, double threshold) {
  return input.unknown_score()[i] > threshold || input.prediction()[i] >= input.num_classes();
}

void AddDecisions(const TrialSpec& trial, const Outputs& outputs, const std::vector<std::string>& groups,
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
  const auto group_of = [&](int64_t i) { return groups.empty() ? 0 : input.group()[i]; };
  std::map<std::pair<int32_t, int64_t>, int> unknown_row;  // by group and class id
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    if (input.IsUnknown(i)) unknown_row[{group_of(i), outputs.class_id[i]}] = 0;
  }
  for (auto& [key, place] : unknown_row) {
    place = table.unknown_size();
    ClassDecisions* row = table.add_unknown();
    row->set_class_id(key.second);
    if (!groups.empty()) row->set_set(groups[key.first]);
    row->set_samples(0);
    row->set_rejected(0);
  }
  std::map<std::pair<int32_t, int32_t>, int64_t> confusion;  // by actual and predicted class
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    const bool is_known = !input.IsUnknown(i);
    const int place = is_known ? input.label()[i] : unknown_row[{group_of(i), outputs.class_id[i]}];
    ClassDecisions* row = is_known ? table.mutable_known(place) : table.mutable_unknown(place);
    const bool rejected = IsRejected(input, i, *threshold);
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

Mistake::Kind KindOfMistake(const EvaluationInput& input, int64_t i, double threshold) {
  if (IsRejected(input, i, threshold)) {
    return input.IsUnknown(i) ? Mistake::KIND_UNSPECIFIED : Mistake::KNOWN_TAKEN_FOR_UNKNOWN;
  }
  if (input.IsUnknown(i)) return Mistake::UNKNOWN_TAKEN_FOR_KNOWN;
  return input.IsCorrect(i) ? Mistake::KIND_UNSPECIFIED : Mistake::WRONG_CLASS;
}

// At the threshold of the decisions; without one there are no mistakes.
void AddMistakes(const TrialSpec& trial, const Outputs& outputs, const std::vector<std::string>& groups,
                 const RankedInput& ranked, TrialDetails* details) {
  if (!details->has_decisions()) return;
  const EvaluationInput& input = ranked.input();
  const absl::Span<const uint32_t> order = ranked.ranking().order();
  for (const Mistake::Kind kind :
       {Mistake::KNOWN_TAKEN_FOR_UNKNOWN, Mistake::UNKNOWN_TAKEN_FOR_KNOWN, Mistake::WRONG_CLASS}) {
    int found = 0;
    for (size_t k = 0; k < order.size() && found < kMistakes; ++k) {
      const uint32_t row = order[kind == Mistake::KNOWN_TAKEN_FOR_UNKNOWN ? order.size() - 1 - k : k];
      if (KindOfMistake(input, row, details->decisions().threshold()) != kind) continue;
      Mistake* mistake = details->add_mistake();
      mistake->set_kind(kind);
      mistake->set_row(row);
      mistake->set_unknown_score(input.unknown_score()[row]);
      mistake->set_class_id(outputs.class_id[row]);
      if (!groups.empty() && input.IsUnknown(row)) mistake->set_set(groups[input.group()[row]]);
      if (input.prediction()[row] < trial.data().test_known().class_id_size()) {
        mistake->set_predicted_label(input.prediction()[row]);
      }
      ++found;
    }
  }
}

}  // namespace

TrialDetails MakeDetails(const TrialSpec& trial, const Outputs& outputs, const RankedInput& ranked) {
  const std::vector<std::string> groups = UnknownGroupNames(trial);
  TrialDetails details;
  AddCurves(groups, ranked, &details);
  AddDensity(groups, ranked, &details);
  AddDecisions(trial, outputs, groups, ranked, &details);
  AddMistakes(trial, outputs, groups, ranked, &details);
  return details;
}

absl::Status AddInputs(const InferSummary& test, const InferSummary* fit, TrialRecord* record) {
  // The outputs for the fit come from the same trainings.
  OPENSET_RETURN_IF_ERROR(CheckTrainings(test));
  for (const TrainSummary& training : test.training()) {
    *record->mutable_provenance()->add_stage() = training.provenance();
    for (const std::string& tensor : training.ignored_tensor()) {
      if (!absl::c_linear_search(record->ignored_tensor(), tensor)) record->add_ignored_tensor(tensor);
    }
    for (const std::string& note : training.import_note()) {
      if (!absl::c_linear_search(record->import_note(), note)) record->add_import_note(note);
    }
  }
  const TrainSummary& first = FirstTraining(test);
  *record->mutable_epoch() = first.epoch();
  record->set_checkpoint_key(InputKey(test.action(), ActionInput::MODEL));
  record->set_checkpoint_sha256(first.checkpoint_sha256());
  *record->mutable_provenance()->add_stage() = test.provenance();
  if (fit != nullptr) {
    StageProvenance* stage = record->mutable_provenance()->add_stage();
    *stage = fit->provenance();
    stage->set_stage(StageProvenance::FIT);
  }
  return absl::OkStatus();
}

// Defined by :evaluate_fingerprints.
extern const FingerprintRow openset_evaluate_fingerprints[];

namespace {

SampleCounts CountSamplesOf(const TrialSpec& trial, const Outputs& outputs) {
  SampleCounts counts;
  counts.set_known_classes(trial.data().test_known().class_id_size());
  counts.set_unknown_classes(CountUnknownClasses(trial.data()));
  std::vector<int64_t> in_group(outputs.group_names.size(), 0);
  int64_t unknown = 0;
  for (int64_t i = 0; i < outputs.size(); ++i) {
    if (outputs.label[i] >= 0) continue;
    ++unknown;
    if (!outputs.group.empty() && outputs.group[i] >= 0) ++in_group[outputs.group[i]];
  }
  counts.set_known(outputs.size() - unknown);
  counts.set_unknown(unknown);
  for (size_t g = 0; g < in_group.size(); ++g) {
    GroupCount* group = counts.add_group();
    group->set_name(outputs.group_names[g]);
    group->set_samples(in_group[g]);
  }
  return counts;
}

ScoreInput InputOf(const Outputs& outputs) {
  ScoreInput input;
  input.num_samples = outputs.size();
  input.num_outputs = outputs.num_outputs;
  input.feature_dim = outputs.feature_dim;
  input.logits = outputs.logits;
  input.features = outputs.features;
  input.head_weight = outputs.head_weight;
  input.head_bias = outputs.head_bias;
  input.perturbed_features = outputs.perturbed_features;
  input.member_uncertainty = outputs.member_uncertainty;
  input.stage_values = outputs.stage_values;
  input.stage_widths = outputs.stage_widths;
  return input;
}

BootstrapOptions OptionsOf(const IntervalSpec& spec, uint64_t seed) {
  BootstrapOptions options;
  options.replicates = spec.replicates();
  options.confidence = spec.confidence();
  options.method = spec.method() == IntervalSpec::PERCENTILE ? IntervalMethod::kPercentile : IntervalMethod::kBca;
  options.seed = seed;
  options.threads = NumThreads();
  return options;
}

void SetInterval(const IntervalValue& value, MetricRecord* record) {
  if (value.value.has_value() && !(std::isfinite(value.low) && std::isfinite(value.high))) {
    record->mutable_interval()->set_absent_reason(absl::StrCat("it is ", value.low, " to ", value.high));
  } else if (value.value.has_value()) {
    record->mutable_interval()->set_low(value.low);
    record->mutable_interval()->set_high(value.high);
  } else {
    record->mutable_interval()->set_absent_reason(value.absent_reason);
  }
}

// Writes the requested intervals into the records of one group.
absl::Status AddIntervals(const RankedInput& ranked, uint64_t seed, absl::Span<MetricRecord* const> records) {
  for (MetricRecord* record : records) {
    if (!record->spec().has_interval()) continue;
    OPENSET_ASSIGN_OR_RETURN(const std::vector<IntervalValue> values,
                             BootstrapIntervals({record->spec()}, ranked, OptionsOf(record->spec().interval(), seed)));
    SetInterval(values[0], record);
  }
  return absl::OkStatus();
}

// The same for the mean over the near or the far groups. `columns` keeps the intervals of each metric, by its name: the
// same replicates serve both means.
absl::Status AddMeanIntervals(const RankedInput& ranked, absl::Span<const Group> groups, bool near, uint64_t seed,
                              std::map<std::string, std::vector<GroupInterval>>* columns,
                              absl::Span<MetricRecord* const> records) {
  for (MetricRecord* record : records) {
    if (!record->spec().has_interval()) continue;
    std::vector<GroupInterval>& of_metric = (*columns)[record->name()];
    if (of_metric.empty()) {
      OPENSET_ASSIGN_OR_RETURN(
          of_metric, GroupIntervals({record->spec()}, ranked, groups, OptionsOf(record->spec().interval(), seed)));
    }
    // The groups, then the near mean, the far one, and the pool.
    SetInterval(of_metric[near ? groups.size() : of_metric.size() - 2].metrics[0], record);
  }
  return absl::OkStatus();
}

// The values of a group of MetricGroupsOf(data).
const std::vector<MetricValue>& ValuesOf(const MetricGroup& group, const TaskData& data, const GroupedValues& values) {
  switch (group.kind()) {
    case MetricGroup::SET:
      for (int g = 0; g < data.test_unknown_size(); ++g) {
        if (data.test_unknown(g).name() == group.set()) return values.groups[g].values;
      }
      LOG(FATAL) << "no group " << group.set();
    case MetricGroup::NEAR_MEAN:
      return values.means.front().values;
    case MetricGroup::FAR_MEAN:
      return values.means.back().values;
    case MetricGroup::POOL:
    case MetricGroup::KIND_UNSPECIFIED:
      break;
  }
  return values.pool.values;
}

std::vector<Group> GroupsOf(const TaskData& data) {
  std::vector<Group> groups;
  for (const UnknownGroup& group : data.test_unknown()) {
    groups.push_back({group.name(), group.distance() == UnknownGroup::NEAR  ? Distance::kNear
                                    : group.distance() == UnknownGroup::FAR ? Distance::kFar
                                                                            : Distance::kUnspecified});
  }
  return groups;
}

// The metrics of the pool and, if there are several groups of unknown samples, of each group and the means.
absl::StatusOr<GroupedValues> EvaluateAll(const std::vector<MetricSpec>& metrics, const TaskData& data,
                                          const RankedInput& ranked) {
  GroupedValues values;
  if (data.test_unknown_size() < 2) {
    OPENSET_ASSIGN_OR_RETURN(values.pool.values, Evaluate(metrics, ranked));
    return values;
  }
  return EvaluateGroups(metrics, ranked, GroupsOf(data));
}

// The values of metrics without each block of test samples, of the pool, each group and the means.
class WithoutBlockValues {
 public:
  explicit WithoutBlockValues(const RankedInput& ranked) : block_(JackknifeBlocksOf(ranked.input())) {}

  // For samples of the ranking whose weight is not 0: the pool, or a group at this distance.
  void Add(const RankedInput& ranked, UnknownGroup::Distance distance, absl::Span<MetricRecord* const> records) {
    for (MetricRecord* record : records) {
      const std::optional<PairStatistic> statistic = PairStatisticOf(record->spec());
      if (!statistic.has_value() || !record->has_value()) continue;
      const std::vector<double> values = WithoutBlocks(ranked, *statistic, block_);
      record->mutable_without_block()->Assign(values.begin(), values.end());
      groups_[{distance, record->name()}].push_back(values);
    }
  }

  // For the mean over the groups at this distance.
  void AddMean(UnknownGroup::Distance distance, absl::Span<MetricRecord* const> records) {
    for (MetricRecord* record : records) {
      const std::vector<std::vector<double>>& groups = groups_[{distance, record->name()}];
      const bool has_all =
          !groups.empty() && absl::c_all_of(groups, [](const auto& of_group) { return !of_group.empty(); });
      if (!has_all || !record->has_value()) continue;
      for (int b = 0; b < kJackknifeBlocks; ++b) {
        double sum = 0;
        for (const std::vector<double>& of_group : groups) sum += of_group[b];
        record->add_without_block(static_cast<float>(sum / static_cast<double>(groups.size())));
      }
    }
  }

 private:
  const std::vector<int> block_;
  std::map<std::pair<UnknownGroup::Distance, std::string>, std::vector<std::vector<double>>> groups_;
};

// `without_blocks` may be null.
absl::Status AddMetrics(const TrialSpec& trial, const RankedInput& ranked, WithoutBlockValues* without_blocks,
                        TrialRecord* record) {
  const std::vector<MetricSpec> metrics(trial.metric().begin(), trial.metric().end());
  OPENSET_ASSIGN_OR_RETURN(const GroupedValues grouped, EvaluateAll(metrics, trial.data(), ranked));
  int set = 0;
  std::map<std::string, std::vector<GroupInterval>> columns;
  for (const MetricGroup& group : MetricGroupsOf(trial.data())) {
    const std::vector<MetricValue>& values = ValuesOf(group, trial.data(), grouped);
    std::vector<MetricRecord*> records;
    for (size_t m = 0; m < metrics.size(); ++m) {
      const Display display = DisplayOf(metrics[m]);
      if (group.kind() != MetricGroup::POOL && !display.reads_unknown) continue;
      MetricRecord* metric = records.emplace_back(record->add_metric());
      metric->set_name(values[m].name);
      *metric->mutable_spec() = metrics[m];
      metric->set_unit(display.value_unit);
      if (display.higher_is_better.has_value()) metric->set_higher_is_better(*display.higher_is_better);
      *metric->mutable_group() = group;
      if (!values[m].value.has_value()) {
        metric->set_absent_reason(values[m].absent_reason);
      } else if (std::isfinite(*values[m].value)) {
        metric->set_value(*values[m].value);
      } else {
        metric->set_absent_reason(absl::StrCat("it is ", *values[m].value));
      }
    }
    if (group.kind() == MetricGroup::POOL) {
      OPENSET_RETURN_IF_ERROR(AddIntervals(ranked, trial.seed(), records));
      if (without_blocks != nullptr) without_blocks->Add(ranked, UnknownGroup::NOT_SAID, records);
    }
    if (group.kind() == MetricGroup::SET) {
      RankedInput of_group = ranked;
      of_group.Reweight(WeightsOfGroup(ranked, set));
      OPENSET_RETURN_IF_ERROR(AddIntervals(of_group, trial.seed(), records));
      if (without_blocks != nullptr) without_blocks->Add(of_group, trial.data().test_unknown(set).distance(), records);
      ++set;
    }
    const bool near = group.kind() == MetricGroup::NEAR_MEAN;
    if (near || group.kind() == MetricGroup::FAR_MEAN) {
      OPENSET_RETURN_IF_ERROR(AddMeanIntervals(ranked, GroupsOf(trial.data()), near, trial.seed(), &columns, records));
      if (without_blocks != nullptr) without_blocks->AddMean(near ? UnknownGroup::NEAR : UnknownGroup::FAR, records);
    }
  }
  return absl::OkStatus();
}

struct StoredOutputs {
  Outputs outputs;
  std::string key;
  std::string sha256;
  InferSummary summary;
};

absl::StatusOr<StoredOutputs> Load(const std::string& key, const Store& store) {
  StoredOutputs stored;
  stored.key = key;
  OPENSET_ASSIGN_OR_RETURN(stored.summary, store.LoadInferSummary(key));
  if (MessageDigest(stored.summary.action()) != key) {
    return absl::DataLossError(absl::StrCat(store.OutputsFolder(key), ": its action has another key"));
  }
  const std::string path = JoinPath(store.OutputsFolder(stored.key), kOutputsFile);
  OPENSET_RETURN_IF_ERROR(CheckZipMembers(path));
  absl::StatusOr<std::string> sha256;
  absl::StatusOr<Outputs> outputs;
  InParallel(2, [&](int64_t part) {
    if (part == 0) {
      sha256 = Sha256HexOfFile(path);
    } else {
      outputs = ReadOutputs(path);
    }
  });
  OPENSET_RETURN_IF_ERROR(sha256.status());
  if (*sha256 != stored.summary.outputs_sha256()) {
    return absl::DataLossError(absl::StrCat(path, " does not match its checksum; the next run makes it again"));
  }
  OPENSET_RETURN_IF_ERROR(outputs.status());
  stored.sha256 = *std::move(sha256);
  stored.outputs = *std::move(outputs);
  return stored;
}

// Outputs with a trial's score.
struct Scored {
  std::vector<double> unknown_score;
  std::vector<int32_t> prediction, label, group;
  std::optional<ProbabilityLogits> probabilities;  // the score's own
};

// Imported outputs may have an output for the unknown class or not, whatever the method's score needs.
absl::Status CheckOutputs(const ScoreSpec& score, int64_t num_outputs, int num_classes) {
  if (TraitsOf(score).extra_output() && num_outputs <= num_classes) {
    return absl::InvalidArgumentError(absl::StrCat("the score needs an output for the unknown, and there are ",
                                                   num_outputs, " outputs for ", num_classes, " classes"));
  }
  const std::string text = ExtraOutputText(score, num_outputs, num_classes);
  // A network trained on more classes may have many more outputs.
  if (text.empty() || num_outputs > num_classes + 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the score ", text));
}

absl::StatusOr<Scored> ScoreOutputs(const TrialSpec& trial, const Outputs& outputs, const Outputs* fit) {
  const ScoreInput input = InputOf(outputs);
  const int num_classes = trial.data().train().class_id_size();
  OPENSET_RETURN_IF_ERROR(CheckOutputs(trial.method().score(), outputs.num_outputs, num_classes));
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Score> score, MakeScore(trial.method().score()));
  for (const Outputs* of : {&outputs, fit}) {
    if (of == nullptr) continue;
    OPENSET_RETURN_IF_ERROR(CheckLevel(trial.method().score(), KindOf(of->logits, of->num_outputs)));
  }
  if (fit != nullptr) {
    const std::vector<int32_t> fit_label(fit->label.begin(), fit->label.end());
    OPENSET_RETURN_IF_ERROR(score->Fit(InputOf(*fit), fit_label));
  }
  Scored scored;
  OPENSET_ASSIGN_OR_RETURN(scored.unknown_score, score->Compute(input));
  scored.prediction.assign(outputs.prediction.begin(), outputs.prediction.end());
  OPENSET_ASSIGN_OR_RETURN(std::optional<std::vector<int32_t>> said, score->Predictions(input, num_classes));
  if (said.has_value()) {
    scored.prediction = *std::move(said);
  } else if (scored.prediction.empty()) {
    OPENSET_ASSIGN_OR_RETURN(scored.prediction, ClosedSetPrediction(input, num_classes));
  }
  scored.label.assign(outputs.label.begin(), outputs.label.end());
  for (int64_t g : outputs.group) scored.group.push_back(static_cast<int32_t>(std::max<int64_t>(g, 0)));
  OPENSET_ASSIGN_OR_RETURN(scored.probabilities, score->Probabilities(input));
  return scored;
}

absl::StatusOr<TrialRecord> MeasureOutputs(const TrialSpec& trial, const Outputs& outputs, const Outputs* fit,
                                           bool with_details) {
  OPENSET_ASSIGN_OR_RETURN(const Scored scored, ScoreOutputs(trial, outputs, fit));
  const std::optional<ProbabilityLogits>& probabilities = scored.probabilities;
  EvaluationInput::Arrays arrays;
  arrays.unknown_score = scored.unknown_score;
  arrays.prediction = scored.prediction;
  arrays.label = scored.label;
  arrays.num_classes = trial.data().train().class_id_size();
  arrays.group = scored.group;
  arrays.cluster = outputs.cluster;
  arrays.logits = probabilities.has_value() ? probabilities->logits : outputs.logits;
  arrays.num_outputs =
      static_cast<int32_t>(probabilities.has_value() ? probabilities->num_outputs : outputs.num_outputs);
  OPENSET_ASSIGN_OR_RETURN(const EvaluationInput evaluation, EvaluationInput::Create(arrays));

  TrialRecord record;
  *record.mutable_counts() = CountSamplesOf(trial, outputs);
  const RankedInput ranked(evaluation);
  absl::Status measured;
  TrialDetails details;
  InParallel(with_details ? 2 : 1, [&](int64_t part) {
    if (part == 0) {
      std::optional<WithoutBlockValues> without_blocks;
      if (with_details) without_blocks.emplace(ranked);
      measured = AddMetrics(trial, ranked, with_details ? &*without_blocks : nullptr, &record);
    } else {
      details = MakeDetails(trial, outputs, ranked);
    }
  });
  OPENSET_RETURN_IF_ERROR(measured);
  if (with_details) *record.mutable_details() = std::move(details);
  return record;
}

}  // namespace

absl::StatusOr<TrialRecord> Measure(const TrialSpec& trial, const Outputs& outputs, const Outputs* fit) {
  return MeasureOutputs(trial, outputs, fit, /*with_details=*/true);
}

absl::StatusOr<TrialRecord> MeasureMetrics(const TrialSpec& trial, const Outputs& outputs, const Outputs* fit) {
  return MeasureOutputs(trial, outputs, fit, /*with_details=*/false);
}

namespace {

// The outputs that a trial is evaluated on and, if its score is fitted, those that it is fitted to.
struct TrialOutputs {
  StoredOutputs test;
  std::optional<StoredOutputs> fit;
};

absl::StatusOr<TrialOutputs> LoadOutputs(const ActionSpec& evaluation, const Store& store) {
  const std::string test = InputKey(evaluation, ActionInput::TEST), fit = InputKey(evaluation, ActionInput::FIT);
  absl::StatusOr<StoredOutputs> loaded[2];
  InParallel(fit.empty() ? 1 : 2, [&](int64_t i) { loaded[i] = Load(i == 0 ? test : fit, store); });
  TrialOutputs outputs;
  OPENSET_ASSIGN_OR_RETURN(outputs.test, std::move(loaded[0]));
  if (!fit.empty()) {
    OPENSET_ASSIGN_OR_RETURN(outputs.fit, std::move(loaded[1]));
  }
  return outputs;
}

}  // namespace

absl::StatusOr<SampleSet> ScoredSamplesOf(const TrialSpec& trial, const Store& store) {
  OPENSET_ASSIGN_OR_RETURN(TrialOutputs stored, LoadOutputs(MakeAction(trial, ActionKind::kEvaluate), store));
  Outputs& outputs = stored.test.outputs;
  OPENSET_ASSIGN_OR_RETURN(Scored scored,
                           ScoreOutputs(trial, outputs, stored.fit.has_value() ? &stored.fit->outputs : nullptr));
  SampleSet samples;
  samples.num_samples = outputs.size();
  samples.label = std::move(scored.label);
  samples.prediction = std::move(scored.prediction);
  samples.unknown_score = std::move(scored.unknown_score);
  samples.num_classes = trial.data().train().class_id_size();
  samples.num_classes_given = true;
  samples.cluster = std::move(outputs.cluster);
  if (scored.probabilities.has_value()) {
    samples.probability_logits = std::move(scored.probabilities->logits);
    samples.probability_outputs = scored.probabilities->num_outputs;
  } else {
    samples.logits = std::move(outputs.logits);
    samples.num_outputs = outputs.num_outputs;
  }
  if (trial.data().test_unknown_size() < 2) return samples;
  samples.group = std::move(scored.group);
  samples.groups = GroupsOf(trial.data());
  return samples;
}

absl::Status EvaluateTrial(const std::string& key, const ActionSpec& action, const TrialSpec& trial,
                           const Store& store) {
  const StageClock clock;
  OPENSET_ASSIGN_OR_RETURN(const TrialOutputs outputs, LoadOutputs(action, store));
  const StoredOutputs& test = outputs.test;
  const std::optional<StoredOutputs>& fit = outputs.fit;
  OPENSET_ASSIGN_OR_RETURN(TrialRecord record, Measure(trial, test.outputs, fit.has_value() ? &fit->outputs : nullptr));

  record.set_schema_version(kSchemaVersion);
  record.set_trial_id(key);
  *record.mutable_trial() = trial;
  // A folder of this machine says nothing elsewhere: files are known by their digests.
  MethodSpec* const method = record.mutable_trial()->mutable_method();
  if (method->training().has_command()) method->mutable_training()->mutable_command()->clear_folder();
  if (method->has_model()) KeepFileNames(method->mutable_model());
  KeepFileNames(record.mutable_trial()->mutable_data());
  record.set_split_sha256(SplitDigest(trial.data()));
  record.set_outputs_key(test.key);
  record.set_outputs_sha256(test.sha256);
  if (fit.has_value()) {
    record.set_fit_outputs_key(fit->key);
    record.set_fit_outputs_sha256(fit->sha256);
  }
  for (const std::string& type : RaisedRevisions(trial)) record.mutable_provenance()->add_raised_revision(type);
  OPENSET_RETURN_IF_ERROR(AddInputs(test.summary, fit.has_value() ? &fit->summary : nullptr, &record));
  ModelSpec imported = FirstTraining(test.summary).action().train().model();
  for (const std::string& path : KeepFileNames(&imported)) {
    for (std::string& note : *record.mutable_import_note()) {
      note = absl::StrReplaceAll(note, {{path, std::filesystem::path(path).filename().string()}});
    }
  }
  StageProvenance* stage = record.mutable_provenance()->add_stage();
  *stage = clock.Read(StageProvenance::EVALUATE, key, store);
  AddComponents(trial.method().score(), openset_evaluate_fingerprints, stage);
  for (const MetricSpec& metric : trial.metric()) AddComponents(metric, openset_evaluate_fingerprints, stage);
  return store.CommitRecord(record).status();
}

}  // namespace openset
