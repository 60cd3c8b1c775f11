// The mean over several passes: with dropout, or through several models.
#ifndef OPENSET_EXPERIMENTS_INFER_MEAN_PREDICTOR_H_
#define OPENSET_EXPERIMENTS_INFER_MEAN_PREDICTOR_H_

#include <memory>
#include <optional>
#include <vector>

#include "core/tensor/torch_generator.h"
#include "experiments/infer/predictor.h"
#include "experiments/spec/method.proto.h"
#include "models/model.h"

namespace openset {

struct MeanOptions {
  int passes = 1;  // through each model
  AverageOver average = PROBABILITIES;
  bool member_uncertainty = false;  // also the disagreement of all passes
  // What dropout draws from, if it is on.
  std::optional<at::Generator> generator;
};

// Formulas: make_predictor.h.
std::unique_ptr<Predictor> MakeMeanPredictor(std::vector<std::shared_ptr<Model>> models, MeanOptions options);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_INFER_MEAN_PREDICTOR_H_
