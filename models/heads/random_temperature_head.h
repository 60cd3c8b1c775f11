// The head of random temperature scaling (RTS, Shang et al., AAAI 2023): the temperature of the logits is random. The
// head computes the variances that determine its distribution from the features; they measure the sample's uncertainty.
#ifndef OPENSET_MODELS_HEADS_RANDOM_TEMPERATURE_HEAD_H_
#define OPENSET_MODELS_HEADS_RANDOM_TEMPERATURE_HEAD_H_

#include <cstdint>
#include <memory>

#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// With n = degrees, the logits h = classifier.weight x + classifier.bias of the known classes, and n variances
// v = exp(norm(W x + b)), norm a batch norm over the samples, the outputs are
//
//   in training mode    h / T, and last d = mean_k (v_k - log(v_k + 1e-8) - 1) / 2, T = sum_k v_k e_k^2 / (n - 2),
//   otherwise           h, and last mean_k v_k,
//
// where e is drawn from N(0, 1) by the generator. d is the Kullback-Leibler divergence of N(0, v) from N(0, 1); it is
// at least 0, except for the effect of the 1e-8. The loss is RandomTemperatureSpec (losses/loss.proto). Parameters:
// classifier.{weight,bias}, logvar_rts.0.{weight,bias} (W and b) and logvar_rts.1.{weight,bias,running_mean,...}, named
// as in OpenOOD's rts_net.py; the formulas are those of rts_trainer.py. Preconditions: outputs >= 2; in training mode,
// a generator is set.
std::shared_ptr<Head> MakeRandomTemperatureHead(const RandomTemperatureHeadSpec& spec, int64_t feature_dim,
                                                int64_t outputs);

}  // namespace openset

#endif  // OPENSET_MODELS_HEADS_RANDOM_TEMPERATURE_HEAD_H_
