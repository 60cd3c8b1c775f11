#include "tools/evaluation/requested.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/in_parallel.h"
#include "core/proto/text_proto.h"
#include "core/proto/traits.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "core/text/synonyms.h"
#include "eval/files/apply_score.h"
#include "eval/files/same_network.h"
#include "eval/metrics/evaluate.h"
#include "eval/metrics/metric.h"
#include "eval/report/cost_map.h"
#include "eval/statistics/delong.h"

namespace openset {
namespace {

// The parts between commas outside braces.
std::vector<std::string> SplitOutsideBraces(absl::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += (c == '{') - (c == '}');
    if (c == ',' && depth <= 0) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

std::vector<std::string> MembersOf(const google::protobuf::Descriptor& family) {
  const google::protobuf::OneofDescriptor* kind = family.FindOneofByName("kind");
  std::vector<std::string> names;
  for (int i = 0; i < kind->field_count(); ++i) names.push_back(kind->field(i)->name());
  return names;
}

// Parses "NAME" or "NAME { fields }" into the oneof `kind` of `spec`.
absl::Status ParseMember(absl::string_view flag, absl::string_view what, absl::string_view text,
                         google::protobuf::Message* spec) {
  const absl::string_view name = absl::StripAsciiWhitespace(text.substr(0, text.find_first_of(" {")));
  const std::vector<std::string> known = MembersOf(*spec->GetDescriptor());
  const std::optional<std::string> meant = ResolveSynonym(name, known);
  if (!meant.has_value()) return absl::InvalidArgumentError(absl::StrCat(flag, ": ", UnknownName(what, name, known)));
  const bool has_fields = text.find('{') != absl::string_view::npos;
  absl::StatusOr<TextSource> source =
      ParseTextProto(absl::StrCat(*meant, has_fields ? text.substr(name.size()) : " {}"), std::string(flag), spec);
  if (!source.ok()) return source.status();
  return CheckRules(*spec, *source);
}

}  // namespace

absl::StatusOr<std::vector<MetricSpec>> ParseMetrics(absl::string_view flag, absl::string_view text) {
  if (absl::StripAsciiWhitespace(text).empty()) return AllMetrics();
  std::vector<MetricSpec> metrics;
  for (const std::string& part : SplitOutsideBraces(text)) {
    absl::string_view member = absl::StripAsciiWhitespace(part);
    const size_t equals = member.substr(0, member.find('{')).find('=');
    absl::string_view name;
    if (equals != absl::string_view::npos) {
      name = absl::StripAsciiWhitespace(member.substr(0, equals));
      member = absl::StripAsciiWhitespace(member.substr(equals + 1));
    }
    MetricSpec& metric = metrics.emplace_back();
    if (std::optional<MetricSpec> at_level = MetricOfLevelName(member); at_level.has_value()) {
      metric = *std::move(at_level);
    } else {
      OPENSET_RETURN_IF_ERROR(ParseMember(flag, "metric", member, &metric));
    }
    if (!name.empty()) metric.set_name(std::string(name));
  }
  OPENSET_RETURN_IF_ERROR(Annotate(CheckMetrics(metrics), flag));
  return metrics;
}

std::string SuggestedMetric(absl::string_view name) {
  if (MetricOfLevelName(name).has_value()) return std::string(name);
  return ResolveSynonym(name, MembersOf(*MetricSpec::descriptor())).value_or(std::string(name));
}

absl::StatusOr<ScoreSpec> ParseScore(absl::string_view flag, absl::string_view text) {
  ScoreSpec spec;
  OPENSET_RETURN_IF_ERROR(ParseMember(flag, "score", absl::StripAsciiWhitespace(text), &spec));
  return spec;
}

absl::StatusOr<ScoredSamples> ScoreSamples(const SampleOptions& options, const SampleReader& read,
                                           const SampleReader& read_fit) {
  SetRoles roles;
  roles.known.assign(options.known().begin(), options.known().end());
  roles.unknown.assign(options.unknown().begin(), options.unknown().end());
  roles.near.assign(options.near().begin(), options.near().end());
  roles.far.assign(options.far().begin(), options.far().end());
  roles.skip.assign(options.skip().begin(), options.skip().end());
  ScoredSamples result;
  ScoreSpec spec;
  if (!options.score().empty()) {
    OPENSET_ASSIGN_OR_RETURN(spec, ParseScore("--score", options.score()));
  }
  if (options.higher_is_known() && !options.score().empty()) {
    return absl::InvalidArgumentError(
        "--higher_is_known: applies to the score in the files, but --score computes another one");
  }
  OPENSET_ASSIGN_OR_RETURN(result.samples, read(roles, options.higher_is_known() ? ScoreDirection::kHigherIsKnown
                                                                                 : ScoreDirection::kHigherIsUnknown));
  if (options.score().empty() && !result.samples.unknown_score.empty()) {
    result.note = absl::StrCat("unknown score: ", options.higher_is_known() ? "minus the file's" : "the file's");
    result.origin = options.higher_is_known() ? ScoreOrigin::kFileNegated : ScoreOrigin::kFile;
    return result;
  }
  if (options.score().empty()) {
    spec.mutable_max_softmax();
    result.note = absl::StrCat("unknown score: ", ScoreText(spec), " (--score= takes another)");
  } else {
    result.note = absl::StrCat("unknown score: ", ScoreText(spec));
  }
  SampleSet train;
  if (read_fit != nullptr) {
    OPENSET_ASSIGN_OR_RETURN(train, read_fit({}, ScoreDirection::kHigherIsUnknown));
  }
  OPENSET_RETURN_IF_ERROR(ApplyScore(spec, read_fit != nullptr ? &train : nullptr, &result.samples));
  if (!TraitsOf(spec).fit()) return result;
  result.shared_with_fit = CountShared(result.samples, train, /*only_known=*/true);
  if (result.shared_with_fit > 0) {
    result.samples.hints.push_back(absl::StrCat(result.shared_with_fit, " of ", result.samples.num_samples,
                                                " samples are among those that the score is fitted to, so they look "
                                                "more known than new samples would: fit the score to other samples"));
  }
  return result;
}

namespace {

constexpr char kPool[] = "pool";

// All metrics would be many tests.
constexpr char kComparedMetrics[] = "accuracy, auroc, openauc, aurc, fpr_at_95tpr";

// Whether two methods agree in everything that metrics read.
bool AreSame(const SampleSet& a, const SampleSet& b) {
  return a.label == b.label && a.prediction == b.prediction && a.unknown_score == b.unknown_score &&
         a.logits == b.logits && a.probability_logits == b.probability_logits;
}

// Why no metric of any pair has a difference; "" if one has.
std::string WhyAllAbsent(const SampleComparison& comparison) {
  std::vector<std::string> reasons;
  for (const ComparedMetric& row : comparison.rows) {
    if (row.difference.has_value()) return "";
    std::string reason = absl::StrCat(row.metric, ": ", row.absent_reason);
    if (!absl::c_linear_search(reasons, reason)) reasons.push_back(std::move(reason));
  }
  return absl::StrJoin(reasons, "; ");
}

}  // namespace

absl::StatusOr<std::vector<ConventionMetric>> RequestedMetrics(const EvaluationRequest& request) {
  OPENSET_ASSIGN_OR_RETURN(Convention convention, FindConvention(request.convention()), "--convention");
  if (request.metrics().empty()) return std::move(convention.metrics);
  if (convention.name != "openset") return absl::InvalidArgumentError("--metrics goes with --convention=openset only");
  OPENSET_ASSIGN_OR_RETURN(const std::vector<MetricSpec> specs, ParseMetrics("--metrics", request.metrics()));
  std::vector<ConventionMetric> result;
  for (const MetricSpec& spec : specs) result.push_back({MetricName(spec), spec, 1, 0, RemarkOn(spec)});
  return result;
}

absl::StatusOr<std::optional<SampleIntervals>> RequestedIntervals(const EvaluationRequest& request) {
  SampleIntervals intervals;
  OPENSET_ASSIGN_OR_RETURN(intervals.bootstrap, RequestedBootstrap(request.interval()));
  intervals.delong = request.interval().ci_method() == "delong";
  if (!request.ci()) return std::nullopt;
  return intervals;
}

absl::StatusOr<BootstrapOptions> RequestedBootstrap(const IntervalOptions& options) {
  const std::string& method = options.ci_method();
  if (method != "bca" && method != "percentile" && method != "delong") {
    return absl::InvalidArgumentError(
        absl::StrCat("--ci_method: ", UnknownName("method", method, {"bca", "percentile", "delong"})));
  }
  if (options.replicates() > 1000000) return absl::InvalidArgumentError("--replicates: must be at most 1000000");
  if (options.threads() > 1024) return absl::InvalidArgumentError("--threads: must be at most 1024");
  BootstrapOptions bootstrap;
  bootstrap.method = method == "percentile" ? IntervalMethod::kPercentile : IntervalMethod::kBca;
  bootstrap.replicates = static_cast<int>(std::max<int64_t>(options.replicates(), -1));
  bootstrap.confidence = options.level();
  bootstrap.seed = options.seed();
  bootstrap.threads =
      options.threads() == 0 ? NumThreads() : static_cast<int>(std::max<int64_t>(options.threads(), -1));
  OPENSET_RETURN_IF_ERROR(Annotate(CheckOptions(bootstrap), "--replicates, --level, --threads"));
  return bootstrap;
}

namespace {

absl::StatusOr<std::vector<MetricSpec>> ComparedMetricsOf(const ComparisonRequest& request) {
  if (!request.cost_map()) {
    return ParseMetrics("--metrics", request.metrics().empty() ? kComparedMetrics : request.metrics());
  }
  OPENSET_ASSIGN_OR_RETURN(const std::vector<MetricSpec> metrics,
                           ParseMetrics("--metrics", request.metrics().empty() ? "expected_cost" : request.metrics()));
  if (metrics.size() != 1 || !metrics[0].has_expected_cost()) {
    return absl::InvalidArgumentError(
        "--metrics: must be expected_cost alone for --cost_map, for example 'expected_cost { error_cost: 1 }'");
  }
  const ExpectedCostSpec& cost = metrics[0].expected_cost();
  if (cost.has_prevalence() || cost.has_unknown_cost()) {
    return absl::InvalidArgumentError("--metrics: leave out prevalence and unknown_cost, which --cost_map varies");
  }
  return CostMapMetrics(cost);
}

}  // namespace

std::string LongBootstrapHint(int64_t values, int replicates) {
  constexpr double kLong = 1e9;  // about 30 ns each
  if (static_cast<double>(values) * replicates < kLong) return "";
  return absl::StrCat("the bootstrap draws ", replicates, " times from ", values,
                      " scores, which may take minutes: --ci_method=delong --metrics=auroc,openauc needs no draws, and "
                      "--replicates=200 takes fewer");
}

absl::StatusOr<SampleComparison> RequestedComparison(const ComparisonRequest& request,
                                                     const std::vector<ComparedSamples>& methods,
                                                     std::optional<int> baseline,
                                                     const std::function<void(const std::string&)>& say) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<MetricSpec> metrics, ComparedMetricsOf(request));
  OPENSET_ASSIGN_OR_RETURN(const BootstrapOptions options, RequestedBootstrap(request.interval()));
  const bool is_pool = request.group() == kPool;
  std::deque<ScoredSamples> samples;
  std::deque<RankedInput> ranked;
  std::vector<const RankedInput*> inputs;
  std::vector<std::string> names;
  for (const ComparedSamples& method : methods) {
    OPENSET_ASSIGN_OR_RETURN(samples.emplace_back(), ScoreSamples(request.samples(), method.read, method.read_fit));
    if (!is_pool) {
      absl::StatusOr<SampleSet> only = OnlyUnknownSet(std::move(samples.back().samples), request.group());
      if (!only.ok()) return Annotate(only.status(), absl::StrCat("--group: ", method.source));
      samples.back().samples = *std::move(only);
    }
    OPENSET_ASSIGN_OR_RETURN(const EvaluationInput input, samples.back().samples.Input());
    inputs.push_back(&ranked.emplace_back(input));
    names.push_back(method.name);
  }
  const bool prefer_delong = request.interval().ci_method() == "delong";
  const bool draws = !prefer_delong || absl::c_any_of(metrics, [](const MetricSpec& metric) {
    return !PairStatisticOf(metric).has_value();
  });
  if (say != nullptr && draws) {
    int64_t values = 0;
    for (const RankedInput* input : inputs) values += input->input().num_samples();
    if (const std::string hint = LongBootstrapHint(values, options.replicates); !hint.empty()) say(hint);
  }
  OPENSET_ASSIGN_OR_RETURN(SampleComparison comparison,
                           CompareOnSamples(metrics, names, inputs, options, baseline, prefer_delong));
  if (const std::string why = WhyAllAbsent(comparison); !why.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(absl::StrJoin(names, " and "), ": nothing can be compared: ", why));
  }
  for (size_t a = 0; a < methods.size(); ++a) {
    for (size_t b = a + 1; b < methods.size(); ++b) {
      if (!AreSame(samples[a].samples, samples[b].samples)) continue;
      comparison.hints.push_back(absl::StrCat(names[a], " and ", names[b],
                                              " have the same scores and predictions for every sample: is one a copy "
                                              "of the other?"));
    }
  }
  for (size_t i = 0; i < methods.size(); ++i) {
    for (const std::string& hint : samples[i].samples.hints) {
      comparison.hints.push_back(absl::StrCat(names[i], ": ", hint));
    }
    comparison.notes.push_back(absl::StrCat(names[i], ": ", methods[i].source, ", ", samples[i].note));
  }
  comparison.notes.push_back(absl::StrCat(ranked[0].total().known(), " known and ", ranked[0].total().unknown,
                                          " unknown samples", is_pool ? "" : absl::StrCat(" of ", request.group()),
                                          ", the same for all"));
  return comparison;
}

absl::StatusOr<RunComparisonOptions> RequestedRunComparison(const RunComparisonRequest& request) {
  RunComparisonOptions options;
  for (absl::string_view name : absl::StrSplit(request.metrics(), ',', absl::SkipWhitespace())) {
    options.metrics.push_back(SuggestedMetric(absl::StripAsciiWhitespace(name)));
  }
  OPENSET_ASSIGN_OR_RETURN(const BootstrapOptions bootstrap, RequestedBootstrap(request.interval()));
  options.test.confidence = bootstrap.confidence;
  options.test.test_per_training = request.test_per_training();
  if (!(options.test.test_per_training >= 0 && options.test.test_per_training < 1e6)) {
    return absl::InvalidArgumentError("--test_per_training: must be at least 0");
  }
  return options;
}

absl::StatusOr<RequestedRule> RequestedThreshold(const ThresholdRequest& request) {
  RequestedRule requested;
  ChosenThreshold& chosen = requested.chosen;
  chosen.rule = request.rule();
  OPENSET_ASSIGN_OR_RETURN(requested.rule, ParseThresholdRule(chosen.rule), "--rule");
  const double target = request.target();
  if (!(target >= 0 && target <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("--target: must lie in 0 .. 1 (is ", target, ")"));
  }
  if (ReadsTarget(requested.rule)) chosen.target = target;
  const double delta = request.delta();
  if (!(delta > 0 && delta < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("--delta: must lie between 0 and 1 (is ", delta, ")"));
  }
  if (requested.rule == ThresholdRule::kRiskGuaranteed) chosen.delta = delta;
  return requested;
}

namespace {

// Whether two validation samples are of one cluster; for a rule about known samples, two known ones.
bool ShareClusters(const EvaluationInput& input, ThresholdRule rule) {
  std::set<int64_t> seen;
  for (int64_t i = 0; i < static_cast<int64_t>(input.cluster().size()); ++i) {
    if (rule == ThresholdRule::kConformal && input.IsUnknown(i)) continue;
    if (!seen.insert(input.cluster()[i]).second) return true;
  }
  return false;
}

bool HasGuarantee(const std::string& rule) { return rule == "conformal" || rule == "risk_guaranteed"; }

}  // namespace

absl::StatusOr<ChosenThreshold> ChooseThreshold(const RequestedRule& rule, const ThresholdRequest& request,
                                                const std::string& source, const ScoredSamples& scored,
                                                const RankedInput& validation) {
  ChosenThreshold chosen = rule.chosen;
  if (scored.shared_with_fit > 0 && HasGuarantee(chosen.rule)) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, ": ", scored.shared_with_fit, " of ", scored.samples.num_samples,
                     " samples are among those that the score is fitted to, for which the rule ", chosen.rule,
                     " guarantees nothing: choose the threshold on samples that took no part in training and fit"));
  }
  const absl::StatusOr<double> threshold = SelectThreshold(rule.rule, request.target(), validation, request.delta());
  if (!threshold.ok()) return Annotate(threshold.status(), source);
  chosen.notes = {scored.note};
  if (!validation.input().has_predictions()) {
    chosen.notes.push_back(validation.input().loss().empty()
                               ? "no predictions: metrics that need them are absent"
                               : "a loss, not predictions: metrics of right and wrong answers are absent");
  }
  if (const std::string warning = WarningOf(rule.rule, validation); !warning.empty()) chosen.notes.push_back(warning);
  chosen.validation = DescribeThreshold(*threshold, validation);
  chosen.has_clusters = ShareClusters(validation.input(), rule.rule);
  return chosen;
}

absl::StatusOr<std::vector<std::string>> MeasureOnTest(const SampleSet& validation, const SampleSet& test,
                                                       const RankedInput& ranked_test, ChosenThreshold* chosen) {
  OPENSET_RETURN_IF_ERROR(CheckSameNetwork(test, validation));
  std::vector<std::string> hints;
  if (const int64_t shared = CountShared(test, validation, /*only_known=*/false); shared > 0) {
    const std::string what = absl::StrCat(test.path, ": ", shared, " of ", test.num_samples,
                                          " samples are also validation samples, on which the threshold is chosen");
    if (HasGuarantee(chosen->rule)) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, "; the guarantee of ", chosen->rule, " is about new ones: test on others"));
    }
    hints.push_back(what);
  }
  chosen->test = DescribeThreshold(chosen->validation.threshold, ranked_test);
  if (std::string hint = GuaranteeHint(*chosen); !hint.empty()) hints.push_back(std::move(hint));
  return hints;
}

}  // namespace openset
