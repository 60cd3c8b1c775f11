#include "models/model.h"

#include <utility>

#include "core/logging.h"
#include "core/tensor/torch_precision.h"
#include "models/networks/dropout.h"

namespace openset {

void Backbone::SetGenerator(const at::Generator& generator) {
  for (const auto& [path, module] : named_modules()) {
    if (auto* dropout = dynamic_cast<Dropout*>(module); dropout != nullptr) dropout->SetGenerator(generator);
  }
}

at::Tensor Backbone::ForwardFrom(int /*stage*/, const at::Tensor& /*x*/, std::vector<at::Tensor>* /*maps*/) {
  CHECK(false) << "a backbone without stages";
  return {};
}

Model::Model(std::shared_ptr<Backbone> backbone, std::shared_ptr<Head> head)
    : backbone_(register_module("backbone", std::move(backbone))), head_(register_module("head", std::move(head))) {}

ModelOutput Model::Forward(const at::Tensor& image, int norm_set) {
  return ForwardHead(backbone_->Forward(image, norm_set));
}

ModelOutput Model::ForwardFrom(int stage, const at::Tensor& x, std::vector<at::Tensor>* maps) {
  return ForwardHead(backbone_->ForwardFrom(stage, x, maps));
}

ModelOutput Model::ForwardHead(const at::Tensor& feature) {
  const FullPrecisionScope full_precision;
  // The head of a network that was converted as a whole has the type of its features.
  const std::vector<at::Tensor> parameters = head_->parameters();
  const bool is_converted = !parameters.empty() && IsReduced(parameters.front());
  return head_->Forward(is_converted ? feature : WithFullPrecision(feature));
}

}  // namespace openset
