#include "experiments/infer/inference.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/proto/record_file.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "data/batch_stream.h"
#include "data/batcher.h"
#include "experiments/infer/predictor.h"
#include "experiments/store/outputs.h"
#include "experiments/worker/execution.h"
#include "experiments/worker/input_pipeline.h"
#include "experiments/worker/trained_model.h"

namespace openset {
namespace {

constexpr int64_t kBatchSize = 256;

// Appends the rows of [B, x] to `values`.
void Append(const at::Tensor& rows, std::vector<float>* values) {
  const at::Tensor flat = rows.to(at::kCPU, at::kFloat).contiguous();
  const float* data = flat.const_data_ptr<float>();
  values->insert(values->end(), data, data + flat.numel());
}

// Passes the images of inferences that differ in nothing but how the model is asked, each image once for all of them.
class Inferrer {
 public:
  Inferrer(absl::Span<const InferRequest> requests, const ActionContext& context, Predictor* predictor,
           Pipeline pipeline, int64_t total)
      : action_(requests[0].action),
        context_(context),
        predictor_(predictor),
        pipeline_(std::move(pipeline)),
        total_(total),
        outputs_(requests.size()) {}

  // Appends the outputs for a selection; `group` is -1 for known samples.
  absl::Status Add(const Selection& selection, int group) {
    const TrainAction& train = action_.train(0);
    OPENSET_ASSIGN_OR_RETURN(const Batcher batcher,
                             context_.images->MakeBatcher(selection, train.input().channels(), context_.device));
    c10::NoGradGuard no_grad;
    BatchStream stream(batcher, batcher.Epoch(kBatchSize, /*drop_last=*/false, /*random=*/nullptr), pipeline_,
                       /*random=*/nullptr);
    while (true) {
      OPENSET_ASSIGN_OR_RETURN(const std::optional<Batch> next, stream.Next());
      if (!next.has_value()) break;
      const Batch& batch = *next;
      const PrecisionScope precision(train.execution(), context_.device);
      const std::vector<Prediction> predictions = predictor_->Predict(batch.image);
      for (size_t i = 0; i < outputs_.size(); ++i) AddRows(predictions[i], &outputs_[i]);
      done_ += batch.label.size(0);
      WorkProgress progress;
      progress.set_fraction(static_cast<double>(done_) / total_);
      context_.report(progress);
    }
    for (Outputs& outputs : outputs_) {
      for (int64_t label : batcher.samples().label) {
        outputs.label.push_back(group < 0 ? label : -1);
        outputs.class_id.push_back(selection.class_id(static_cast<int>(label)));
        outputs.group.push_back(group);
      }
    }
    return absl::OkStatus();
  }

  std::vector<Outputs>& outputs() { return outputs_; }

 private:
  void AddRows(const Prediction& prediction, Outputs* outputs) {
    Append(prediction.output.logits, &outputs->logits);
    outputs->num_outputs = prediction.output.logits.size(1);
    if (prediction.output.feature.defined()) {
      Append(prediction.output.feature, &outputs->features);
      outputs->feature_dim = prediction.output.feature.size(1);
    }
    if (!prediction.predicting_logits.defined()) return;
    const int64_t classes = action_.train(0).data().class_id_size();
    const at::Tensor predicted = prediction.predicting_logits.slice(1, 0, classes).argmax(1).to(at::kCPU).contiguous();
    const int64_t* data = predicted.const_data_ptr<int64_t>();
    outputs->prediction.insert(outputs->prediction.end(), data, data + predicted.numel());
  }

  const InferAction& action_;
  const ActionContext& context_;
  Predictor* predictor_;
  const Pipeline pipeline_;
  const int64_t total_;
  int64_t done_ = 0;
  std::vector<Outputs> outputs_;  // of each request
};

// A linear head's weights, for scores that need them.
void AddHead(const Model& model, Outputs* outputs) {
  for (const auto& parameter : model.named_parameters()) {
    if (parameter.key() == "head.weight") Append(parameter.value().detach(), &outputs->head_weight);
    if (parameter.key() == "head.bias") Append(parameter.value().detach(), &outputs->head_bias);
  }
}

absl::Status Commit(const InferRequest& request, const Outputs& outputs, absl::Duration time,
                    const ActionContext& context) {
  OPENSET_ASSIGN_OR_RETURN(const std::string staging, context.store.NewStagingFolder(request.key));
  const std::string path = JoinPath(staging, kOutputsFile);
  OPENSET_RETURN_IF_ERROR(WriteOutputs(outputs, path));
  InferSummary summary;
  *summary.mutable_action() = request.action;
  OPENSET_ASSIGN_OR_RETURN(*summary.mutable_outputs_sha256(), Sha256HexOfFile(path));
  Provenance* provenance = summary.mutable_provenance();
  provenance->set_libtorch_version(LibTorchVersion());
  provenance->set_device(DescribeDevice(context.device));
  provenance->set_infer_seconds(absl::ToDoubleSeconds(time));
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(staging, kSummaryFile), EncodeRecord(summary)));
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(staging, kActionFile), ToText(request.action)));
  return context.store.CommitFolder(staging, context.store.OutputsFolder(request.key));
}

// What the models say of the samples of each request.
absl::StatusOr<std::vector<Outputs>> Collect(absl::Span<const InferRequest> requests,
                                             std::vector<std::shared_ptr<Model>> models, const ActionContext& context) {
  const InferAction& action = requests[0].action;
  const TrainAction& train = action.train(0);
  std::vector<InferenceSpec> specs;
  for (const InferRequest& request : requests) specs.push_back(request.action.inference());
  const std::shared_ptr<Model> first = models[0];
  const std::unique_ptr<Predictor> predictor = MakePredictor(specs, train.input(), std::move(models), train.seed());
  OPENSET_ASSIGN_OR_RETURN(Pipeline pipeline, EvaluationPipeline(train.input(), context.device));
  OPENSET_ASSIGN_OR_RETURN(int64_t total, context.images->Count(action.known()));
  for (const UnknownGroup& group : action.unknown()) {
    OPENSET_ASSIGN_OR_RETURN(const int64_t count, context.images->Count(group.selection()));
    total += count;
  }
  Inferrer inferrer(requests, context, predictor.get(), std::move(pipeline), total);
  OPENSET_RETURN_IF_ERROR(inferrer.Add(action.known(), -1));
  for (int g = 0; g < action.unknown_size(); ++g) {
    OPENSET_RETURN_IF_ERROR(inferrer.Add(action.unknown(g).selection(), g));
  }
  for (Outputs& outputs : inferrer.outputs()) {
    for (const UnknownGroup& group : action.unknown()) outputs.group_names.push_back(group.name());
    if (!outputs.features.empty()) AddHead(*first, &outputs);
  }
  return std::move(inferrer.outputs());
}

}  // namespace

absl::StatusOr<Outputs> CollectOutputs(const InferAction& action, std::vector<std::shared_ptr<Model>> models,
                                       const ActionContext& context) {
  const InferRequest request{"", action};
  OPENSET_ASSIGN_OR_RETURN(std::vector<Outputs> outputs, Collect({request}, std::move(models), context));
  return std::move(outputs[0]);
}

absl::Status Infer(absl::Span<const InferRequest> requests, const ActionContext& context) {
  const absl::Time start = absl::Now();
  const InferAction& action = requests[0].action;
  const TrainAction& train = action.train(0);
  ConfigureExecution(train.execution());
  std::vector<std::shared_ptr<Model>> models;
  for (const TrainAction& member : action.train()) {
    OPENSET_ASSIGN_OR_RETURN(models.emplace_back(), LoadTrainedModel(member, context));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::vector<Outputs> outputs, Collect(requests, std::move(models), context));
  const absl::Duration time = (absl::Now() - start) / requests.size();
  for (size_t i = 0; i < requests.size(); ++i) {
    OPENSET_RETURN_IF_ERROR(Commit(requests[i], outputs[i], time, context));
  }
  return absl::OkStatus();
}

}  // namespace openset
