// Training steps for the tests of loss terms.
#ifndef OPENSET_LOSSES_TESTING_LOSS_SCENE_H_
#define OPENSET_LOSSES_TESTING_LOSS_SCENE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/tensor/batch.h"
#include "core/tensor/open_set.h"
#include "core/tensor/torch.h"
#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

// LossTermSpec from text such as "open_auc { pairs: ALL }", with its defaults filled in; fails the process if the text
// breaks the schema or its rules.
LossTermSpec TermSpec(const std::string& text);

// For the 4 classes and 3 features of RandomScene().
std::unique_ptr<LossTerm> MakeTerm(const std::string& text, at::Device device = at::kCPU);

// What LossInput points to.
struct LossScene {
  Batch batch;
  ModelOutput known;
  OpenSet open;
  SampleHistory history;
  std::vector<ModelOutput> views;
  int64_t epoch = 0;
  int64_t epochs = 0;

  LossInput Input() const { return {batch, known, &open, &history, &views, epoch, epochs}; }
};

// Known samples alone: logits [B, K] and their labels.
LossScene SceneOf(const at::Tensor& logits, const std::vector<int64_t>& label);

// Distances of two known samples to two points, (1, 2) and (3, 5); the label's are 1 and 5.
LossScene DistanceScene();

// The loss that the term of `spec` (as for TermSpec()) gives for `scene`.
double Value(const std::string& spec, const LossScene& scene);

// Open samples of weight 1: logits [U, K], and slots where a term needs them.
OpenSet OpenSetOf(const at::Tensor& logits, const std::vector<int64_t>& slot = {});

// 6 known samples, in 3 views, and 5 open samples of 4 classes, 3 features each; f64. Labels, slots and weights are as
// in a step in which 4 known samples are classified correctly and one open sample is dropped.
LossScene RandomScene(RandomStream* random);

// Every tensor with respect to which a term may be differentiated.
std::vector<at::Tensor*> Outputs(LossScene* scene);

// With `change` applied to every tensor.
LossScene Transformed(LossScene scene, const std::function<at::Tensor(const at::Tensor&)>& change);

}  // namespace openset

#endif  // OPENSET_LOSSES_TESTING_LOSS_SCENE_H_
