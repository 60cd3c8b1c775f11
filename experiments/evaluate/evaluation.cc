#include "experiments/evaluate/evaluation.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/process/build_info.h"
#include "core/proto/proto_digest.h"
#include "core/status_macros.h"
#include "eval/metrics/evaluate.h"
#include "eval/metrics/evaluation_input.h"
#include "eval/scores/make_score.h"
#include "eval/scores/prediction.h"
#include "experiments/spec/actions.h"

namespace openset {
namespace {

SampleCounts CountSamplesOf(const TrialSpec& trial, const Outputs& outputs) {
  SampleCounts counts;
  counts.set_known_classes(trial.data().test_known().class_id_size());
  int unknown_classes = 0;
  for (const UnknownGroup& group : trial.data().test_unknown()) unknown_classes += group.selection().class_id_size();
  counts.set_unknown_classes(unknown_classes);
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
  return input;
}

struct StoredOutputs {
  Outputs outputs;
  std::string key;
  std::string sha256;
  InferSummary summary;
};

absl::StatusOr<StoredOutputs> Load(const InferAction& action, const Store& store) {
  StoredOutputs stored;
  stored.key = MessageDigest(action);
  OPENSET_ASSIGN_OR_RETURN(stored.summary, store.LoadInferSummary(stored.key));
  const std::string path = JoinPath(store.OutputsFolder(stored.key), kOutputsFile);
  OPENSET_ASSIGN_OR_RETURN(stored.sha256, Sha256HexOfFile(path));
  if (stored.sha256 != stored.summary.outputs_sha256()) {
    return absl::DataLossError(
        absl::StrCat(path, " does not match its checksum; remove its folder to have it made again"));
  }
  OPENSET_ASSIGN_OR_RETURN(stored.outputs, ReadOutputs(path));
  return stored;
}

}  // namespace

absl::StatusOr<TrialRecord> Measure(const TrialSpec& trial, const Outputs& outputs, const Outputs* fit) {
  const ScoreInput input = InputOf(outputs);
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Score> score, MakeScore(trial.method().score()));
  if (fit != nullptr) {
    const std::vector<int32_t> fit_label(fit->label.begin(), fit->label.end());
    OPENSET_RETURN_IF_ERROR(score->Fit(InputOf(*fit), fit_label));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::vector<double> unknown_score, score->Compute(input));
  const int num_classes = trial.data().train().class_id_size();
  std::vector<int32_t> prediction(outputs.prediction.begin(), outputs.prediction.end());
  if (prediction.empty()) {
    OPENSET_ASSIGN_OR_RETURN(prediction, ClosedSetPrediction(input, num_classes));
  }

  const std::vector<int32_t> label(outputs.label.begin(), outputs.label.end());
  std::vector<int32_t> group;
  for (int64_t g : outputs.group) group.push_back(static_cast<int32_t>(std::max<int64_t>(g, 0)));
  EvaluationInput::Arrays arrays;
  arrays.unknown_score = unknown_score;
  arrays.prediction = prediction;
  arrays.label = label;
  arrays.num_classes = num_classes;
  arrays.group = group;
  OPENSET_ASSIGN_OR_RETURN(const std::optional<ProbabilityLogits> probabilities, score->Probabilities(input));
  arrays.logits = probabilities.has_value() ? probabilities->logits : outputs.logits;
  arrays.num_outputs =
      static_cast<int32_t>(probabilities.has_value() ? probabilities->num_outputs : outputs.num_outputs);
  OPENSET_ASSIGN_OR_RETURN(const EvaluationInput evaluation, EvaluationInput::Create(arrays));

  const std::vector<MetricSpec> metrics(trial.metric().begin(), trial.metric().end());
  OPENSET_ASSIGN_OR_RETURN(const std::vector<MetricValue> values, Evaluate(metrics, evaluation));
  TrialRecord record;
  *record.mutable_counts() = CountSamplesOf(trial, outputs);
  for (const MetricValue& value : values) {
    MetricRecord* metric = record.add_metric();
    metric->set_name(value.name);
    if (value.value.has_value()) {
      metric->set_value(*value.value);
    } else {
      metric->set_absent_reason(value.absent_reason);
    }
  }
  return record;
}

absl::Status EvaluateTrial(const TrialSpec& trial, const Store& store) {
  const absl::Time start = absl::Now();
  const EvaluateAction action = MakeEvaluateAction(trial);
  const std::string checkpoint_key = MessageDigest(action.test().train(0));
  OPENSET_ASSIGN_OR_RETURN(const TrainSummary train_summary, store.LoadTrainSummary(checkpoint_key));
  OPENSET_ASSIGN_OR_RETURN(const StoredOutputs test, Load(action.test(), store));
  std::optional<StoredOutputs> fit;
  if (action.has_fit()) {
    OPENSET_ASSIGN_OR_RETURN(fit, Load(action.fit(), store));
  }
  OPENSET_ASSIGN_OR_RETURN(TrialRecord record, Measure(trial, test.outputs, fit.has_value() ? &fit->outputs : nullptr));

  record.set_schema_version(kSchemaVersion);
  record.set_trial_id(TrialId(trial));
  *record.mutable_trial() = trial;
  *record.mutable_epoch() = train_summary.epoch();
  record.set_checkpoint_key(checkpoint_key);
  record.set_checkpoint_sha256(train_summary.checkpoint_sha256());
  record.set_outputs_key(test.key);
  record.set_outputs_sha256(test.sha256);
  if (fit.has_value()) {
    record.set_fit_outputs_key(fit->key);
    record.set_fit_outputs_sha256(fit->sha256);
  }
  Provenance* provenance = record.mutable_provenance();
  *provenance = train_summary.provenance();
  provenance->set_commit(BuildCommit());
  provenance->set_infer_seconds(test.summary.provenance().infer_seconds());
  provenance->set_evaluate_seconds(absl::ToDoubleSeconds(absl::Now() - start));
  provenance->set_finished_at_seconds(absl::ToUnixSeconds(absl::Now()));
  return store.CommitRecord(record).status();
}

}  // namespace openset
