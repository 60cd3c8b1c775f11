#include "models/layers/norm_relu.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/tensor/parallel_for.h"
#include "core/tensor/torch_autograd.h"
#include "core/tensor/torch_runtime.h"
#include "models/layers/norm_relu_passes.h"

namespace openset {
namespace {

using norm_relu::Bf16;
using norm_relu::Map;
using norm_relu::NormGradient;
using norm_relu::Rows;
using torch::autograd::AutogradContext;
using Variables = torch::autograd::variable_list;

const float* Data(const at::Tensor& of_channels) { return of_channels.const_data_ptr<float>(); }
float* MutableData(const at::Tensor& of_channels) { return of_channels.mutable_data_ptr<float>(); }

// The values of x from a row on; T is its type. nullptr if it is undefined.
template <typename T>
const T* From(const at::Tensor& x, int64_t row) {
  return x.defined() ? static_cast<const T*>(x.const_data_ptr()) + row * x.size(1) : nullptr;
}
template <typename T>
T* To(const at::Tensor& x, int64_t row) {
  return x.defined() ? static_cast<T*>(x.mutable_data_ptr()) + row * x.size(1) : nullptr;
}

// Returns work(T()) for the type of x.
template <typename Work>
auto ForType(const at::Tensor& x, const Work& work) {
  return x.scalar_type() == at::kFloat ? work(float()) : work(Bf16());
}

Rows RowsOf(const at::Tensor& x) { return {x.numel() / x.size(1), x.size(1)}; }

Map MapOf(const at::Tensor& scale, const at::Tensor& offset, double negative_slope) {
  return {Data(scale), Data(offset), static_cast<float>(negative_slope)};
}

// Calls work(first row, rows) for ranges that together are all rows.
void ForRows(const Rows& rows, const std::function<void(int64_t first, const Rows& part)>& work) {
  ParallelFor(rows.count, [&](int64_t begin, int64_t end) { work(begin, {end - begin, rows.channels}); });
}

// The sums over all rows. LibTorch's threads each have a part of the rows; their sums are then added in f64. The bits
// depend on the number of threads.
class Sums {
 public:
  Sums(const Rows& rows, int64_t per_channel)
      : rows_(rows),
        size_(rows.channels * per_channel),
        parts_(std::min<int64_t>(at::get_num_threads(), rows.count)),
        sums_(parts_ * size_) {}

  // Calls add(first row, rows, sums [per_channel, channels]) for each part. The sums start from 0.
  void Add(const std::function<void(int64_t first, const Rows& part, float* sums)>& add) {
    std::fill(sums_.begin(), sums_.end(), 0.0f);
    const int64_t part_size = (rows_.count + parts_ - 1) / parts_;
    ParallelFor(parts_, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        const int64_t first = std::min(part * part_size, rows_.count);
        const int64_t count = std::min(part_size, rows_.count - first);
        add(first, {count, rows_.channels}, sums_.data() + part * size_);
      }
    });
  }

  double Total(int64_t i) const {
    double total = 0;
    for (int64_t part = 0; part < parts_; ++part) total += sums_[part * size_ + i];
    return total;
  }

 private:
  const Rows rows_;
  const int64_t size_;
  const int64_t parts_;
  std::vector<float> sums_;
};

struct Statistics {
  at::Tensor mean, inverse_std;
};

// Returns the batch's statistics and updates the running ones.
template <typename T>
Statistics StatisticsOf(const at::Tensor& x, const NormTensors& norm, const NormOptions& options) {
  const Rows rows = RowsOf(x);
  Statistics statistics = {at::empty({rows.channels}), at::empty({rows.channels})};
  float* mean = MutableData(statistics.mean);
  float* inverse_std = MutableData(statistics.inverse_std);
  float* running_mean = MutableData(norm.running_mean);
  float* running_var = MutableData(norm.running_var);
  const auto momentum = static_cast<float>(options.momentum);
  Sums sums(rows, 1);
  sums.Add([&](int64_t first, const Rows& part, float* sum) { norm_relu::AddRows(part, From<T>(x, first), sum); });
  for (int64_t c = 0; c < rows.channels; ++c) mean[c] = static_cast<float>(sums.Total(c) / rows.count);
  sums.Add(
      [&](int64_t first, const Rows& part, float* sum) { norm_relu::AddSquares(part, From<T>(x, first), mean, sum); });
  for (int64_t c = 0; c < rows.channels; ++c) {
    const auto squares = static_cast<float>(sums.Total(c));
    const double variance = squares / static_cast<float>(rows.count);
    const double unbiased = squares / static_cast<float>(rows.count - 1);
    inverse_std[c] = static_cast<float>(1 / std::sqrt(variance + options.epsilon));
    running_mean[c] = momentum * mean[c] + (1 - momentum) * running_mean[c];
    const double kept = (1 - momentum) * running_var[c];
    running_var[c] = static_cast<float>(static_cast<double>(momentum) * unbiased + kept);
  }
  return statistics;
}

// at::sqrt() would not round as the square root of one number.
Statistics RunningStatistics(const NormTensors& norm, double epsilon) {
  const Statistics statistics = {norm.running_mean, at::empty_like(norm.running_var)};
  for (int64_t c = 0; c < norm.running_var.numel(); ++c) {
    MutableData(statistics.inverse_std)[c] = 1 / std::sqrt(Data(norm.running_var)[c] + static_cast<float>(epsilon));
  }
  return statistics;
}

// The norm as an affine map.
struct Affine {
  at::Tensor scale, offset;
};

Affine AffineOf(const NormTensors& norm, const Statistics& statistics) {
  const int64_t channels = statistics.mean.numel();
  const Affine affine = {at::empty({channels}), at::empty({channels})};
  float* scale = MutableData(affine.scale);
  float* offset = MutableData(affine.offset);
  for (int64_t c = 0; c < channels; ++c) {
    scale[c] = Data(statistics.inverse_std)[c] * Data(norm.weight)[c];
    offset[c] = std::fma(-Data(statistics.mean)[c], scale[c], Data(norm.bias)[c]);
  }
  return affine;
}

template <typename T>
at::Tensor Rectified(const at::Tensor& x, const Affine& affine, const Relu& relu) {
  const Map map = MapOf(affine.scale, affine.offset, relu.negative_slope);
  const at::Tensor y = at::empty_like(x);
  ForRows(RowsOf(x), [&](int64_t first, const Rows& part) {
    norm_relu::Rectify(part, map, From<T>(x, first), From<T>(relu.shortcut, first), To<T>(y, first));
  });
  return y;
}

// T: the type of x, and of the shortcut and the result.
template <typename T>
class NormReluFunction : public torch::autograd::Function<NormReluFunction<T>> {
 public:
  // The tensors that may have gradients are arguments of their own.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& /*bias*/, const std::optional<at::Tensor>& shortcut,
                            const NormTensors& norm, const NormOptions& options, double negative_slope) {
    const Statistics statistics = StatisticsOf<T>(x, norm, options);
    const Affine affine = AffineOf(norm, statistics);
    const at::Tensor y = Rectified<T>(x, affine, {negative_slope, shortcut.value_or(at::Tensor())});
    context->save_for_backward({x, weight, statistics.mean, statistics.inverse_std, affine.scale, affine.offset,
                                shortcut.has_value() ? y : at::Tensor()});
    context->saved_data["negative_slope"] = negative_slope;
    return y;
  }

  static Variables backward(AutogradContext* context, const Variables& gradients) {
    const Variables saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &y = saved[6];
    const Statistics statistics = {saved[2], saved[3]};
    const Map map = MapOf(saved[4], saved[5], context->saved_data["negative_slope"].toDouble());
    const Rows rows = RowsOf(x);
    const at::Tensor gradient = gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    const at::Tensor g = y.defined() ? at::empty_like(y) : at::Tensor();
    const at::Tensor weight_gradient = at::empty({rows.channels}), bias_gradient = at::empty({rows.channels});
    Sums sums(rows, 2);
    sums.Add([&](int64_t first, const Rows& part, float* sum) {
      float* product = sum + rows.channels;
      if (y.defined()) {
        norm_relu::AddGradientsByOutput(part, map, From<T>(gradient, first), From<T>(y, first), From<T>(x, first),
                                        Data(statistics.mean), To<T>(g, first), sum, product);
      } else {
        norm_relu::AddGradients(part, map, From<T>(gradient, first), From<T>(x, first), Data(statistics.mean), sum,
                                product);
      }
    });
    std::vector<float> mean_gradient(rows.channels), k(rows.channels);
    const auto count = static_cast<float>(rows.count);
    for (int64_t c = 0; c < rows.channels; ++c) {
      const auto sum = static_cast<float>(sums.Total(c));
      const auto product = static_cast<float>(sums.Total(rows.channels + c));
      const float inverse_std = Data(statistics.inverse_std)[c];
      mean_gradient[c] = sum / count;
      k[c] = product * inverse_std * inverse_std / count;
      MutableData(weight_gradient)[c] = product * inverse_std;
      MutableData(bias_gradient)[c] = sum;
    }
    const NormGradient norm = {Data(statistics.mean), mean_gradient.data(), k.data(), Data(statistics.inverse_std),
                               Data(weight)};
    const at::Tensor x_gradient = at::empty_like(x);
    ForRows(rows, [&](int64_t first, const Rows& part) {
      if (y.defined()) {
        norm_relu::DifferentiateStored(part, norm, From<T>(g, first), From<T>(x, first), To<T>(x_gradient, first));
      } else {
        norm_relu::Differentiate(part, map, norm, From<T>(gradient, first), From<T>(x, first),
                                 To<T>(x_gradient, first));
      }
    });
    return {x_gradient, weight_gradient, bias_gradient, g, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

// Whether LibTorch has its kernels for AVX2 (and FMA), as on CPUs with AVX-512.
bool HasAvx2() {
  static const bool has = at::get_cpu_capability() != "DEFAULT";
  return has;
}

// FP32 or BF16 of a CPU in the channels-last layout and no other.
bool IsChannelsLast(const at::Tensor& x) {
  return x.device().is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16) && x.dim() == 4 &&
         !x.is_contiguous() && x.is_contiguous(at::MemoryFormat::ChannelsLast);
}

bool IsOurs(const at::Tensor& x, const NormTensors& norm, const Relu& relu) {
  if (!HasAvx2() || !IsChannelsLast(x) || x.size(1) % 8 != 0 || x.numel() / x.size(1) <= at::get_num_threads()) {
    return false;
  }
  if (relu.shortcut.defined() && (!IsChannelsLast(relu.shortcut) || relu.shortcut.sizes() != x.sizes() ||
                                  relu.shortcut.scalar_type() != x.scalar_type())) {
    return false;
  }
  const auto is_plain = [](const at::Tensor& of_channels) {
    return of_channels.scalar_type() == at::kFloat && of_channels.is_contiguous();
  };
  return is_plain(norm.weight) && is_plain(norm.bias) && is_plain(norm.running_mean) && is_plain(norm.running_var);
}

}  // namespace

at::Tensor Normed(const at::Tensor& x, const NormTensors& norm, const NormOptions& options) {
  return at::batch_norm(x, norm.weight, norm.bias, norm.running_mean, norm.running_var, options.training,
                        options.momentum, options.epsilon, at::globalContext().userEnabledCuDNN());
}

at::Tensor AddAndRectify(at::Tensor z, const Relu& relu) {
  if (relu.shortcut.defined()) z = z + relu.shortcut;
  return relu.negative_slope == 0 ? z.relu_() : at::leaky_relu_(z, relu.negative_slope);
}

at::Tensor NormRelu(const at::Tensor& x, const NormTensors& norm, const NormOptions& options, const Relu& relu) {
  const bool has_gradient =
      c10::GradMode::is_enabled() && (x.requires_grad() || norm.weight.requires_grad() || norm.bias.requires_grad() ||
                                      (relu.shortcut.defined() && relu.shortcut.requires_grad()));
  if (!IsOurs(x, norm, relu) || (has_gradient && !options.training)) {
    return AddAndRectify(Normed(x, norm, options), relu);
  }
  return ForType(x, [&](auto value) {
    using T = decltype(value);
    if (has_gradient) {
      const auto shortcut = relu.shortcut.defined() ? std::optional<at::Tensor>(relu.shortcut) : std::nullopt;
      return NormReluFunction<T>::apply(x, norm.weight, norm.bias, shortcut, norm, options, relu.negative_slope);
    }
    const Statistics statistics =
        options.training ? StatisticsOf<T>(x, norm, options) : RunningStatistics(norm, options.epsilon);
    return Rectified<T>(x, AffineOf(norm, statistics), relu);
  });
}

}  // namespace openset
