#include "experiments/inference.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/digest.h"
#include "core/files.h"
#include "core/proto_digest.h"
#include "core/random.h"
#include "core/record_file.h"
#include "core/status_macros.h"
#include "core/text_proto.h"
#include "data/batcher.h"
#include "experiments/execution.h"
#include "experiments/input_pipeline.h"
#include "experiments/outputs.h"
#include "experiments/predictor.h"
#include "models/checkpoint.h"
#include "models/make_model.h"

namespace openset {
namespace {

constexpr int64_t kBatchSize = 256;

// The trained model of an action, on the device.
absl::StatusOr<std::shared_ptr<Model>> LoadModel(const TrainAction& action, const ActionContext& context) {
  const std::string key = MessageDigest(action);
  OPENSET_ASSIGN_OR_RETURN(const TrainSummary summary, context.store.LoadTrainSummary(key));
  const std::string path = JoinPath(context.store.CheckpointFolder(key), kCheckpointFile);
  OPENSET_ASSIGN_OR_RETURN(const std::string sha256, Sha256HexOfFile(path));
  if (sha256 != summary.checkpoint_sha256()) {
    return absl::DataLossError(
        absl::StrCat(path, " does not match its checksum; remove its folder to have it trained again"));
  }
  OPENSET_ASSIGN_OR_RETURN(const TensorMap state, LoadTensors(path));
  RandomStream unused(0, "init");
  OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<Model> model,
                           MakeModel(action.model(), action.input(), action.data().class_id_size(), &unused));
  OPENSET_RETURN_IF_ERROR(Annotate(SetState(state, model.get()), path));
  model->to(context.device);
  return model;
}

// Appends the rows of [B, x] to `values`.
void Append(const at::Tensor& rows, std::vector<float>* values) {
  const at::Tensor flat = rows.to(at::kCPU, at::kFloat).contiguous();
  const float* data = flat.const_data_ptr<float>();
  values->insert(values->end(), data, data + flat.numel());
}

class Inferrer {
 public:
  Inferrer(const InferAction& action, const ActionContext& context, Predictor* predictor, Pipeline pipeline,
           int64_t total)
      : action_(action), context_(context), predictor_(predictor), pipeline_(std::move(pipeline)), total_(total) {}

  // Appends the outputs for a selection; `group` is -1 for known samples.
  absl::Status Add(const Selection& selection, int group) {
    const TrainAction& train = action_.train(0);
    OPENSET_ASSIGN_OR_RETURN(const std::shared_ptr<const ImageSet> images, context_.images->Get(selection));
    OPENSET_ASSIGN_OR_RETURN(const SelectedSamples samples, SelectSamples(*images, selection));
    OPENSET_ASSIGN_OR_RETURN(const Batcher batcher,
                             Batcher::Make(*images, samples, train.input().channels(), context_.device));
    c10::NoGradGuard no_grad;
    for (const at::Tensor& rows : batcher.Epoch(kBatchSize, /*drop_last=*/false, /*random=*/nullptr)) {
      const Batch batch = batcher.At(rows, pipeline_, /*random=*/nullptr);
      const PrecisionScope precision(train.execution(), context_.device);
      const ModelOutput output = predictor_->Predict(batch.image);
      Append(output.logits, &outputs_.logits);
      outputs_.num_outputs = output.logits.size(1);
      if (output.feature.defined()) {
        Append(output.feature, &outputs_.features);
        outputs_.feature_dim = output.feature.size(1);
      }
      done_ += batch.label.size(0);
      WorkProgress progress;
      progress.set_fraction(static_cast<double>(done_) / total_);
      context_.report(progress);
    }
    for (int64_t label : samples.label) {
      outputs_.label.push_back(group < 0 ? label : -1);
      outputs_.class_id.push_back(selection.class_id(static_cast<int>(label)));
      outputs_.group.push_back(group);
    }
    return absl::OkStatus();
  }

  Outputs* outputs() { return &outputs_; }

 private:
  const InferAction& action_;
  const ActionContext& context_;
  Predictor* predictor_;
  const Pipeline pipeline_;
  const int64_t total_;
  int64_t done_ = 0;
  Outputs outputs_;
};

// A linear head's weights, for scores that need them.
void AddHead(const Model& model, Outputs* outputs) {
  for (const auto& parameter : model.named_parameters()) {
    if (parameter.key() == "head.weight") Append(parameter.value().detach(), &outputs->head_weight);
    if (parameter.key() == "head.bias") Append(parameter.value().detach(), &outputs->head_bias);
  }
}

}  // namespace

absl::Status Infer(const InferAction& action, const ActionContext& context) {
  const absl::Time start = absl::Now();
  const TrainAction& train = action.train(0);
  ConfigureExecution(train.execution());
  std::vector<std::shared_ptr<Model>> models;
  for (const TrainAction& member : action.train()) {
    OPENSET_ASSIGN_OR_RETURN(models.emplace_back(), LoadModel(member, context));
  }
  const std::unique_ptr<Predictor> predictor = MakePredictor(action.inference(), train.input(), models, train.seed());
  OPENSET_ASSIGN_OR_RETURN(Pipeline pipeline, EvaluationPipeline(train.input(), context.device));
  OPENSET_ASSIGN_OR_RETURN(int64_t total, context.images->Count(action.known()));
  for (const UnknownGroup& group : action.unknown()) {
    OPENSET_ASSIGN_OR_RETURN(const int64_t count, context.images->Count(group.selection()));
    total += count;
  }
  Inferrer inferrer(action, context, predictor.get(), std::move(pipeline), total);
  OPENSET_RETURN_IF_ERROR(inferrer.Add(action.known(), -1));
  for (int g = 0; g < action.unknown_size(); ++g) {
    OPENSET_RETURN_IF_ERROR(inferrer.Add(action.unknown(g).selection(), g));
    inferrer.outputs()->group_names.push_back(action.unknown(g).name());
  }
  if (!inferrer.outputs()->features.empty()) AddHead(*models[0], inferrer.outputs());

  OPENSET_ASSIGN_OR_RETURN(const std::string staging, context.store.NewStagingFolder(context.key));
  const std::string path = JoinPath(staging, kOutputsFile);
  OPENSET_RETURN_IF_ERROR(WriteOutputs(*inferrer.outputs(), path));
  InferSummary summary;
  *summary.mutable_action() = action;
  OPENSET_ASSIGN_OR_RETURN(*summary.mutable_outputs_sha256(), Sha256HexOfFile(path));
  Provenance* provenance = summary.mutable_provenance();
  provenance->set_libtorch_version(LibTorchVersion());
  provenance->set_device(DescribeDevice(context.device));
  provenance->set_infer_seconds(absl::ToDoubleSeconds(absl::Now() - start));
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(staging, kSummaryFile), EncodeRecord(summary)));
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(staging, kActionFile), ToText(action)));
  return context.store.CommitFolder(staging, context.store.OutputsFolder(context.key));
}

}  // namespace openset
