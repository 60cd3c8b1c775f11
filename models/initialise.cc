#include "models/initialise.h"

#include <cmath>
#include <functional>

namespace openset {
namespace {

void Draw(const std::function<double()>& draw, const at::Tensor& tensor) {
  at::Tensor values = at::empty(tensor.sizes(), at::kDouble);
  double* elements = values.data_ptr<double>();
  for (int64_t i = 0; i < values.numel(); ++i) elements[i] = draw();
  const at::NoGradGuard no_grad;
  tensor.copy_(values);
}

}  // namespace

void DrawNormal(double mean, double std, RandomStream* random, const at::Tensor& tensor) {
  Draw([=] { return mean + std * random->Normal(); }, tensor);
}

void DrawUniform(double bound, RandomStream* random, const at::Tensor& tensor) {
  Draw([=] { return random->Uniform(-bound, bound); }, tensor);
}

void DrawDefault(const at::Tensor& weight, const at::Tensor& bias, RandomStream* random) {
  const double inputs = static_cast<double>(weight.numel()) / weight.size(0);
  DrawUniform(1 / std::sqrt(inputs), random, weight);
  if (bias.defined()) DrawUniform(1 / std::sqrt(inputs), random, bias);
}

void ResetBatchNorm(double weight_mean, double weight_std, RandomStream* random, BatchNorm* norm) {
  const at::NoGradGuard no_grad;
  DrawNormal(weight_mean, weight_std, random, norm->weight);
  norm->bias.zero_();
  norm->ResetStatistics();
}

void UseChannelsLast(Convolution* convolution) {
  at::Tensor& weight = convolution->weight;
  const at::Tensor copy = at::empty(weight.sizes(), weight.options().memory_format(at::MemoryFormat::ChannelsLast));
  weight.set_data(copy.copy_(weight.detach()));
}

}  // namespace openset
