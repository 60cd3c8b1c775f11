#include "losses/testing/loss_scene.h"

#include "core/logging.h"
#include "core/proto/proto_rules.h"
#include "core/proto/text_proto.h"
#include "losses/make_loss_term.h"

namespace openset {
namespace {

at::Tensor RandomNormal(RandomStream* random, int64_t rows, int64_t columns, double deviation) {
  const at::Tensor tensor = at::empty({rows, columns}, at::kDouble);
  for (int64_t i = 0; i < tensor.numel(); ++i) tensor.mutable_data_ptr<double>()[i] = deviation * random->Normal();
  return tensor;
}

ModelOutput RandomOutput(RandomStream* random, int64_t samples, const at::Tensor& point) {
  ModelOutput output;
  output.feature = RandomNormal(random, samples, point.size(1), 1);
  output.logits = RandomNormal(random, samples, point.size(0), 1.5);
  output.distance = RandomNormal(random, samples, point.size(0), 1).square();
  output.point = point;
  return output;
}

}  // namespace

LossTermSpec TermSpec(const std::string& text) {
  LossTermSpec spec;
  const absl::StatusOr<TextSource> source = ParseTextProto(text, "term", &spec);
  CHECK(source.ok()) << source.status();
  const absl::Status rules = CheckRules(spec, *source);
  CHECK(rules.ok()) << rules;
  FillDefaults(&spec);
  return spec;
}

std::unique_ptr<LossTerm> MakeTerm(const std::string& text, at::Device device) {
  return MakeLossTerm(TermSpec(text), {device, /*classes=*/4, /*features=*/3, /*seed=*/0});
}

LossScene SceneOf(const at::Tensor& logits, const std::vector<int64_t>& label) {
  LossScene scene;
  scene.known.logits = logits;
  scene.batch.label = at::tensor(label, at::kLong);
  return scene;
}

LossScene DistanceScene() {
  LossScene scene;
  scene.known.distance = at::tensor({1.0, 2.0, 3.0, 5.0}, at::kDouble).view({2, 2});
  scene.batch.label = at::tensor({0, 1}, at::kLong);
  return scene;
}

double Value(const std::string& spec, const LossScene& scene) {
  return MakeTerm(spec)->Compute(scene.Input()).item<double>();
}

OpenSet OpenSetOf(const at::Tensor& logits, const std::vector<int64_t>& slot) {
  OpenSet open;
  open.output.logits = logits;
  open.weight = at::ones({logits.size(0)}, logits.options());
  if (!slot.empty()) open.slot = at::tensor(slot, at::kLong);
  return open;
}

LossScene RandomScene(RandomStream* random) {
  const at::Tensor point = RandomNormal(random, 4, 3, 1);
  LossScene scene;
  scene.known = RandomOutput(random, 6, point);
  scene.batch.label = (scene.known.logits.argmax(1) + at::tensor({0, 0, 1, 0, 0, 2}, at::kLong)).remainder(4);
  scene.batch.sample = at::tensor({7, 2, 5, 0, 3, 9}, at::kLong);
  scene.open.output = RandomOutput(random, 5, point);
  scene.open.slot = at::tensor({1, 4, 0, 2, 3}, at::kLong);
  scene.open.weight = at::tensor({1, 1, 1, 1, 0}, at::kDouble);
  scene.open.share = at::tensor({0.9, 0.1, 0.5, 0.7, 0.3}, at::kDouble);
  scene.open.partner = at::tensor({2, -1, 0, 3, 1}, at::kLong);
  scene.history.correct = at::tensor({3, 1, 2, 0, 4, 1, 2, 0, 1, 4}, at::kLong);
  scene.history.epochs = 4;
  for (int view = 0; view < 2; ++view) scene.views.push_back(RandomOutput(random, 6, point));
  scene.epoch = 4;
  scene.epochs = 10;
  return scene;
}

std::vector<at::Tensor*> Outputs(LossScene* scene) {
  std::vector<ModelOutput*> all = {&scene->known, &scene->open.output};
  for (ModelOutput& view : scene->views) all.push_back(&view);
  std::vector<at::Tensor*> outputs;
  for (ModelOutput* output : all) {
    for (at::Tensor* tensor : {&output->feature, &output->logits, &output->distance, &output->point}) {
      if (tensor->defined()) outputs.push_back(tensor);
    }
  }
  return outputs;
}

LossScene Transformed(LossScene scene, const std::function<at::Tensor(const at::Tensor&)>& change) {
  std::vector<at::Tensor*> tensors = Outputs(&scene);
  for (at::Tensor* tensor : {&scene.batch.label, &scene.batch.sample, &scene.open.slot, &scene.open.weight,
                             &scene.open.share, &scene.open.partner, &scene.history.correct}) {
    if (tensor->defined()) tensors.push_back(tensor);
  }
  for (at::Tensor* tensor : tensors) *tensor = change(*tensor);
  return scene;
}

}  // namespace openset
