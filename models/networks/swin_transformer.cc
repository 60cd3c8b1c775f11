// Transformers with shifted windows (Liu et al., ICCV 2021): Swin-T by default.
//
// Patches of 4x4 (a convolution and a layer norm); 4 stages of 2, 2, 6 and 2 blocks with w, 2 w, 4 w and 8 w channels
// and 3, 6, 12 and 24 heads (of 32 channels for the default width of 96); between stages, 2x2 tokens become one. A
// block is
//   x + projection(attention(norm1(x))),  x + mlp(norm2(x)), the mlp to 4 times the channels and back through gelu,
// where the attention is within windows of 7x7 tokens, which every other block shifts by 3, with a bias for each
// relative position. Sides that are not a multiple of 7 are padded with zeros. If a window covers the image, no block
// shifts it. The features are the mean of norm(x) over the tokens (D = 8 w). There is no stochastic depth (torchvision
// trains with 0.2). The default network has 27,519,354 parameters. Weights start from N(0, 0.02^2), the patches' like
// PyTorch's convolutions, biases from 0. Parameters are named as in torchvision: features.0.{0,2}, features.S.B.{norm1,
// attn.{relative_position_bias_table,qkv,proj},norm2,mlp.{0,3}} for S = 1, 3, 5 and 7, features.S.{reduction,norm} for
// S = 2, 4 and 6, norm. torchvision's files also have attn.relative_position_index, which holds no weights.
#include "absl/status/statusor.h"
#include "core/tensor/torch.h"
#include "models/initialise.h"
#include "models/layers/layers.h"
#include "models/networks/network_members.h"
#include "models/networks/tokens.h"

namespace openset {
namespace {

constexpr int64_t kPatch = 4;
constexpr int64_t kWindow = 7;
constexpr int64_t kTokens = kWindow * kWindow;  // of a window
constexpr int kSwinStages = 4;
constexpr int kSwinBlocks[kSwinStages] = {2, 2, 6, 2};
constexpr int kHeads[kSwinStages] = {3, 6, 12, 24};
constexpr double kSwinEpsilon = 1e-5;  // of layer norms

// [B, H, W, C] <-> [B windows, 49, C], windows row by row.
at::Tensor IntoWindows(const at::Tensor& x) {
  const int64_t b = x.size(0), h = x.size(1) / kWindow, w = x.size(2) / kWindow, c = x.size(3);
  return x.reshape({b, h, kWindow, w, kWindow, c}).permute({0, 1, 3, 2, 4, 5}).reshape({b * h * w, kTokens, c});
}
at::Tensor OutOfWindows(const at::Tensor& windows, at::IntArrayRef sizes) {
  const int64_t h = sizes[1] / kWindow, w = sizes[2] / kWindow, c = windows.size(2);
  return windows.reshape({sizes[0], h, w, kWindow, kWindow, c})
      .permute({0, 1, 3, 2, 4, 5})
      .reshape({sizes[0], sizes[1], sizes[2], c});
}

// The index, in the table of 13 x 13 differences, of the bias of each pair of tokens in a window: i64 [49 * 49].
at::Tensor RelativePositions(const at::TensorOptions& options) {
  const at::Tensor place = at::arange(kTokens, options.dtype(at::kLong));
  const at::Tensor row = at::floor_divide(place, kWindow), column = place.remainder(kWindow);
  const auto difference = [](const at::Tensor& at) { return at.unsqueeze(1) - at.unsqueeze(0) + kWindow - 1; };
  return (difference(row) * (2 * kWindow - 1) + difference(column)).flatten();
}

// -100 between tokens of a window that were not neighbours before an image of this height and width was shifted, else
// 0: [windows, 1, 49, 49].
at::Tensor ShiftMask(int64_t height, int64_t width, int64_t down, int64_t right, const at::TensorOptions& options) {
  const auto region = [&](int64_t size, int64_t shift) {
    const at::Tensor place = at::arange(size, options.dtype(at::kLong));
    if (shift == 0) return at::zeros_like(place);
    return place.ge(size - kWindow).to(at::kLong) + place.ge(size - shift).to(at::kLong);
  };
  const at::Tensor regions = region(height, down).unsqueeze(1) * 3 + region(width, right).unsqueeze(0);
  const at::Tensor windows = IntoWindows(regions.view({1, height, width, 1})).squeeze(2);
  return windows.unsqueeze(1).ne(windows.unsqueeze(2)).to(options.dtype()).mul(-100).unsqueeze(1);
}

class SwinBlock : public Module {
 public:
  SwinBlock(int64_t width, int64_t heads, int64_t shift)
      : heads_(heads),
        shift_(shift),
        norm1_(register_module("norm1", std::make_shared<LayerNorm>(width, kSwinEpsilon))),
        attention_(register_module("attn", std::make_shared<Parts>())),
        norm2_(register_module("norm2", std::make_shared<LayerNorm>(width, kSwinEpsilon))),
        mlp_(register_module("mlp", std::make_shared<Parts>())),
        bias_(attention_->register_parameter("relative_position_bias_table",
                                             at::zeros({(2 * kWindow - 1) * (2 * kWindow - 1), heads}))),
        qkv_(attention_->register_module("qkv", std::make_shared<Dense>(width, 3 * width))),
        projection_(attention_->register_module("proj", std::make_shared<Dense>(width, width))),
        fc1_(mlp_->register_module("0", std::make_shared<Dense>(width, 4 * width))),
        fc2_(mlp_->register_module("3", std::make_shared<Dense>(4 * width, width))) {}

  at::Tensor Forward(const at::Tensor& x) const {
    const at::Tensor seen = x + Windowed(norm1_->Forward(x));
    return seen + fc2_->Forward(at::gelu(fc1_->Forward(norm2_->Forward(seen))));
  }

  void Initialise(RandomStream* random) {
    for (const auto& norm : {norm1_, norm2_}) norm->Initialise();
    DrawNormal(0, 0.02, random, bias_);
    for (const auto& dense : {qkv_, projection_, fc1_, fc2_}) dense->Initialise(random);
  }

 private:
  at::Tensor Windowed(const at::Tensor& x) const {
    const int64_t missing_rows = (kWindow - x.size(1) % kWindow) % kWindow;
    const int64_t missing_columns = (kWindow - x.size(2) % kWindow) % kWindow;
    at::Tensor padded = at::constant_pad_nd(x, {0, 0, 0, missing_columns, 0, missing_rows});
    const int64_t height = padded.size(1), width = padded.size(2);
    const int64_t down = height > kWindow ? shift_ : 0, right = width > kWindow ? shift_ : 0;
    at::Tensor bias = bias_.index_select(0, RelativePositions(bias_.options().requires_grad(false)))
                          .view({kTokens, kTokens, heads_})
                          .permute({2, 0, 1})
                          .unsqueeze(0);
    if (down + right > 0) {
      padded = at::roll(padded, {-down, -right}, {1, 2});
      const at::Tensor mask = ShiftMask(height, width, down, right, x.options().requires_grad(false));
      bias = (bias + mask).repeat({x.size(0), 1, 1, 1});
    }
    const at::Tensor windows = Attention(qkv_->Forward(IntoWindows(padded)), heads_, bias);
    at::Tensor whole = OutOfWindows(projection_->Forward(windows), padded.sizes());
    if (down + right > 0) whole = at::roll(whole, {down, right}, {1, 2});
    return whole.slice(1, 0, x.size(1)).slice(2, 0, x.size(2));
  }

  const int64_t heads_;
  const int64_t shift_;
  const std::shared_ptr<LayerNorm> norm1_;
  const std::shared_ptr<Parts> attention_;
  const std::shared_ptr<LayerNorm> norm2_;
  const std::shared_ptr<Parts> mlp_;
  const at::Tensor bias_;  // [169, heads]
  const std::shared_ptr<Dense> qkv_, projection_, fc1_, fc2_;
};

// 2x2 tokens become one of twice the channels.
class Merge : public Module {
 public:
  explicit Merge(int64_t width)
      : reduction_(register_module("reduction", std::make_shared<Dense>(4 * width, 2 * width, /*has_bias=*/false))),
        norm_(register_module("norm", std::make_shared<LayerNorm>(4 * width, kSwinEpsilon))) {}

  at::Tensor Forward(const at::Tensor& x) const {
    const at::Tensor even = at::constant_pad_nd(x, {0, 0, 0, x.size(2) % 2, 0, x.size(1) % 2});
    std::vector<at::Tensor> parts;
    for (const int64_t column : {0, 1}) {
      for (const int64_t row : {0, 1}) {
        parts.push_back(even.slice(1, row, even.size(1), 2).slice(2, column, even.size(2), 2));
      }
    }
    return reduction_->Forward(norm_->Forward(at::cat(parts, 3)));
  }

  void Initialise(RandomStream* random) {
    reduction_->Initialise(random);
    norm_->Initialise();
  }

 private:
  const std::shared_ptr<Dense> reduction_;
  const std::shared_ptr<LayerNorm> norm_;
};

class SwinTransformer : public Backbone {
 public:
  SwinTransformer(const SwinTransformerSpec& spec, const InputSpec& input) {
    int64_t width = spec.width();
    const auto features = register_module("features", std::make_shared<Parts>());
    const auto patches = features->register_module("0", std::make_shared<Parts>());
    const ConvolutionShape shape{input.channels(), width, kPatch, kPatch};
    patch_ = patches->register_module("0", std::make_shared<Convolution>(shape));
    UseChannelsLast(patch_.get());
    patch_norm_ = patches->register_module("2", std::make_shared<LayerNorm>(width, kSwinEpsilon));
    for (int s = 0; s < kSwinStages; ++s) {
      const auto stage = features->register_module(std::to_string(2 * s + 1), std::make_shared<Parts>());
      for (int b = 0; b < kSwinBlocks[s]; ++b) {
        auto block = std::make_shared<SwinBlock>(width, kHeads[s], b % 2 == 0 ? 0 : kWindow / 2);
        blocks_[s].push_back(stage->register_module(std::to_string(b), std::move(block)));
      }
      if (s + 1 == kSwinStages) break;
      merges_.push_back(features->register_module(std::to_string(2 * s + 2), std::make_shared<Merge>(width)));
      width *= 2;
    }
    norm_ = register_module("norm", std::make_shared<LayerNorm>(width, kSwinEpsilon));
    feature_dim_ = width;
  }

  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override {
    at::Tensor x = patch_norm_->Forward(patch_->Forward(image).permute({0, 2, 3, 1}));  // [B, H, W, C]
    for (int s = 0; s < kSwinStages; ++s) {
      if (s > 0) x = merges_[s - 1]->Forward(x);
      for (const auto& block : blocks_[s]) x = block->Forward(x);
    }
    return norm_->Forward(x).mean({1, 2});
  }

  int64_t feature_dim() const override { return feature_dim_; }

  void Initialise(RandomStream* random) override {
    DrawDefault(patch_->weight, patch_->bias, random);
    patch_norm_->Initialise();
    for (int s = 0; s < kSwinStages; ++s) {
      if (s > 0) merges_[s - 1]->Initialise(random);
      for (const auto& block : blocks_[s]) block->Initialise(random);
    }
    norm_->Initialise();
  }

 private:
  std::shared_ptr<Convolution> patch_;
  std::shared_ptr<LayerNorm> patch_norm_;
  std::vector<std::shared_ptr<SwinBlock>> blocks_[kSwinStages];
  std::vector<std::shared_ptr<Merge>> merges_;  // before each stage but the first
  std::shared_ptr<LayerNorm> norm_;
  int64_t feature_dim_ = 0;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Backbone>> Make(const SwinTransformerSpec& spec, const InputSpec& input) {
  return std::make_shared<SwinTransformer>(spec, input);
}

}  // namespace openset
