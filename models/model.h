// The interface of a network: a backbone that gives features and a head that gives logits.
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

// f32 [B, C, H, W] -> [B, D]. Its parameters are named as registered. Dropout is done by modules of
// models/networks/dropout.h, which can be switched on alone.
class Backbone : public Module {
 public:
  // `norm_set` selects among the sets of batch norms; the last one stands in for sets that the backbone has not.
  virtual at::Tensor Forward(const at::Tensor& image, int norm_set) = 0;
  // Of stages that halve the image one after the other; 0: none that it shows (models/stages.h).
  virtual int num_stages() const { return 0; }
  // Forward() from behind the first `stage` stages on, for their map `x` [B, C', H', W']; the image for 0. Appends to
  // `maps`, where it is not null, the map behind each further stage. The features depend on the last map alone.
  // Precondition: stages; 0 <= stage <= num_stages(); the first set of batch norms is used.
  virtual at::Tensor ForwardFrom(int stage, const at::Tensor& x, std::vector<at::Tensor>* maps);
  // D.
  virtual int64_t feature_dim() const = 0;
  // Draws all parameters anew and resets the buffers. The same stream gives the same parameters on every device.
  virtual void Initialise(RandomStream* random) = 0;
  // What dropout draws from.
  virtual void SetGenerator(const at::Generator& generator);
};

// [B, D] -> logits [B, K], and the distances and points of heads that have them.
class Head : public Module {
 public:
  virtual ModelOutput Forward(const at::Tensor& feature) = 0;
  virtual void Initialise(RandomStream* random) = 0;
  // What random heads draw from in training.
  virtual void SetGenerator(const at::Generator& /*generator*/) {}
};

// What a network is made for. Only a script asks: it is loaded for its device and tried out there. All others are built
// on the CPU and moved.
struct ModelUse {
  at::Device device = at::kCPU;
  bool is_training = false;
};

// A network. Its life:
//   1. MakeModel() builds it on the CPU, in training mode, initialised from a random stream.
//   2. to(device) moves it; train(on) sets its mode (dropout and batch statistics).
//   3. SetGenerator() gives it the generator, of its device, that dropout draws from; without one a network with
//   dropout
//      can't be run in training mode.
//   4. Forward() any number of times. It sees images, never labels.
//   5. StateOf() and SetState() (models/checkpoint.h) copy parameters and buffers out and in, by name.
// Parameters are named "backbone..." and "head...". Convolutions work on channels-last memory. Under autocast only the
// backbone computes in fewer digits: the head takes features in f32, and computes in f32.
class Model : public Module {
 public:
  Model(std::shared_ptr<Backbone> backbone, std::shared_ptr<Head> head);

  ModelOutput Forward(const at::Tensor& image, int norm_set = 0);
  ModelOutput ForwardHead(const at::Tensor& feature);
  // From behind a stage of the backbone on (Backbone::ForwardFrom).
  ModelOutput ForwardFrom(int stage, const at::Tensor& x, std::vector<at::Tensor>* maps = nullptr);

  void SetGenerator(const at::Generator& generator) {
    backbone_->SetGenerator(generator);
    head_->SetGenerator(generator);
  }

  int64_t feature_dim() const { return backbone_->feature_dim(); }
  int num_stages() const { return backbone_->num_stages(); }

 private:
  std::shared_ptr<Backbone> backbone_;
  std::shared_ptr<Head> head_;
};

}  // namespace openset

#endif  // OPENSET_MODELS_MODEL_H_
