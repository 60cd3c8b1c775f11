// Draws parameters. All draws are made on the CPU, in f64 and in row-major order, for any device, dtype and memory
// layout of the tensor, so that a stream gives the same parameters everywhere.
#ifndef OPENSET_MODELS_INITIALISE_H_
#define OPENSET_MODELS_INITIALISE_H_

#include "core/random.h"
#include "core/tensor/torch.h"
#include "models/layers/layers.h"

namespace openset {

// Draws each element from the normal distribution with this mean and standard deviation.
void DrawNormal(double mean, double std, RandomStream* random, const at::Tensor& tensor);

// Draws each element uniformly from [-bound, bound).
void DrawUniform(double bound, RandomStream* random, const at::Tensor& tensor);

// PyTorch's default for convolutions and linear layers: draws weight and bias (which may be undefined), in that order,
// uniformly from +-1/sqrt(f), where f is the number of inputs of one output. (PyTorch calls it kaiming_uniform with
// a = sqrt(5), which is the same for the weight: sqrt(6 / ((1 + 5) f)).)
void DrawDefault(const at::Tensor& weight, const at::Tensor& bias, RandomStream* random);

// Batch norm: draws the weight from N(weight_mean, weight_std), sets the bias to 0 and resets the statistics.
void ResetBatchNorm(double weight_mean, double weight_std, RandomStream* random, BatchNorm* norm);

// Gives a convolution's weight the channels-last layout. Does so even if it has one input channel, for which the two
// layouts differ only in the strides.
void UseChannelsLast(Convolution* convolution);

}  // namespace openset

#endif  // OPENSET_MODELS_INITIALISE_H_
