// Residual networks of any shape, and their parts (He et al. 2016). Parameters of blocks have torchvision's names.
#ifndef OPENSET_MODELS_NETWORKS_RESIDUAL_H_
#define OPENSET_MODELS_NETWORKS_RESIDUAL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/random.h"
#include "core/tensor/torch.h"
#include "models/layers/layers.h"
#include "models/model.h"
#include "models/residual_shape.h"

namespace openset {

// A square convolution without bias, padded so that stride 1 keeps the size, in channels-last memory.
std::shared_ptr<Convolution> PlainConvolution(int64_t in, int64_t out, int64_t kernel, int64_t stride);

// Draws the weight from N(0, 2 / (outputs * kernel^2)).
void InitialiseConvolution(RandomStream* random, Convolution* convolution);

// One block: [B, C, H, W] -> [B, C', H', W'].
class ResidualBlock : public Module {
 public:
  virtual at::Tensor Forward(const at::Tensor& x) = 0;
  virtual void Initialise(RandomStream* random) = 0;
};

// The shortcut where a block changes the shape: a 1x1 convolution ("0") and batch norm ("1").
class Downsample : public ResidualBlock {
 public:
  Downsample(int64_t in, int64_t out, int64_t stride);
  at::Tensor Forward(const at::Tensor& x) override;
  void Initialise(RandomStream* random) override;

 private:
  std::shared_ptr<Convolution> convolution_;
  std::shared_ptr<BatchNorm> norm_;
};

// relu(norm2(conv2(dropout(relu(norm1(conv1(x)))))) (+ dropout) + shortcut(x)), both convolutions 3x3, the first with
// the stride.
std::shared_ptr<ResidualBlock> MakeBasicBlock(int64_t in, int64_t out, int64_t stride, double dropout);

// The same with three convolutions, 1x1, 3x3 (with the stride) and 1x1, and dropout after the ReLU of each of the first
// two, which have out / 4 channels.
std::shared_ptr<ResidualBlock> MakeBottleneck(int64_t in, int64_t out, int64_t stride, double dropout);

// A sequence of blocks, named "0", "1", ...
class ResidualStage : public ResidualBlock {
 public:
  explicit ResidualStage(std::vector<std::shared_ptr<ResidualBlock>> blocks);
  at::Tensor Forward(const at::Tensor& x) override;
  void Initialise(RandomStream* random) override;

 private:
  std::vector<std::shared_ptr<ResidualBlock>> blocks_;
};

struct ResidualDropout {
  double block = 0;    // inside the blocks
  double feature = 0;  // on the features
};

// The stem ("conv1", "bn1"), the stages ("layer1", ...), and global average pooling: D is the number of channels of the
// last stage.
std::shared_ptr<Backbone> MakeResidualBackbone(const ResidualShape& shape, int64_t channels,
                                               const ResidualDropout& dropout);

}  // namespace openset

#endif  // OPENSET_MODELS_NETWORKS_RESIDUAL_H_
