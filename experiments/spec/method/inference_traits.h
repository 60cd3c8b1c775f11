// What other code needs to know about an inference: what it costs, what it stores, and what it asks of a method.
#ifndef OPENSET_EXPERIMENTS_SPEC_METHOD_INFERENCE_TRAITS_H_
#define OPENSET_EXPERIMENTS_SPEC_METHOD_INFERENCE_TRAITS_H_

#include <cstdint>
#include <optional>

#include "experiments/spec/method.proto.h"

namespace openset {

struct InferenceTraits {
  // The work for one image and one trained network, in forward passes. A backward pass counts as two.
  int64_t passes = 1;
  // The number of trainings whose networks it uses.
  int members = 1;

  // Why the outputs have no features, as the end of a sentence; null if they have features.
  const char* no_features = nullptr;
  // Whether the outputs have the disagreement of several passes.
  bool member_uncertainty = false;
  // Whether the logits are logarithms of mean probabilities.
  bool log_probabilities = false;
  // Whether the outputs have the features of changed images.
  bool perturbed_features = false;
  // The values of stages that the outputs have.
  std::optional<StageValuesSpec::Value> stage_values;

  // How many stages the network must have, because their feature maps are read.
  int stages = 0;
  // Whether it draws dropout masks.
  bool uses_dropout = false;
  // Whether it first passes over the training images, which changes the network's statistics.
  bool reads_training_images = false;
  // Whether those that differ only in their settings share passes.
  bool shares_passes = false;
  // Why it can't use one network that is already trained, as the rest of "the method ..."; null if it can.
  const char* needs_training = nullptr;
};

// The traits of a plain pass, if `inference` has no member.
InferenceTraits TraitsOf(const InferenceSpec& inference);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_METHOD_INFERENCE_TRAITS_H_
