#include "models/model.h"

#include <utility>
#include <vector>

#include "core/tensor/torch_precision.h"
#include "models/networks/dropout.h"

namespace openset {

void Backbone::SetGenerator(const at::Generator& generator) {
  for (const auto& [path, module] : named_modules()) {
    if (auto* dropout = dynamic_cast<Dropout*>(module); dropout != nullptr) dropout->SetGenerator(generator);
  }
}

Model::Model(std::shared_ptr<Backbone> backbone, std::shared_ptr<Head> head)
    : backbone_(register_module("backbone", std::move(backbone))), head_(register_module("head", std::move(head))) {}

ModelOutput Model::Forward(const at::Tensor& image, int norm_set) {
  return ForwardHead(backbone_->Forward(image, norm_set));
}

ModelOutput Model::ForwardHead(const at::Tensor& feature) {
  const FullPrecisionScope full_precision;
  // The head of a network that was converted as a whole has the type of its features.
  const std::vector<at::Tensor> parameters = head_->parameters();
  const bool is_converted = !parameters.empty() && IsReduced(parameters.front());
  return head_->Forward(is_converted ? feature : WithFullPrecision(feature));
}

}  // namespace openset
