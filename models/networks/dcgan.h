// Generator and discriminator of images, as convolutional networks (Radford et al. 2016). The discriminator's channels,
// sigmoids and mean are as in ARPL's models/gan.py; the generator's channels are the usual ones. Convolutions are
// 4x4, without bias. Batch norm follows each, except the last of both networks and the discriminator's first. Initial
// values: convolutions N(0, 0.02), batch norm N(1, 0.02) and 0.
//
//   generator      noise [B, noise_dim] -> 4x4 at 8 w channels -> 8x8 at 4 w -> ... -> size x size at C;
//                  ReLU between, sigmoid at the end
//   discriminator  C at size x size -> steps of stride 2 that double the channels, to 8 w at size / 8 (at 4x4 for sizes
//                  below 32) -> 16 w without padding (1x1 for 32x32, 5x5 for 64x64), LeakyReLU(0.2) between, sigmoid;
//                  mean over the positions; linear; sigmoid
//
// Each step of the generator but the first doubles the side and halves the channels (never below 1).
#ifndef OPENSET_MODELS_NETWORKS_DCGAN_H_
#define OPENSET_MODELS_NETWORKS_DCGAN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/random.h"
#include "core/tensor/torch.h"
#include "models/layers/layers.h"

namespace openset {

struct DcganShape {
  int64_t size = 32;  // a power of two, at least 8 (IsDcganSize)
  int64_t channels = 3;
  int64_t noise_dim = 100;
  int64_t width = 64;  // w
};

bool IsDcganSize(int64_t size);

class Generator : public Module {
 public:
  // Precondition: IsDcganSize(shape.size).
  explicit Generator(const DcganShape& shape);

  // f32 [B, noise_dim] -> f32 [B, C, size, size], values in (0, 1).
  at::Tensor Forward(const at::Tensor& noise);
  void Initialise(RandomStream* random);

 private:
  std::vector<std::shared_ptr<TransposedConvolution>> convolutions_;
  std::vector<std::shared_ptr<BatchNorm>> norms_;  // of all convolutions but the last
};

class Discriminator : public Module {
 public:
  // Precondition: IsDcganSize(shape.size).
  explicit Discriminator(const DcganShape& shape);

  // f32 [B, C, size, size] -> f32 [B], the probability that an image is real.
  at::Tensor Forward(const at::Tensor& image);
  // The values before the mean over positions: f32 [B, 16 w, side, side], in (0, 1).
  at::Tensor LastMap(const at::Tensor& image);
  void Initialise(RandomStream* random);

 private:
  std::vector<std::shared_ptr<Convolution>> convolutions_;
  std::vector<std::shared_ptr<BatchNorm>> norms_;  // of all convolutions but the first and the last
  std::shared_ptr<Linear> linear_;
};

}  // namespace openset

#endif  // OPENSET_MODELS_NETWORKS_DCGAN_H_
