#include "experiments/learning_curve/measure_epoch.h"

#include <optional>
#include <string>

#include "core/logging.h"
#include "core/proto/traits.h"
#include "core/status_macros.h"
#include "eval/metrics/metric.h"
#include "eval/scores/score.pb.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/infer/inference.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/outputs.h"

namespace openset {

absl::Status MeasureEpoch(const TrainAction& action, const std::shared_ptr<Model>& model, const ActionContext& context,
                          EpochSummary* epoch) {
  const EpochEvaluation& spec = action.evaluation();
  // As a trial of this training would have it.
  InferAction infer;
  *infer.mutable_execution() = action.execution();
  *infer.mutable_inference() = spec.inference();
  *infer.mutable_known() = spec.known();
  *infer.mutable_unknown() = spec.unknown();
  OPENSET_ASSIGN_OR_RETURN(const Outputs outputs, CollectOutputs(infer, action, {model}, context));
  std::optional<Outputs> fit;
  if (TraitsOf(spec.score()).fit()) {
    *infer.mutable_known() = action.data();
    infer.clear_unknown();
    OPENSET_ASSIGN_OR_RETURN(fit, CollectOutputs(infer, action, {model}, context));
  }
  TrialSpec trial;
  *trial.mutable_method()->mutable_score() = spec.score();
  *trial.mutable_data()->mutable_train() = action.data();
  *trial.mutable_data()->mutable_test_known() = spec.known();
  *trial.mutable_data()->mutable_test_unknown() = spec.unknown();
  *trial.mutable_metric() = spec.metric();
  const absl::StatusOr<TrialRecord> record = MeasureMetrics(trial, outputs, fit.has_value() ? &*fit : nullptr);
  if (!absl::IsInvalidArgument(record.status())) {
    OPENSET_RETURN_IF_ERROR(record.status());
    *epoch->mutable_metric() = record->metric();
    return absl::OkStatus();
  }
  LOG(WARNING) << "epoch " << epoch->epoch() << " has no metrics: " << record.status().message();
  for (const MetricSpec& metric : trial.metric()) {
    MetricRecord* absent = epoch->add_metric();
    absent->set_name(MetricName(metric));
    *absent->mutable_spec() = metric;
    absent->mutable_group()->set_kind(MetricGroup::POOL);
    absent->set_absent_reason(std::string(record.status().message()));
  }
  return absl::OkStatus();
}

}  // namespace openset
