// Input perturbation (ODIN): a small step of each pixel, by the gradient of the predicted class.
#ifndef OPENSET_EXPERIMENTS_INFER_INPUT_PERTURBATION_H_
#define OPENSET_EXPERIMENTS_INFER_INPUT_PERTURBATION_H_

#include <memory>

#include "absl/types/span.h"
#include "experiments/infer/predictor.h"
#include "experiments/spec/method.proto.h"
#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// One prediction for each spec; they share passes (make_predictor.h). Precondition: all are input perturbations.
std::unique_ptr<Predictor> MakeInputPerturbation(absl::Span<const InferenceSpec> specs, const InputSpec& input,
                                                 std::shared_ptr<Model> model);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_INFER_INPUT_PERTURBATION_H_
