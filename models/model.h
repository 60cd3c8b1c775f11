// The interface of a network: a backbone that computes features and a head that computes logits from them.
#ifndef OPENSET_MODELS_MODEL_H_
#define OPENSET_MODELS_MODEL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/random.h"
#include "core/tensor/batch.h"
#include "core/tensor/torch.h"
#include "models/layers/module.h"

namespace openset {

// f32 images [B, C, H, W] -> features [B, D]. Parameters have the names under which they are registered. For dropout,
// use the modules of models/networks/dropout.h: they can be switched on without the rest of the training mode.
class Backbone : public Module {
 public:
  // `norm_set` is the index of the set of batch norms to use. If the backbone has fewer sets, it uses its last one.
  virtual at::Tensor Forward(const at::Tensor& image, int norm_set) = 0;
  // The number of stages, each of which halves the image; 0 if the backbone does not show its stages. Traits.stages of
  // its spec (core/proto/traits.proto) is the same.
  virtual int num_stages() const { return 0; }
  // The rest of Forward() after the first `stage` stages. `x` is their output [B, C', H', W'], or the image if `stage`
  // is 0. Appends the output of each further stage to `maps`, unless it is null. The features depend only on the last
  // stage's output. Uses the first set of batch norms. Precondition: num_stages() > 0; 0 <= stage <= num_stages().
  virtual at::Tensor ForwardFrom(int stage, const at::Tensor& x, std::vector<at::Tensor>* maps);
  // D, the number of features.
  virtual int64_t feature_dim() const = 0;
  // Draws new values for all parameters and resets the buffers. The same stream gives the same parameters on every
  // device.
  virtual void Initialise(RandomStream* random) = 0;
  // The generator from which dropout draws.
  virtual void SetGenerator(const at::Generator& generator);
  // Whether no pass in evaluation mode changes the result of another, even if several threads run them at once.
  virtual bool HasIndependentPasses() const { return true; }
};

// Features [B, D] -> logits [B, K]. Some heads also give distances and points.
class Head : public Module {
 public:
  virtual ModelOutput Forward(const at::Tensor& feature) = 0;
  virtual void Initialise(RandomStream* random) = 0;
  // Sets the generator that random heads draw from in training.
  virtual void SetGenerator(const at::Generator& /*generator*/) {}
};

// The device on which a network will run and whether it will be trained. Only TorchScript networks need it, because
// they are loaded for their device and tested there. All others are built on the CPU and then moved.
struct ModelUse {
  at::Device device = at::kCPU;
  bool is_training = false;
};

// A network. Use it in this order:
//   1. MakeModel() builds it on the CPU, in training mode, and initialises it from a random stream.
//   2. to(device) moves it; train(on) sets its mode (dropout and batch statistics).
//   3. SetGenerator() sets the generator for dropout, on the network's device. In training mode, a network with dropout
//      needs one.
//   4. Call Forward() as often as needed. It sees images, never labels.
//   5. StateOf() and SetState() (models/checkpoint.h) read and write parameters and buffers by name.
// Parameters are named "backbone..." and "head...". Convolutions use channels-last memory. Autocast lowers the
// precision of the backbone only: the head takes features in f32 and computes in f32.
class Model : public Module {
 public:
  Model(std::shared_ptr<Backbone> backbone, std::shared_ptr<Head> head);

  ModelOutput Forward(const at::Tensor& image, int norm_set = 0);
  ModelOutput ForwardHead(const at::Tensor& feature);
  // Forward() from a stage of the backbone on: see Backbone::ForwardFrom().
  ModelOutput ForwardFrom(int stage, const at::Tensor& x, std::vector<at::Tensor>* maps = nullptr);

  void SetGenerator(const at::Generator& generator) {
    backbone_->SetGenerator(generator);
    head_->SetGenerator(generator);
  }

  int64_t feature_dim() const { return backbone_->feature_dim(); }
  int num_stages() const { return backbone_->num_stages(); }
  bool HasIndependentPasses() const { return backbone_->HasIndependentPasses(); }

 private:
  std::shared_ptr<Backbone> backbone_;
  std::shared_ptr<Head> head_;
};

}  // namespace openset

#endif  // OPENSET_MODELS_MODEL_H_
