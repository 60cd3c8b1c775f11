// Makes the predictor of an inference.
#ifndef OPENSET_EXPERIMENTS_INFER_MAKE_PREDICTOR_H_
#define OPENSET_EXPERIMENTS_INFER_MAKE_PREDICTOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "experiments/infer/predictor.h"
#include "experiments/spec/method.proto.h"
#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// `input` is the input spec that the models were trained with. Puts the models in evaluation mode; MC-dropout then
// switches on only their dropout modules, not the training mode of batch norm. The masks are drawn from a generator
// that the predictor owns, seeded from `seed`; it remains the model's generator afterwards.
//
// For several passes m = 1..M (with dropout, or one per model), the logits are
//   log (1/M sum_m softmax(z_m))   for PROBABILITIES, so that softmax gives the mean probabilities,
//   1/M sum_m z_m                  for LOGITS.
// With p_m = softmax(z_m) and p = 1/M sum_m p_m, whatever is averaged, member_uncertainty consists of, with H in nats
// and sums in double: H(p) - 1/M sum_m H(p_m), or 0 if rounding makes it negative; 1/M sum_m H(p_m); and 1 - v / M,
// where v is the largest number of passes that agree on the class with the largest logit (in a pass, the first of equal
// ones). Input perturbation computes its gradients in evaluation mode and leaves none in the model. Several input
// perturbations share passes: one forward pass for the images as they are, one backward pass for each temperature, and
// a forward pass for each temperature and epsilon above 0. (4 temperatures and 11 epsilons, one of them 0: 41 and 4.)
// Precondition: one spec, or several input perturbations; one model, or `members` models for an ensemble.
std::unique_ptr<Predictor> MakePredictor(absl::Span<const InferenceSpec> specs, const InputSpec& input,
                                         std::vector<std::shared_ptr<Model>> models, uint64_t seed);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_INFER_MAKE_PREDICTOR_H_
