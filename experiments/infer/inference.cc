#include "experiments/infer/inference.h"

#include <algorithm>
#include <future>
#include <unordered_map>
#include <utility>

#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/remove_tree.h"
#include "core/in_parallel.h"
#include "core/machine/machine.h"
#include "core/proto/proto_digest.h"
#include "core/proto/traits.h"
#include "core/status_macros.h"
#include "core/tensor/torch_runtime.h"
#include "data/batch_stream.h"
#include "data/batcher.h"
#include "experiments/infer/make_predictor.h"
#include "experiments/infer/train_mode_pass.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/store/components.h"
#include "experiments/store/records/input_trainings.h"
#include "experiments/store/stage_clock.h"
#include "experiments/store/store.h"
#include "experiments/worker/execution.h"
#include "experiments/worker/input_pipeline.h"
#include "experiments/worker/trained_model.h"

namespace openset {

PassesAtOnce::PassesAtOnce() : PassesAtOnce(Memory{FreeMemoryBytes, UsedMemoryBytes, PeakMemoryBytes}) {}

int PassesAtOnce::Count(int cpus) const { return static_cast<int>(std::clamp<int64_t>(cpus, 1, most_.value_or(1))); }

void PassesAtOnce::Begin() {
  if (!most_.has_value()) used_before_ = memory_.used();
}

void PassesAtOnce::End() {
  if (most_.has_value()) return;
  // If the process used more before, the pass needed less.
  const int64_t of_a_pass = std::max<int64_t>(1, memory_.peak() - used_before_);
  most_ = 1 + memory_.free() / 2 / of_a_pass;
}

// Defined by :infer_fingerprints.
extern const FingerprintRow openset_infer_fingerprints[];

namespace {

constexpr int64_t kBatchSize = 256;

// The values of [B, x], row by row.
std::vector<float> Values(const at::Tensor& rows) {
  const at::Tensor flat = rows.to(at::kCPU, at::kFloat).contiguous();
  const float* data = flat.const_data_ptr<float>();
  return {data, data + flat.numel()};
}

// Whether several batches may pass the model at the same time, each on one CPU: if no pass affects another one, and
// each uses one thread. Batches are complete, so that no bit depends on how many pass at once.
bool MayPassAtOnce(const InferAction& action, size_t models, const Model& model, const ActionContext& context) {
  const ExecutionSpec& execution = action.execution();
  return action.inference().has_plain() && models == 1 && model.HasIndependentPasses() && context.device.is_cpu() &&
         execution.threads() == 1 && execution.precision() == ExecutionSpec::FP32;
}

void ReportShare(const ActionContext& context, double share) {
  WorkProgress progress;
  progress.set_fraction(share);
  context.report(progress);
}

// The outputs of one inference. With a writer, logits and features go directly to its file and are not kept in memory.
struct Collected {
  Outputs outputs;
  std::unique_ptr<OutputsWriter> writer;
};

// Passes each image through the network once for several inferences that differ only in the outputs that they need.
class Inferrer {
 public:
  // `train`: the training of the first network.
  Inferrer(const InferAction& action, const TrainAction& train, const ActionContext& context, Predictor* predictor,
           bool may_pass_at_once, int64_t total, std::vector<Collected>* collected)
      : action_(action),
        train_(train),
        context_(context),
        predictor_(predictor),
        may_pass_at_once_(may_pass_at_once),
        total_(total),
        collected_(*collected) {}

  // Appends the outputs for a selection; `group` is -1 for known samples.
  absl::Status Add(const Selection& selection, int group) {
    OPENSET_ASSIGN_OR_RETURN(const Batcher batcher,
                             context_.images->MakeBatcher(selection, train_.input().channels(), context_.device));
    OPENSET_ASSIGN_OR_RETURN(const Pipeline pipeline,
                             EvaluationPipeline(train_, context_.device, selection.as_stored()));
    BatchStream stream(batcher, batcher.Epoch(kBatchSize, /*drop_last=*/false, /*random=*/nullptr), pipeline,
                       /*random=*/nullptr);
    Report();
    while (true) {
      const auto at_once = static_cast<size_t>(may_pass_at_once_ ? passes_at_once_.Count(context_.cpu_slots()) : 1);
      passes_at_once_.Begin();
      std::vector<Batch> batches;
      while (batches.size() < at_once) {
        OPENSET_ASSIGN_OR_RETURN(const std::optional<Batch> next, stream.Next());
        if (!next.has_value()) break;
        batches.push_back(*next);
      }
      if (batches.empty()) break;
      const std::vector<std::vector<Prediction>> predictions = PredictEach(batches);
      passes_at_once_.End();
      for (size_t b = 0; b < batches.size(); ++b) {
        for (size_t i = 0; i < collected_.size(); ++i) {
          OPENSET_RETURN_IF_ERROR(AddRows(predictions[b][i], &collected_[i]));
        }
        done_ += batches[b].label.size(0);
      }
      Report();
    }
    AddSamples(batcher.samples(), selection, group);
    return absl::OkStatus();
  }

  // Appends known samples whose logits [N, K] have already been computed.
  absl::Status AddLogits(const Selection& selection, const at::Tensor& logits) {
    OPENSET_ASSIGN_OR_RETURN(const Batcher batcher,
                             context_.images->MakeBatcher(selection, train_.input().channels(), context_.device));
    for (Collected& collected : collected_) {
      OPENSET_RETURN_IF_ERROR(AddRows({{{}, logits, {}, {}}, {}, {}}, &collected));
    }
    AddSamples(batcher.samples(), selection, -1);
    return absl::OkStatus();
  }

  // The clusters of all samples.
  std::vector<int64_t> TakeClusters() { return clusters_.Take(); }

 private:
  void Report() {
    const double share = static_cast<double>(done_) / total_;
    ReportShare(context_, TraitsOf(action_.inference()).reads_training_images() ? (1 + share) / 2 : share);
  }

  // Predicts the batches at the same time, the first one in this thread.
  std::vector<std::vector<Prediction>> PredictEach(const std::vector<Batch>& batches) {
    const ExecutionSpec& execution = action_.execution();
    const auto predict = [this, &execution](const Batch& batch) {
      c10::NoGradGuard no_grad;
      const PrecisionScope precision(execution, context_.device);
      return predictor_->Predict(batch.image);
    };
    std::vector<std::future<std::vector<Prediction>>> others;
    for (size_t b = 1; b < batches.size(); ++b) {
      // If the system gives no thread, get() makes the prediction in this one.
      others.push_back(
          std::async(std::launch::async | std::launch::deferred, [&predict, &execution, &batch = batches[b]] {
            at::set_num_threads(execution.threads());  // for operations that this thread starts
            return predict(batch);
          }));
    }
    std::vector<std::vector<Prediction>> predictions = {predict(batches[0])};
    for (auto& other : others) predictions.push_back(other.get());
    return predictions;
  }

  void AddSamples(const SelectedSamples& samples, const Selection& selection, int group) {
    std::unordered_map<int64_t, int32_t> class_of_label;
    for (int c = 0; c < selection.class_id_size(); ++c) {
      class_of_label[selection.label_size() > 0 ? selection.label(c) : c] = selection.class_id(c);
    }
    clusters_.Append(selection.data_set(), samples.cluster, samples.size());
    for (Collected& collected : collected_) {
      Outputs& outputs = collected.outputs;
      for (const int64_t label : samples.label) {
        outputs.label.push_back(group < 0 ? label : -1);
        outputs.class_id.push_back(class_of_label[label]);
        outputs.group.push_back(group);
      }
    }
  }

  absl::Status AddRows(const Prediction& prediction, Collected* collected) {
    Outputs& outputs = collected->outputs;
    const std::vector<float> logits = Values(prediction.output.logits);
    outputs.num_outputs = prediction.output.logits.size(1);
    std::vector<float> features;
    if (prediction.output.feature.defined()) {
      features = Values(prediction.output.feature);
      outputs.feature_dim = prediction.output.feature.size(1);
    }
    if (collected->writer != nullptr) {
      OPENSET_RETURN_IF_ERROR(collected->writer->AddRows(logits, outputs.num_outputs, features, outputs.feature_dim));
    } else {
      outputs.logits.insert(outputs.logits.end(), logits.begin(), logits.end());
      outputs.features.insert(outputs.features.end(), features.begin(), features.end());
    }
    if (prediction.perturbed_feature.defined()) {
      const std::vector<float> perturbed = Values(prediction.perturbed_feature);
      outputs.perturbed_features.insert(outputs.perturbed_features.end(), perturbed.begin(), perturbed.end());
    }
    if (prediction.member_uncertainty.defined()) {
      const std::vector<float> uncertainty = Values(prediction.member_uncertainty);
      outputs.member_uncertainty.insert(outputs.member_uncertainty.end(), uncertainty.begin(), uncertainty.end());
    }
    if (prediction.stage_values.defined()) {
      const std::vector<float> values = Values(prediction.stage_values);
      outputs.stage_values.insert(outputs.stage_values.end(), values.begin(), values.end());
      outputs.stage_widths = prediction.stage_widths;
    }
    if (!prediction.predicting_logits.defined()) return absl::OkStatus();
    const int64_t classes = train_.data().class_id_size();
    const at::Tensor predicted = prediction.predicting_logits.slice(1, 0, classes).argmax(1).to(at::kCPU).contiguous();
    const int64_t* data = predicted.const_data_ptr<int64_t>();
    outputs.prediction.insert(outputs.prediction.end(), data, data + predicted.numel());
    return absl::OkStatus();
  }

  const InferAction& action_;
  const TrainAction& train_;
  const ActionContext& context_;
  Predictor* predictor_;
  const bool may_pass_at_once_;
  PassesAtOnce passes_at_once_;
  const int64_t total_;
  int64_t done_ = 0;
  ClusterNumbers clusters_;
  std::vector<Collected>& collected_;  // of each request
};

// A linear head's weights, for scores that need them.
void AddHead(const Model& model, Outputs* outputs) {
  for (const auto& parameter : model.named_parameters()) {
    if (parameter.key() == "head.weight") outputs->head_weight = Values(parameter.value().detach());
    if (parameter.key() == "head.bias") outputs->head_bias = Values(parameter.value().detach());
  }
}

// `shared_by`: the number of inferences that shared the passes. `summary` has their trainings.
absl::Status Commit(const InferRequest& request, const FolderRemover& staging, const std::string& outputs_sha256,
                    int shared_by, InferSummary summary, const ActionContext& context) {
  const InferAction& infer = request.action.infer();
  *summary.mutable_action() = request.action;
  summary.set_outputs_sha256(outputs_sha256);
  StageProvenance* provenance = summary.mutable_provenance();
  *provenance = context.clock.Read(StageProvenance::INFER, request.key, context.store);
  DescribeExecution(infer.execution(), context.device, provenance);
  AddComponents(FirstTraining(summary).action().train().model(), openset_infer_fingerprints, provenance);
  AddComponents(infer.inference(), openset_infer_fingerprints, provenance);
  provenance->set_wall_seconds(provenance->wall_seconds() / shared_by);
  provenance->set_cpu_seconds(provenance->cpu_seconds() / shared_by);
  return context.store.CommitResult(staging.folder(), std::move(summary)).status();
}

// The models' outputs for the samples of each action, into the element with its index. `train`: the training of the
// first model.
absl::Status Collect(const std::vector<const InferAction*>& actions, const TrainAction& train,
                     std::vector<std::shared_ptr<Model>> models, const ActionContext& context,
                     std::vector<Collected>* collected) {
  const InferAction& action = *actions[0];
  std::vector<InferenceSpec> specs;
  for (const InferAction* one : actions) specs.push_back(one->inference());
  const size_t num_models = models.size();
  const std::shared_ptr<Model> first = models[0];
  at::Tensor passed;  // logits of the training images
  if (TraitsOf(action.inference()).reads_training_images()) {
    OPENSET_ASSIGN_OR_RETURN(passed, PassInTrainMode(action.inference().train_mode_pass(), train, first.get(), context,
                                                     [&](double share) { ReportShare(context, share / 2); }));
  }
  const std::unique_ptr<Predictor> predictor = MakePredictor(specs, train.input(), std::move(models), train.seed());
  OPENSET_ASSIGN_OR_RETURN(int64_t total, context.images->Count(action.known()));
  for (const UnknownGroup& group : action.unknown()) {
    OPENSET_ASSIGN_OR_RETURN(const int64_t count, context.images->Count(group.selection()));
    total += count;
  }
  for (const ShiftedGroup& group : action.shifted()) {
    OPENSET_ASSIGN_OR_RETURN(const int64_t count, context.images->Count(group.selection()));
    total += count;
  }
  Inferrer inferrer(action, train, context, predictor.get(), MayPassAtOnce(action, num_models, *first, context), total,
                    collected);
  if (passed.defined() && MessageDigest(action.known()) == MessageDigest(train.data())) {
    OPENSET_RETURN_IF_ERROR(inferrer.AddLogits(action.known(), passed));
  } else {
    OPENSET_RETURN_IF_ERROR(inferrer.Add(action.known(), -1));
  }
  for (int g = 0; g < action.unknown_size(); ++g) {
    OPENSET_RETURN_IF_ERROR(inferrer.Add(action.unknown(g).selection(), g));
  }
  for (const ShiftedGroup& group : action.shifted()) OPENSET_RETURN_IF_ERROR(inferrer.Add(group.selection(), -1));
  const std::vector<int64_t> clusters = inferrer.TakeClusters();
  for (Collected& one : *collected) {
    one.outputs.cluster = clusters;
    for (const UnknownGroup& group : action.unknown()) one.outputs.group_names.push_back(group.name());
    if (one.outputs.feature_dim > 0) AddHead(*first, &one.outputs);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Outputs> CollectOutputs(const InferAction& action, const TrainAction& train,
                                       std::vector<std::shared_ptr<Model>> models, const ActionContext& context) {
  std::vector<Collected> collected(1);
  OPENSET_RETURN_IF_ERROR(Collect({&action}, train, std::move(models), context, &collected));
  return std::move(collected[0].outputs);
}

absl::Status Infer(absl::Span<const InferRequest> requests, const ActionContext& context) {
  const ActionSpec& action = requests[0].action;
  ConfigureExecution(action.infer().execution());
  std::vector<std::shared_ptr<Model>> models;
  for (const std::string& key : InputKeys(action, ActionInput::MODEL)) {
    OPENSET_ASSIGN_OR_RETURN(models.emplace_back(), LoadTrainedModel(key, context));
  }
  // The requests have the same models.
  InferSummary summary;
  *summary.mutable_action() = action;
  OPENSET_ASSIGN_OR_RETURN(*summary.mutable_training(), LoadTrainings(action, context.store));
  OPENSET_RETURN_IF_ERROR(CheckTrainings(summary));
  const TrainAction& train = FirstTraining(summary).action().train();
  std::vector<const InferAction*> actions;
  std::vector<std::unique_ptr<FolderRemover>> staging;
  std::vector<Collected> collected(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    OPENSET_ASSIGN_OR_RETURN(std::string folder, context.store.NewStagingFolder(requests[i].key));
    staging.push_back(std::make_unique<FolderRemover>(std::move(folder)));
    actions.push_back(&requests[i].action.infer());
    collected[i].writer = std::make_unique<OutputsWriter>(JoinPath(staging[i]->folder(), kOutputsFile));
  }
  OPENSET_RETURN_IF_ERROR(Collect(actions, train, std::move(models), context, &collected));
  OPENSET_RETURN_IF_ERROR(context.images->CheckUnchanged());
  std::vector<absl::StatusOr<std::string>> sha256(requests.size());
  InParallel(static_cast<int64_t>(requests.size()), [&](int64_t i) {
    const absl::Status finished = collected[i].writer->Finish(collected[i].outputs);
    sha256[i] = finished.ok() ? Sha256HexOfFile(JoinPath(staging[i]->folder(), kOutputsFile)) : finished;
  });
  for (size_t i = 0; i < requests.size(); ++i) {
    OPENSET_RETURN_IF_ERROR(sha256[i].status());
    OPENSET_RETURN_IF_ERROR(
        Commit(requests[i], *staging[i], *sha256[i], static_cast<int>(requests.size()), summary, context));
  }
  return absl::OkStatus();
}

}  // namespace openset
