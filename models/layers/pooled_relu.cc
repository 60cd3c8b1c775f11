#include "models/layers/pooled_relu.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "core/tensor/parallel_for.h"
#include "core/tensor/torch_autograd.h"

namespace openset {
namespace {

using Variables = torch::autograd::variable_list;

// Compiled twice, for AVX2 and for any x86-64 CPU; the program uses the one for its CPU. Functions that
// these call are inline, so that they are compiled for the same CPU.
#define OPENSET_BY_CPU __attribute__((target_clones("avx2", "default")))
#define OPENSET_INLINE inline __attribute__((always_inline))

// Eight channels at once. There are only comparisons and selections, so that a scalar loop gives the same bits.
constexpr int64_t kLanes = 8;
using Floats = float __attribute__((vector_size(32)));
using Ints = int32_t __attribute__((vector_size(32)));
using Halves = uint16_t __attribute__((vector_size(16)));
using Bytes = uint8_t __attribute__((vector_size(8)));
using AllBytes = uint8_t __attribute__((vector_size(32)));

// The target of the gradient: the index, in reading order, of the largest value in its square; none if ReLU made it 0.
constexpr int32_t kNowhere = 4;

// The upper half of a float's bits.
using Bf16 = uint16_t;

// Loads `count` lanes; the others are 0. Here and below, a copy is one instruction if the compiler knows `count`.
OPENSET_INLINE void Load(const float* from, int64_t count, Floats* lanes) {
  *lanes = Floats{};
  std::memcpy(lanes, from, count * sizeof(float));
}
OPENSET_INLINE void Load(const Bf16* from, int64_t count, Floats* lanes) {
  Halves halves = {};
  std::memcpy(&halves, from, count * sizeof(Bf16));
  *lanes = reinterpret_cast<Floats>(__builtin_convertvector(halves, Ints) << 16);
}

// Stores `count` lanes; as Bf16, rounded to nearest, ties to even.
OPENSET_INLINE void Store(const Floats& lanes, int64_t count, float* to) {
  std::memcpy(to, &lanes, count * sizeof(float));
}
OPENSET_INLINE void Store(const Floats& lanes, int64_t count, Bf16* to) {
  const Ints bits = reinterpret_cast<Ints>(lanes);
  const Ints is_nan = lanes != lanes;
  const Ints rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const Halves halves = __builtin_convertvector((is_nan & 0x7fc0) | (~is_nan & rounded), Halves);
  std::memcpy(to, &halves, count * sizeof(Bf16));
}

// Copies the lanes of `value` that `mask` (each lane 0 or -1) selects.
OPENSET_INLINE void Replace(const Ints& mask, const Ints& value, Ints* lanes) {
  *lanes = (mask & value) | (~mask & *lanes);
}
OPENSET_INLINE void Replace(const Ints& mask, const Floats& value, Floats* lanes) {
  *lanes = reinterpret_cast<Floats>((mask & reinterpret_cast<Ints>(value)) | (~mask & reinterpret_cast<Ints>(*lanes)));
}

OPENSET_INLINE const float* Of(const float* factor, int64_t channel) {
  return factor == nullptr ? nullptr : factor + channel;
}

// One image of [H, W, C].
struct Shape {
  int64_t channels, height, width;

  int64_t size() const { return channels * height * width; }
  int64_t pooled_size() const { return channels * (height / 2) * (width / 2); }
};

// `count` channels of a square, whose places are `step` (next column) and `row` (next row) apart. `factor` here and
// below: of each channel, or null.
template <typename T>
OPENSET_INLINE void PoolLanes(const T* x, const float* factor, int64_t step, int64_t row, int64_t count, T* y,
                              uint8_t* place) {
  const Floats zero = {};
  Floats best, value, by = {};
  if (factor != nullptr) Load(factor, count, &by);
  Load(x, count, &best);
  if (factor != nullptr) best *= by;
  Ints at = {};
  const T* const rest[] = {x + step, x + row, x + row + step};
#pragma GCC unroll 3
  for (int32_t k = 1; k < 4; ++k) {
    Load(rest[k - 1], count, &value);
    if (factor != nullptr) value *= by;
    const Ints taken = (value > best) | (value != value);
    Replace(taken, value, &best);
    Replace(taken, Ints{} + k, &at);
  }
  Replace(best <= zero, Ints{} + kNowhere, &at);
  Replace(best < zero, zero, &best);
  const AllBytes all = reinterpret_cast<AllBytes>(at);
  const Bytes bytes = __builtin_shufflevector(all, all, 0, 4, 8, 12, 16, 20, 24, 28);
  Store(best, count, y);
  std::memcpy(place, &bytes, count);
}

template <typename T>
OPENSET_INLINE void PoolSquare(const T* x, const float* factor, int64_t channels, int64_t row, T* y, uint8_t* place) {
  if (channels < kLanes) return PoolLanes(x, factor, channels, row, channels, y, place);
  for (int64_t c = 0; c < channels; c += kLanes) {
    const int64_t first = std::min(c, channels - kLanes);  // the last lanes overlap, and write the same again
    PoolLanes(x + first, Of(factor, first), channels, row, kLanes, y + first, place + first);
  }
}

template <typename T>
OPENSET_INLINE void PoolImage(const T* x, const float* factor, const Shape& shape, T* y, uint8_t* place) {
  const int64_t row = shape.width * shape.channels;
  for (int64_t h = 0; h < shape.height / 2; ++h) {
    for (int64_t w = 0; w < shape.width / 2; ++w) {
      const T* square = x + 2 * h * row + 2 * w * shape.channels;
      PoolSquare(square, factor, shape.channels, row, y, place);
      y += shape.channels;
      place += shape.channels;
    }
  }
}

OPENSET_BY_CPU
void Pool(const float* x, const float* factor, const Shape& shape, float* y, uint8_t* place) {
  PoolImage(x, factor, shape, y, place);
}
OPENSET_BY_CPU
void Pool(const Bf16* x, const float* factor, const Shape& shape, Bf16* y, uint8_t* place) {
  PoolImage(x, factor, shape, y, place);
}

template <typename T>
OPENSET_INLINE void SpreadLanes(const T* gradient, const float* factor, const uint8_t* place, int64_t step, int64_t row,
                                int64_t count, T* x) {
  Floats value, by = {};
  if (factor != nullptr) Load(factor, count, &by);
  Load(gradient, count, &value);
  value += Floats{};  // LibTorch adds to a 0, which makes a 0 of -0
  int32_t words[2] = {};
  std::memcpy(words, place, count);
  // For the next two conversions, __builtin_convertvector() would take the bytes one by one.
  const Ints both = {words[0], words[0], words[0], words[0], words[1], words[1], words[1], words[1]};
  const Ints at = (both >> Ints{0, 8, 16, 24, 0, 8, 16, 24}) & 255;
  T* const to[] = {x, x + step, x + row, x + row + step};
#pragma GCC unroll 4
  for (int32_t k = 0; k < 4; ++k) {
    Floats part = {};
    Replace(at == k, value, &part);
    if (factor != nullptr) part *= by;
    Store(part, count, to[k]);
  }
}

template <typename T>
OPENSET_INLINE void SpreadSquare(const T* gradient, const float* factor, const uint8_t* place, int64_t channels,
                                 int64_t row, T* x) {
  if (channels < kLanes) return SpreadLanes(gradient, factor, place, channels, row, channels, x);
  for (int64_t c = 0; c < channels; c += kLanes) {
    const int64_t first = std::min(c, channels - kLanes);
    SpreadLanes(gradient + first, Of(factor, first), place + first, channels, row, kLanes, x + first);
  }
}

template <typename T>
OPENSET_INLINE void SpreadImage(const T* gradient, const float* factor, const uint8_t* place, const Shape& shape,
                                T* x) {
  const int64_t row = shape.width * shape.channels;
  for (int64_t h = 0; h < shape.height / 2; ++h) {
    for (int64_t w = 0; w < shape.width / 2; ++w) {
      T* square = x + 2 * h * row + 2 * w * shape.channels;
      SpreadSquare(gradient, factor, place, shape.channels, row, square);
      gradient += shape.channels;
      place += shape.channels;
    }
    if (shape.width % 2 == 0) continue;
    for (int64_t line = 2 * h; line < 2 * h + 2; ++line) {
      std::memset(x + (line + 1) * row - shape.channels, 0, shape.channels * sizeof(T));
    }
  }
  if (shape.height % 2 == 1) std::memset(x + (shape.height - 1) * row, 0, row * sizeof(T));
}

OPENSET_BY_CPU
void Spread(const float* gradient, const float* factor, const uint8_t* place, const Shape& shape, float* x) {
  SpreadImage(gradient, factor, place, shape, x);
}
OPENSET_BY_CPU
void Spread(const Bf16* gradient, const float* factor, const uint8_t* place, const Shape& shape, Bf16* x) {
  SpreadImage(gradient, factor, place, shape, x);
}

const float* FactorsOf(const at::Tensor& factor) { return factor.defined() ? factor.const_data_ptr<float>() : nullptr; }

Shape ShapeOf(const at::Tensor& x) { return {x.size(1), x.size(2), x.size(3)}; }

at::Tensor Empty(const at::Tensor& like, int64_t height, int64_t width, at::ScalarType type) {
  return at::empty({like.size(0), like.size(1), height, width}, like.options().dtype(type),
                   at::MemoryFormat::ChannelsLast);
}

// Returns work(T()) for the type of x, float or Bf16.
template <typename Work>
auto ForType(const at::Tensor& x, const Work& work) {
  return x.scalar_type() == at::kFloat ? work(float()) : work(Bf16());
}

// The result, and where its gradient goes.
template <typename T>
std::pair<at::Tensor, at::Tensor> Forward(const at::Tensor& x, const at::Tensor& factor) {
  const Shape shape = ShapeOf(x);
  const at::Tensor y = Empty(x, shape.height / 2, shape.width / 2, x.scalar_type());
  const at::Tensor place = Empty(x, shape.height / 2, shape.width / 2, at::kByte);
  const T* from = static_cast<const T*>(x.const_data_ptr());
  const float* factors = FactorsOf(factor);
  T* to = static_cast<T*>(y.mutable_data_ptr());
  uint8_t* places = place.mutable_data_ptr<uint8_t>();
  ParallelFor(x.size(0), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Pool(from + i * shape.size(), Of(factors, i * shape.channels), shape, to + i * shape.pooled_size(),
           places + i * shape.pooled_size());
    }
  });
  return {y, place};
}

template <typename T>
at::Tensor Backward(const at::Tensor& gradient, const at::Tensor& factor, const at::Tensor& place, int64_t height,
                    int64_t width) {
  const at::Tensor dense = gradient.contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor x = Empty(dense, height, width, dense.scalar_type());
  const Shape shape = ShapeOf(x);
  const T* from = static_cast<const T*>(dense.const_data_ptr());
  const float* factors = FactorsOf(factor);
  const uint8_t* places = place.const_data_ptr<uint8_t>();
  T* to = static_cast<T*>(x.mutable_data_ptr());
  ParallelFor(x.size(0), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Spread(from + i * shape.pooled_size(), Of(factors, i * shape.channels), places + i * shape.pooled_size(), shape,
             to + i * shape.size());
    }
  });
  return x;
}

class PooledReluFunction : public torch::autograd::Function<PooledReluFunction> {
 public:
  // An undefined tensor can't be an argument.
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const std::optional<at::Tensor>& maybe_factor) {
    const at::Tensor factor = maybe_factor.value_or(at::Tensor());
    const auto [y, place] = ForType(x, [&](auto value) { return Forward<decltype(value)>(x, factor); });
    context->save_for_backward({factor, place});
    context->saved_data["height"] = x.size(2);
    context->saved_data["width"] = x.size(3);
    return y;
  }

  static Variables backward(torch::autograd::AutogradContext* context, const Variables& gradients) {
    const Variables saved = context->get_saved_variables();
    const at::Tensor x_gradient = ForType(gradients[0], [&](auto value) {
      return Backward<decltype(value)>(gradients[0], saved[0], saved[1], context->saved_data["height"].toInt(),
                                       context->saved_data["width"].toInt());
    });
    return {x_gradient, at::Tensor()};
  }
};

// Whether the input is FP32 or BF16 in the channels-last layout. With one channel or pixel, both layouts match, and
// LibTorch uses the other.
bool IsOurs(const at::Tensor& x) {
  return x.dim() == 4 && x.device().is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16) &&
         x.numel() > 0 && x.size(2) > 1 && x.size(3) > 1 &&
         x.suggest_memory_format() == at::MemoryFormat::ChannelsLast && x.is_contiguous(at::MemoryFormat::ChannelsLast);
}

}  // namespace

at::Tensor PooledRelu(const at::Tensor& x, const at::Tensor& factor) {
  if (!IsOurs(x)) {
    const at::Tensor scaled = factor.defined() ? (x * factor).to(x.scalar_type()) : x;
    return at::max_pool2d(scaled, /*kernel_size=*/2).relu_();
  }
  const at::Tensor factors = factor.defined() ? factor.contiguous() : factor;
  if (c10::GradMode::is_enabled() && x.requires_grad()) {
    return PooledReluFunction::apply(x, factors.defined() ? std::optional<at::Tensor>(factors) : std::nullopt);
  }
  return ForType(x, [&](auto value) { return Forward<decltype(value)>(x, factors).first; });
}

}  // namespace openset
