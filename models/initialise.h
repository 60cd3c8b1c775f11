// Draws parameters. All draws are made on the CPU, in f64 and in row-major order, for any device, dtype and memory
// layout of the tensor, so that a stream gives the same parameters everywhere.
#ifndef OPENSET_MODELS_INITIALISE_H_
#define OPENSET_MODELS_INITIALISE_H_

#include "core/random.h"
#include "core/tensor/torch.h"
#include "models/layers/layers.h"

namespace openset {

// Every element from the normal distribution with this mean and standard deviation.
void DrawNormal(double mean, double std, RandomStream* random, const at::Tensor& tensor);

// Every element uniform on [-bound, bound).
void DrawUniform(double bound, RandomStream* random, const at::Tensor& tensor);

// PyTorch's default for convolutions and linear layers: weight and bias (which may be undefined), in that order,
// uniform on +-1/sqrt(f), where f is the number of inputs that one output is computed from. (PyTorch says
// kaiming_uniform with a = sqrt(5), which for the weight is the same: sqrt(6 / ((1 + 5) f)).)
void DrawDefault(const at::Tensor& weight, const at::Tensor& bias, RandomStream* random);

// Batch norm: weight from N(weight_mean, weight_std), bias 0, and statistics as before the first batch.
void ResetBatchNorm(double weight_mean, double weight_std, RandomStream* random, BatchNorm* norm);

// Gives a convolution's weight the channels-last layout, also if it has one input channel and the layouts coincide
// but for the strides.
void UseChannelsLast(Convolution* convolution);

}  // namespace openset

#endif  // OPENSET_MODELS_INITIALISE_H_
