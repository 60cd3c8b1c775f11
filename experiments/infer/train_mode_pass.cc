#include "experiments/infer/train_mode_pass.h"

#include <optional>

#include "core/random.h"
#include "core/status_macros.h"
#include "core/tensor/torch_generator.h"
#include "data/batch_stream.h"
#include "data/batcher.h"
#include "experiments/worker/execution.h"
#include "experiments/worker/input_pipeline.h"
#include "models/model.pb.h"

namespace openset {

absl::StatusOr<at::Tensor> PassInTrainMode(const TrainModePassSpec& spec, const TrainAction& train, Model* model,
                                           const ActionContext& context, const std::function<void(double)>& report) {
  const c10::NoGradGuard no_grad;
  model->train(true);
  at::Generator generator = MakeGenerator(context.device, DeriveSeed(train.seed(), "train_mode_pass/libtorch"));
  model->SetGenerator(generator);
  OPENSET_ASSIGN_OR_RETURN(const Pipeline pipeline, TrainingPipeline(train, context.device));
  OPENSET_ASSIGN_OR_RETURN(const Batcher batcher,
                           context.images->MakeBatcher(train.data(), train.input().channels(), context.device));
  RandomStream order(train.seed(), "train_mode_pass/order");
  RandomStream augment(train.seed(), "train_mode_pass/augment");
  BatchStream stream(batcher, batcher.Epoch(spec.batch_size(), /*drop_last=*/false, &order), pipeline, &augment);
  at::Tensor logits;
  int64_t done = 0;
  report(0);
  while (true) {
    OPENSET_ASSIGN_OR_RETURN(const std::optional<Batch> batch, stream.Next());
    if (!batch.has_value()) return logits;
    const PrecisionScope precision(train.execution(), context.device);
    const at::Tensor rows = model->Forward(batch->image).logits.to(at::kCPU, at::kFloat);
    if (!logits.defined()) logits = at::empty({batcher.size(), rows.size(1)});
    logits.index_copy_(0, batch->sample.cpu(), rows);
    done += rows.size(0);
    report(static_cast<double>(done) / static_cast<double>(batcher.size()));
  }
}

}  // namespace openset
