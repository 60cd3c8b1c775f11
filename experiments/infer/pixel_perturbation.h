// A step of the pixels with the smallest gradients (PixelPerturbationSpec).
#ifndef OPENSET_EXPERIMENTS_INFER_PIXEL_PERTURBATION_H_
#define OPENSET_EXPERIMENTS_INFER_PIXEL_PERTURBATION_H_

#include <memory>

#include "experiments/infer/predictor.h"
#include "experiments/spec/method.proto.h"
#include "models/model.h"

namespace openset {

std::unique_ptr<Predictor> MakePixelPerturbation(const PixelPerturbationSpec& spec, std::shared_ptr<Model> model);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_INFER_PIXEL_PERTURBATION_H_
