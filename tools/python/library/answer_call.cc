#include "tools/python/library/answer_call.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/files/file_state.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"
#include "eval/files/apply_score.h"
#include "eval/files/sample_set.h"
#include "eval/files/score_file.h"
#include "eval/metrics/evaluation_input.h"
#include "eval/metrics/ranked_input.h"
#include "eval/report/cost_map.h"
#include "eval/report/evaluate_samples.h"
#include "eval/report/evaluation_hints.h"
#include "eval/report/evaluation_report.h"
#include "eval/report/run_comparison_report.h"
#include "eval/report/run_table.h"
#include "eval/report/sample_comparison.h"
#include "eval/report/threshold_report.h"
#include "eval/scores/score.pb.h"
#include "google/protobuf/descriptor.h"
#include "nlohmann/json.hpp"
#include "tools/evaluation/detector.h"
#include "tools/evaluation/detector.pb.h"
#include "tools/evaluation/requested.h"

namespace openset {
namespace {

// The evaluated sets of a call, and the one that scores are fitted to.
struct Sets {
  struct Named {
    std::string name;
    SampleReader read;
  };
  std::vector<Named> measured;
  SampleReader fit;
};

absl::StatusOr<Sets> SetsOf(const Call& call, absl::Span<const std::vector<ArrayView>> arrays) {
  if (call.set_size() != static_cast<int>(arrays.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("the call has ", call.set_size(), " sets and arrays of ", arrays.size()));
  }
  if (call.has_fit() && (call.fit() < 0 || call.fit() >= call.set_size())) {
    return absl::InvalidArgumentError(absl::StrCat("fit: there is no set ", call.fit()));
  }
  Sets sets;
  for (int i = 0; i < call.set_size(); ++i) {
    const std::string& name = call.set(i);
    SampleReader read = [&name, views = arrays[i]](const SetRoles& roles,
                                                   ScoreDirection direction) -> absl::StatusOr<SampleSet> {
      OPENSET_ASSIGN_OR_RETURN(ScoreFile file, ScoreFileOfArrays(name, views, direction));
      return SampleSetOf(std::move(file), roles);
    };
    if (call.has_fit() && call.fit() == i) {
      sets.fit = std::move(read);
    } else {
      sets.measured.push_back({name, std::move(read)});
    }
  }
  return sets;
}

absl::Status CheckCount(const Sets& sets, size_t least, size_t most) {
  const size_t count = sets.measured.size();
  if (count >= least && count <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the call has ", count, " sets of samples; it takes ", least,
                                                 least == most ? "" : absl::StrCat(" to ", most)));
}

absl::StatusOr<CallAnswer> Evaluate(const EvaluationRequest& request, const Sets& sets) {
  OPENSET_RETURN_IF_ERROR(CheckCount(sets, 1, 1));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<ConventionMetric> metrics, RequestedMetrics(request));
  OPENSET_ASSIGN_OR_RETURN(const std::optional<SampleIntervals> intervals, RequestedIntervals(request));
  OPENSET_ASSIGN_OR_RETURN(const ScoredSamples scored,
                           ScoreSamples(request.samples(), sets.measured[0].read, sets.fit));
  OPENSET_ASSIGN_OR_RETURN(const EvaluationInput input, scored.samples.Input());
  const RankedInput ranked(input);
  OPENSET_ASSIGN_OR_RETURN(const EvaluationReport report, EvaluateSamples(metrics, scored.samples, ranked, intervals));
  CallAnswer answer;
  answer.text = FormatEvaluation(report, TextFormat::kJson);
  answer.hints = EvaluationHints(scored.samples, ranked, scored.origin);
  return answer;
}

absl::StatusOr<CallAnswer> ScoreOf(const SampleOptions& options, const Sets& sets) {
  OPENSET_RETURN_IF_ERROR(CheckCount(sets, 1, 1));
  OPENSET_ASSIGN_OR_RETURN(ScoredSamples scored, ScoreSamples(options, sets.measured[0].read, sets.fit));
  CallAnswer answer;
  answer.text = "{}";
  answer.hints = scored.samples.hints;
  answer.unknown_score = std::move(scored.samples.unknown_score.Own());
  answer.prediction.assign(scored.samples.prediction.begin(), scored.samples.prediction.end());
  return answer;
}

absl::StatusOr<CallAnswer> Compare(const ComparisonRequest& request, const Sets& sets) {
  OPENSET_RETURN_IF_ERROR(CheckCount(sets, 2, 100));
  std::vector<ComparedSamples> methods;
  for (const Sets::Named& set : sets.measured) methods.push_back({set.name, set.name, set.read, sets.fit});
  OPENSET_ASSIGN_OR_RETURN(const SampleComparison comparison, RequestedComparison(request, methods));
  CallAnswer answer;
  answer.text = request.cost_map() ? FormatCostMap(comparison, TextFormat::kJson)
                                   : FormatSampleComparison(comparison, TextFormat::kJson);
  answer.hints = comparison.hints;
  return answer;
}

absl::StatusOr<CallAnswer> CompareInFile(const RunComparisonRequest& request, const Sets& sets) {
  OPENSET_RETURN_IF_ERROR(CheckCount(sets, 0, 0));
  OPENSET_ASSIGN_OR_RETURN(const RunTable table, ReadRunTable(request.path(), request.group()));
  OPENSET_ASSIGN_OR_RETURN(const RunComparisonOptions options, RequestedRunComparison(request));
  const std::string& baseline = request.baseline().empty() ? table.baseline : request.baseline();
  OPENSET_ASSIGN_OR_RETURN(const RunComparison comparison, CompareRuns(table, options.metrics, options.test, baseline),
                           request.path());
  CallAnswer answer;
  answer.text = FormatRunComparison(comparison, TextFormat::kJson);
  answer.hints = comparison.hints;
  for (const std::string& line : comparison.left_out) answer.hints.push_back(absl::StrCat("left out: ", line));
  return answer;
}

absl::StatusOr<CallAnswer> Threshold(const ThresholdRequest& request, const Sets& sets) {
  OPENSET_RETURN_IF_ERROR(CheckCount(sets, 1, 2));
  OPENSET_ASSIGN_OR_RETURN(const RequestedRule rule, RequestedThreshold(request));
  const Sets::Named& validation = sets.measured[0];
  OPENSET_ASSIGN_OR_RETURN(const ScoredSamples scored, ScoreSamples(request.samples(), validation.read, sets.fit));
  OPENSET_ASSIGN_OR_RETURN(const EvaluationInput input, scored.samples.Input());
  const RankedInput ranked(input);
  OPENSET_ASSIGN_OR_RETURN(ChosenThreshold chosen, ChooseThreshold(rule, request, validation.name, scored, ranked));
  CallAnswer answer;
  answer.hints = scored.samples.hints;
  if (sets.measured.size() > 1) {
    OPENSET_ASSIGN_OR_RETURN(const ScoredSamples test,
                             ScoreSamples(request.samples(), sets.measured[1].read, sets.fit));
    OPENSET_ASSIGN_OR_RETURN(const EvaluationInput test_input, test.samples.Input());
    const RankedInput ranked_test(test_input);
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> about_test,
                             MeasureOnTest(scored.samples, test.samples, ranked_test, &chosen));
    answer.hints.insert(answer.hints.end(), test.samples.hints.begin(), test.samples.hints.end());
    answer.hints.insert(answer.hints.end(), about_test.begin(), about_test.end());
  }
  answer.text = FormatThreshold(chosen, TextFormat::kJson);
  return answer;
}

nlohmann::ordered_json DetectorJson(const DetectorSpec& spec) {
  nlohmann::ordered_json json;
  json["score"] = spec.has_score() ? ScoreText(spec.score()) : "unknown_score of the outputs";
  if (std::isinf(spec.threshold())) {
    json["threshold"] = spec.threshold() > 0 ? "inf" : "-inf";
  } else {
    json["threshold"] = spec.threshold();
  }
  json["rule"] = spec.rule();
  json["guarantee"] = spec.guarantee();
  json["class_names"] = std::vector<std::string>(spec.class_name().begin(), spec.class_name().end());
  return json;
}

absl::StatusOr<CallAnswer> SaveDetector(const SaveDetectorRequest& request, const Sets& sets) {
  OPENSET_RETURN_IF_ERROR(CheckCount(sets, 1, 1));
  OPENSET_ASSIGN_OR_RETURN(const Detector detector,
                           MakeDetector(request.threshold(), sets.measured[0].name, sets.measured[0].read, sets.fit));
  OPENSET_RETURN_IF_ERROR(WriteDetector(detector, request.path()));
  CallAnswer answer;
  answer.text = JsonText(DetectorJson(detector.spec));
  return answer;
}

// With labels of unknown samples, unless the arrays have labels.
absl::StatusOr<SampleSet> ReadOutputs(const std::string& name, std::vector<ArrayView> views) {
  const auto named = [&views](absl::string_view wanted) {
    return absl::c_find_if(views, [wanted](const ArrayView& view) { return view.name == wanted; });
  };
  std::vector<int64_t> labels;
  if (named("label") == views.end()) {
    auto rows = named("logits");
    if (rows == views.end()) rows = named("unknown_score");
    if (rows != views.end() && !rows->shape.empty() && rows->shape[0] >= 0) {
      labels.assign(rows->shape[0], kUnknownLabel);
      views.push_back({"label", "<i8", sizeof(int64_t), labels.data(), {rows->shape[0]}, {}});
    }
  }
  OPENSET_ASSIGN_OR_RETURN(ScoreFile file, ScoreFileOfArrays(name, views));
  return SampleSetOf(std::move(file));  // which copies labels
}

// The detectors that were used last, read and fitted, so that a decision needn't do that again. A file that has changed
// is read again.
class KeptDetectors {
 public:
  absl::StatusOr<std::shared_ptr<const Detector>> Get(const std::string& path) {
    const std::time_t started = std::time(nullptr);
    const FileState state = StateOf(path);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
        if (kept->path != path || kept->state != state.text) continue;
        std::rotate(kept_.begin(), kept, kept + 1);
        return kept_.front().detector;
      }
    }
    OPENSET_ASSIGN_OR_RETURN(Detector read, ReadDetector(path));
    OPENSET_RETURN_IF_ERROR(FitDetector(&read));
    std::shared_ptr<const Detector> detector = std::make_shared<Detector>(std::move(read));
    if (state.text.empty() || !state.HadSettled(started) || StateOf(path).text != state.text) return detector;
    const std::lock_guard<std::mutex> lock(mutex_);
    kept_.erase(std::remove_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.path == path; }),
                kept_.end());
    kept_.insert(kept_.begin(), {path, state.text, detector});
    if (kept_.size() > kMostKept) kept_.pop_back();
    return detector;
  }

 private:
  static constexpr size_t kMostKept = 4;

  struct Kept {
    std::string path;
    std::string state;
    std::shared_ptr<const Detector> detector;
  };

  std::mutex mutex_;
  std::vector<Kept> kept_;  // the one used last comes first
};

KeptDetectors& AllKeptDetectors() {
  static auto* const kept = new KeptDetectors;
  return *kept;
}

absl::StatusOr<CallAnswer> ApplyDetectorTo(const ApplyDetectorRequest& request, const std::string& name,
                                           const std::vector<ArrayView>& views) {
  OPENSET_ASSIGN_OR_RETURN(const std::shared_ptr<const Detector> detector, AllKeptDetectors().Get(request.path()));
  CallAnswer answer;
  answer.text = JsonText(DetectorJson(detector->spec));
  if (views.empty()) return answer;
  OPENSET_ASSIGN_OR_RETURN(SampleSet outputs, ReadOutputs(name, views));
  OPENSET_ASSIGN_OR_RETURN(Decided decided, ApplyDetector(*detector, std::move(outputs), /*has_labels=*/false));
  answer.unknown_score = std::move(decided.unknown_score);
  answer.prediction.assign(decided.prediction.begin(), decided.prediction.end());
  answer.rejected.assign(decided.rejected.begin(), decided.rejected.end());
  answer.hints = std::move(decided.hints);
  return answer;
}

CallAnswer ListScores() {
  const google::protobuf::OneofDescriptor* const kind = ScoreSpec::descriptor()->FindOneofByName("kind");
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  for (int i = 0; i < kind->field_count(); ++i) names.push_back(kind->field(i)->name());
  CallAnswer answer;
  answer.text = JsonText(names);
  return answer;
}

}  // namespace

absl::StatusOr<CallAnswer> AnswerCall(const Call& call, absl::Span<const std::vector<ArrayView>> arrays) {
  OPENSET_ASSIGN_OR_RETURN(const Sets sets, SetsOf(call, arrays));
  switch (call.kind_case()) {
    case Call::kEvaluate:
      return Evaluate(call.evaluate(), sets);
    case Call::kScore:
      return ScoreOf(call.score(), sets);
    case Call::kCompare:
      return Compare(call.compare(), sets);
    case Call::kCompareRuns:
      return CompareInFile(call.compare_runs(), sets);
    case Call::kThreshold:
      return Threshold(call.threshold(), sets);
    case Call::kSaveDetector:
      return SaveDetector(call.save_detector(), sets);
    case Call::kApplyDetector:
      if (call.set_size() > 1) return CheckCount(sets, 1, 1);
      return ApplyDetectorTo(call.apply_detector(), call.set_size() > 0 ? call.set(0) : "",
                             call.set_size() > 0 ? arrays[0] : std::vector<ArrayView>());
    case Call::kListScores:
      return ListScores();
    case Call::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("the call asks for nothing");
}

}  // namespace openset
