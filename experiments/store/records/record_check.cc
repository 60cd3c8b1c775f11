#include "experiments/store/records/record_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/proto/proto_rules.h"
#include "core/proto/schema.pb.h"
#include "core/proto/traits.h"
#include "core/proto/traits.pb.h"
#include "core/status_macros.h"
#include "core/text/hex.h"
#include "core/text/one_line.h"
#include "data/task.pb.h"
#include "eval/metrics/metric.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/details.pb.h"
#include "experiments/store/records/metric_groups.h"
#include "google/protobuf/descriptor.h"

namespace openset {
namespace {

absl::Status Wrong(absl::string_view path, absl::string_view problem) {
  return absl::DataLossError(absl::StrCat(path, ": ", problem));
}

absl::Status ToStatus(const std::vector<FieldProblem>& problems) {
  return problems.empty() ? absl::OkStatus() : Wrong(problems[0].path, problems[0].message);
}

// The limits of a field in the schema's options.
struct Limits {
  Limits(const google::protobuf::Descriptor* type, int field) {
    const FieldRule& of = type->FindFieldByNumber(field)->options().GetExtension(rule);
    if (of.has_min()) min = of.min();
    if (of.has_max()) max = of.max();
    if (of.has_most()) most = static_cast<int>(std::min<uint32_t>(of.most(), most));
  }

  // False for NaN.
  bool Allow(double value) const { return value >= min && value <= max; }
  template <typename Numbers>
  bool AllowAll(const Numbers& numbers) const {
    bool allows = numbers.size() <= most;
    for (const auto number : numbers) allows &= Allow(static_cast<double>(number));
    return allows;
  }

  double min = -std::numeric_limits<double>::infinity(), max = std::numeric_limits<double>::infinity();
  int most = std::numeric_limits<int>::max();
};

// Checks whether the details obey their schema, ten times faster than FindProblems(): they are most of a record, and a
// store has 100,000 records. If it returns false, FindProblems() decides.
class DetailsRules {
 public:
  static const DetailsRules& OfProcess() {
    static const auto* const rules = new DetailsRules;
    return *rules;
  }

  bool Hold(const TrialDetails& details) const {
    return details.curve_size() <= curves_.most &&
           absl::c_all_of(details.curve(),
                          [&](const RecordedCurve& curve) {
                            return curve.kind() != RecordedCurve::KIND_UNSPECIFIED && IsUtf8(curve.set()) &&
                                   curve.x_size() == curve.y_size() && x_.AllowAll(curve.x()) && y_.AllowAll(curve.y());
                          }) &&
           (!details.has_density() || Hold(details.density())) &&
           (!details.has_decisions() || Hold(details.decisions())) && details.mistake_size() <= mistakes_.most &&
           absl::c_all_of(details.mistake(), [&](const Mistake& mistake) {
             return mistake.kind() != Mistake::KIND_UNSPECIFIED && row_.Allow(static_cast<double>(mistake.row())) &&
                    !std::isnan(mistake.unknown_score()) &&
                    mistake_class_.Allow(static_cast<double>(mistake.class_id())) &&
                    label_.Allow(mistake.predicted_label()) && IsUtf8(mistake.set());
           });
  }

 private:
  bool Hold(const ScoreDensity& density) const {
    return std::isfinite(density.low()) && std::isfinite(density.high()) && density.series_size() <= series_.most &&
           absl::c_all_of(density.series(), [&](const ScoreCounts& series) {
             return series.kind() != ScoreCounts::KIND_UNSPECIFIED && IsUtf8(series.set()) &&
                    bin_.AllowAll(series.count()) && below_.Allow(static_cast<double>(series.below())) &&
                    above_.Allow(static_cast<double>(series.above()));
           });
  }

  bool Hold(const DecisionTable& table) const {
    const auto holds = [&](const ClassDecisions& row) {
      return class_.Allow(static_cast<double>(row.class_id())) && IsUtf8(row.set()) &&
             samples_.Allow(static_cast<double>(row.samples())) &&
             rejected_.Allow(static_cast<double>(row.rejected())) && right_.Allow(static_cast<double>(row.right())) &&
             right_rejected_.Allow(static_cast<double>(row.right_rejected()));
    };
    return IsUtf8(table.rule()) && !std::isnan(table.threshold()) && table.known_size() <= known_.most &&
           table.unknown_size() <= unknown_.most && table.confusion_size() <= confusion_.most &&
           absl::c_all_of(table.known(), holds) && absl::c_all_of(table.unknown(), holds) &&
           absl::c_all_of(table.confusion(), [&](const Confusion& cell) {
             return actual_.Allow(cell.actual()) && predicted_.Allow(cell.predicted()) &&
                    cell_.Allow(static_cast<double>(cell.samples()));
           });
  }

  const Limits curves_{TrialDetails::descriptor(), TrialDetails::kCurveFieldNumber},
      mistakes_{TrialDetails::descriptor(), TrialDetails::kMistakeFieldNumber},
      x_{RecordedCurve::descriptor(), RecordedCurve::kXFieldNumber},
      y_{RecordedCurve::descriptor(), RecordedCurve::kYFieldNumber},
      series_{ScoreDensity::descriptor(), ScoreDensity::kSeriesFieldNumber},
      bin_{ScoreCounts::descriptor(), ScoreCounts::kCountFieldNumber},
      below_{ScoreCounts::descriptor(), ScoreCounts::kBelowFieldNumber},
      above_{ScoreCounts::descriptor(), ScoreCounts::kAboveFieldNumber},
      known_{DecisionTable::descriptor(), DecisionTable::kKnownFieldNumber},
      unknown_{DecisionTable::descriptor(), DecisionTable::kUnknownFieldNumber},
      confusion_{DecisionTable::descriptor(), DecisionTable::kConfusionFieldNumber},
      class_{ClassDecisions::descriptor(), ClassDecisions::kClassIdFieldNumber},
      samples_{ClassDecisions::descriptor(), ClassDecisions::kSamplesFieldNumber},
      rejected_{ClassDecisions::descriptor(), ClassDecisions::kRejectedFieldNumber},
      right_{ClassDecisions::descriptor(), ClassDecisions::kRightFieldNumber},
      right_rejected_{ClassDecisions::descriptor(), ClassDecisions::kRightRejectedFieldNumber},
      actual_{Confusion::descriptor(), Confusion::kActualFieldNumber},
      predicted_{Confusion::descriptor(), Confusion::kPredictedFieldNumber},
      cell_{Confusion::descriptor(), Confusion::kSamplesFieldNumber},
      row_{Mistake::descriptor(), Mistake::kRowFieldNumber},
      mistake_class_{Mistake::descriptor(), Mistake::kClassIdFieldNumber},
      label_{Mistake::descriptor(), Mistake::kPredictedLabelFieldNumber};
};

// The same for a provenance, which contains most of a record's texts.
class ProvenanceRules {
 public:
  static const ProvenanceRules& OfProcess() {
    static const auto* const rules = new ProvenanceRules;
    return *rules;
  }

  bool Hold(const Provenance& provenance) const {
    return provenance.stage_size() <= stages_.most && provenance.raised_revision_size() <= raised_.most &&
           absl::c_all_of(provenance.raised_revision(), IsUtf8) &&
           absl::c_all_of(provenance.stage(), [&](const StageProvenance& stage) { return Hold(stage); });
  }

 private:
  static bool IsFinite(std::initializer_list<double> values) {
    return absl::c_all_of(values, [](double value) { return std::isfinite(value); });
  }

  bool Hold(const StageProvenance& stage) const {
    return stage.stage() != StageProvenance::STAGE_UNSPECIFIED && (!stage.has_key() || IsSha256(stage.key())) &&
           IsUtf8(stage.commit()) && IsUtf8(stage.compiler()) && IsUtf8(stage.libtorch_version()) &&
           stage.component_size() <= components_.most &&
           absl::c_all_of(stage.component(),
                          [](const ComponentProvenance& component) {
                            return IsUtf8(component.family()) && IsUtf8(component.name()) &&
                                   IsUtf8(component.fingerprint());
                          }) &&
           IsUtf8(stage.host()) && IsUtf8(stage.cpu()) && absl::c_all_of(stage.cpu_feature(), IsUtf8) &&
           IsUtf8(stage.cpu_capability()) && IsUtf8(stage.gpu()) && IsUtf8(stage.gpu_driver()) &&
           threads_.Allow(stage.threads()) && memory_.Allow(static_cast<double>(stage.peak_memory_bytes())) &&
           attempts_.Allow(stage.failed_attempts()) &&
           IsFinite({stage.started_at_seconds(), stage.ended_at_seconds(), stage.wall_seconds(), stage.cpu_seconds(),
                     stage.images_per_second()}) &&
           IsUtf8(stage.third_party()) && IsUtf8(stage.libraries()) && IsUtf8(stage.changes_sha256()) &&
           IsUtf8(stage.program_sha256()) && IsUtf8(stage.user_name());
  }

  const Limits stages_{Provenance::descriptor(), Provenance::kStageFieldNumber},
      raised_{Provenance::descriptor(), Provenance::kRaisedRevisionFieldNumber},
      components_{StageProvenance::descriptor(), StageProvenance::kComponentFieldNumber},
      threads_{StageProvenance::descriptor(), StageProvenance::kThreadsFieldNumber},
      memory_{StageProvenance::descriptor(), StageProvenance::kPeakMemoryBytesFieldNumber},
      attempts_{StageProvenance::descriptor(), StageProvenance::kFailedAttemptsFieldNumber};
};

// What the values of a metric can be.
struct MetricRange {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

// By the number of the member of MetricSpec. The schema has the limits of the default form. Sums over the corners of a
// curve can be beyond them by the step of a sample: at most by all of it.
const MetricRange& RangeOf(int member) {
  static const auto* const ranges = [] {
    auto* made = new std::vector<MetricRange>;
    const google::protobuf::OneofDescriptor* kind = MetricSpec::descriptor()->FindOneofByName("kind");
    for (int i = 0; i < kind->field_count(); ++i) {
      const Traits& traits = kind->field(i)->options().GetExtension(traits_if_set);
      made->resize(std::max<size_t>(made->size(), kind->field(i)->number() + 1));
      made->at(kind->field(i)->number()) = {traits.low(), traits.high()};
    }
    made->at(MetricSpec::kEaurcFieldNumber).low = -1;
    for (const int area : {MetricSpec::kAugrcFieldNumber, MetricSpec::kPooledAugrcFieldNumber,
                           MetricSpec::kScodAugrcFieldNumber, MetricSpec::kEaugrcFieldNumber}) {
      made->at(area).high = 1;
    }
    return made;
  }();
  static const MetricRange any;
  return member > 0 && member < static_cast<int>(ranges->size()) ? (*ranges)[member] : any;
}

// The number of the metric's member of MetricSpec; 0 if neither its spec nor its name says it.
int KindOfMetric(const MetricRecord& metric) {
  if (metric.spec().kind_case() != MetricSpec::KIND_NOT_SET) return metric.spec().kind_case();
  const auto* field = MetricSpec::descriptor()->FindFieldByName(metric.name());
  return field == nullptr || field->containing_oneof() == nullptr ? 0 : field->number();
}

// Checks the value and the interval; `path` is that of the metric's list.
absl::Status CheckRange(const MetricRecord& metric, absl::string_view path, int place) {
  constexpr double kRounding = 1e-6;  // quotients of small differences are that far off
  const MetricRange& range = RangeOf(KindOfMetric(metric));
  const auto check = [&](const char* field, double value) {
    const bool is_low = value < range.low - kRounding;
    if (!is_low && value <= range.high + kRounding) return absl::OkStatus();
    return Wrong(absl::StrCat(path, "[", place, "].", field),
                 absl::StrCat(OneLine(metric.name()), is_low ? " must be at least " : " must be at most ",
                              is_low ? range.low : range.high, " (is ", value, ")"));
  };
  if (metric.has_value()) OPENSET_RETURN_IF_ERROR(check("value", metric.value()));
  if (metric.interval().has_low()) OPENSET_RETURN_IF_ERROR(check("interval.low", metric.interval().low()));
  if (metric.interval().has_high()) OPENSET_RETURN_IF_ERROR(check("interval.high", metric.interval().high()));
  return absl::OkStatus();
}

// Whether two metrics may be the same: a quick check.
bool HaveSameMetric(const MetricRecord& a, const MetricRecord& b) {
  return a.name() == b.name() && a.group().kind() == b.group().kind() && a.group().set() == b.group().set();
}

absl::Status CheckOnce(const TrialRecord& record) {
  std::vector<int> order(record.metric_size());
  for (int m = 0; m < record.metric_size(); ++m) order[m] = m;
  const auto key = [&](int m) {
    const MetricRecord& metric = record.metric(m);
    return std::tuple<absl::string_view, int, absl::string_view>(metric.name(), metric.group().kind(),
                                                                 metric.group().set());
  };
  absl::c_stable_sort(order, [&](int a, int b) { return key(a) < key(b); });
  std::set<std::string> names;  // of metrics that are alike: older records have the level in the spec only
  for (size_t i = 1; i < order.size(); ++i) {
    const MetricRecord &before = record.metric(order[i - 1]), &metric = record.metric(order[i]);
    if (!HaveSameMetric(before, metric)) {
      names.clear();
      continue;
    }
    names.insert(MeasuredNameInGroup(before));
    if (names.count(MeasuredNameInGroup(metric)) == 0) continue;
    return Wrong(absl::StrCat("metric[", order[i], "]"),
                 absl::StrCat("has ", OneLine(MeasuredNameInGroup(metric)), " a second time"));
  }
  return absl::OkStatus();
}

absl::Status CheckMetrics(const TrialRecord& record) {
  for (int m = 0; m < record.metric_size(); ++m) OPENSET_RETURN_IF_ERROR(CheckRange(record.metric(m), "metric", m));
  for (int e = 0; e < record.epoch_size(); ++e) {
    for (int m = 0; m < record.epoch(e).metric_size(); ++m) {
      OPENSET_RETURN_IF_ERROR(CheckRange(record.epoch(e).metric(m), absl::StrCat("epoch[", e, "].metric"), m));
    }
  }
  return CheckOnce(record);
}

absl::Status CheckCurves(const TrialDetails& details) {
  for (int c = 0; c < details.curve_size(); ++c) {
    if (absl::c_is_sorted(details.curve(c).x())) continue;
    return Wrong(absl::StrCat("details.curve[", c, "].x"), "must ascend");
  }
  return absl::OkStatus();
}

absl::Status CheckDensity(const ScoreDensity& density) {
  if (density.low() > density.high()) return Wrong("details.density.low", "must be at most density.high");
  for (int s = 1; s < density.series_size(); ++s) {
    if (density.series(s).count_size() == density.series(0).count_size()) continue;
    return Wrong(absl::StrCat("details.density.series[", s, "].count"), "must have as many bins as series[0]");
  }
  return absl::OkStatus();
}

absl::Status CheckClass(const ClassDecisions& row, absl::string_view list, int place) {
  const bool adds_up = row.rejected() <= row.samples() && row.right() <= row.samples() &&
                       row.right_rejected() <= std::min(row.right(), row.rejected());
  if (adds_up) return absl::OkStatus();
  return Wrong(absl::StrCat("details.decisions.", list, "[", place, "]"), "counts more samples than there are");
}

absl::Status CheckDecisions(const DecisionTable& table) {
  for (int c = 0; c < table.known_size(); ++c) OPENSET_RETURN_IF_ERROR(CheckClass(table.known(c), "known", c));
  for (int c = 0; c < table.unknown_size(); ++c) OPENSET_RETURN_IF_ERROR(CheckClass(table.unknown(c), "unknown", c));
  const int64_t known = table.known_size(), unknown = table.unknown_size();
  for (int c = 0; c < table.confusion_size(); ++c) {
    const Confusion& cell = table.confusion(c);
    const bool names_classes =
        cell.actual() >= -unknown && cell.actual() < known && cell.predicted() >= 0 && cell.predicted() < known;
    if (names_classes) continue;
    return Wrong(absl::StrCat("details.decisions.confusion[", c, "]"),
                 absl::StrCat("names classes ", cell.actual(), " and ", cell.predicted(), " of ", known, " known and ",
                              unknown, " unknown ones"));
  }
  return absl::OkStatus();
}

// `classes` and `samples` are their numbers, if known.
absl::Status CheckMistakes(const TrialDetails& details, std::optional<int64_t> classes,
                           std::optional<int64_t> samples) {
  for (int m = 0; m < details.mistake_size(); ++m) {
    const Mistake& mistake = details.mistake(m);
    if (classes.has_value() && mistake.has_predicted_label() && mistake.predicted_label() >= *classes) {
      return Wrong(absl::StrCat("details.mistake[", m, "].predicted_label"),
                   absl::StrCat("must be one of ", *classes, " known classes (is ", mistake.predicted_label(), ")"));
    }
    if (samples.has_value() && mistake.row() >= *samples) {
      return Wrong(absl::StrCat("details.mistake[", m, "].row"),
                   absl::StrCat("must be one of ", *samples, " samples (is ", mistake.row(), ")"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRecord(const TrialRecord& record, absl::Span<const int> without) {
  const TrialDetails& details = record.details();
  std::vector<int> passed_over(without.begin(), without.end());
  if (record.has_details() && DetailsRules::OfProcess().Hold(details)) {
    passed_over.push_back(TrialRecord::kDetailsFieldNumber);
  }
  if (ProvenanceRules::OfProcess().Hold(record.provenance())) {
    passed_over.push_back(TrialRecord::kProvenanceFieldNumber);
  }
  OPENSET_RETURN_IF_ERROR(ToStatus(FindProblems(record, Completeness::kComplete, passed_over)));
  OPENSET_RETURN_IF_ERROR(CheckMetrics(record));
  if (!record.has_details()) return absl::OkStatus();
  OPENSET_RETURN_IF_ERROR(CheckCurves(details));
  OPENSET_RETURN_IF_ERROR(CheckDensity(details.density()));
  OPENSET_RETURN_IF_ERROR(CheckDecisions(details.decisions()));
  std::optional<int64_t> classes, samples;
  if (details.has_decisions()) classes = details.decisions().known_size();
  if (record.trial().data().has_test_known()) {
    const int64_t of_trial = record.trial().data().test_known().class_id_size();
    classes = std::min(classes.value_or(of_trial), of_trial);
  }
  if (record.has_counts()) samples = record.counts().known() + record.counts().unknown();
  return CheckMistakes(details, classes, samples);
}

absl::Status CheckMetricsOfTrial(const TrialRecord& record) {
  const TrialSpec& trial = record.trial();
  struct Listed {
    std::string name;
    int member;
    bool reads_unknown;
  };
  std::vector<Listed> metrics;
  const bool has_sets = trial.data().test_unknown_size() > 1;
  for (const MetricSpec& metric : trial.metric()) {
    metrics.push_back({MetricName(metric), metric.kind_case(), has_sets && TraitsOf(metric).unknown_samples()});
  }
  int next = 0;  // usually the place of the next metric
  for (const MetricGroup& group : MetricGroupsOf(trial.data())) {
    const bool is_pool = group.kind() == MetricGroup::POOL;
    for (const Listed& listed : metrics) {
      if (!is_pool && !listed.reads_unknown) continue;
      const auto is_it = [&](const MetricRecord& metric) {
        const bool in_group = (is_pool && !metric.has_group()) ||
                              (metric.group().kind() == group.kind() && metric.group().set() == group.set());
        return in_group && KindOfMetric(metric) == listed.member && IsMeasured(metric, listed.name);
      };
      int tried = 0;
      while (tried < record.metric_size() && !is_it(record.metric((next + tried) % record.metric_size()))) ++tried;
      if (tried == record.metric_size()) {
        return Wrong("metric", absl::StrCat("lacks ", OneLine(listed.name),
                                            is_pool ? "" : absl::StrCat(" of ", OneLine(GroupText(group))),
                                            ", which the trial lists"));
      }
      next = (next + tried + 1) % record.metric_size();
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMessage(const google::protobuf::Message& message) { return ToStatus(FindProblems(message)); }

}  // namespace openset
