// One forward pass.
#ifndef OPENSET_EXPERIMENTS_INFER_PLAIN_PREDICTOR_H_
#define OPENSET_EXPERIMENTS_INFER_PLAIN_PREDICTOR_H_

#include <memory>
#include <utility>
#include <vector>

#include "experiments/infer/predictor.h"
#include "models/model.h"

namespace openset {

class PlainPredictor : public Predictor {
 public:
  explicit PlainPredictor(std::shared_ptr<Model> model) : model_(std::move(model)) {}

  std::vector<Prediction> Predict(const at::Tensor& image) override { return {{model_->Forward(image), {}, {}}}; }

 private:
  const std::shared_ptr<Model> model_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_INFER_PLAIN_PREDICTOR_H_
