#include "core/testing/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "core/testing/tensor_matchers.h"

namespace openset {

::testing::AssertionResult GradientsMatch(
    const std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>& function,
    const std::vector<at::Tensor>& inputs, const GradientCheckOptions& options) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& input : inputs) {
    copies.push_back(input.detach().to(at::kDouble, /*non_blocking=*/false, /*copy=*/true).contiguous());
    copies.back().set_requires_grad(true);
  }
  const at::Tensor value = function(copies);
  if (value.dim() != 0 || value.scalar_type() != at::kDouble) {
    return ::testing::AssertionFailure() << "the function's value is " << value.toString() << " with " << value.dim()
                                         << " dimensions, not an f64 scalar";
  }
  if (value.requires_grad()) value.backward();

  std::vector<at::Tensor> points;  // the copies without their history; they share memory
  for (const at::Tensor& copy : copies) points.push_back(copy.detach());
  for (size_t n = 0; n < copies.size(); ++n) {
    // A function that doesn't depend on an input leaves its gradient undefined.
    const at::Tensor gradient =
        (copies[n].grad().defined() ? copies[n].grad() : at::zeros_like(copies[n])).to(at::kCPU).flatten();
    const at::Tensor flat = points[n].view(-1);
    for (int64_t element = 0; element < flat.numel(); ++element) {
      const double x = flat[element].item<double>();
      flat[element].fill_(x + options.step);
      const double above = function(points).item<double>();
      flat[element].fill_(x - options.step);
      const double below = function(points).item<double>();
      flat[element].fill_(x);
      const double difference = (above - below) / (2 * options.step);
      const double backward = gradient[element].item<double>();
      // Also false for NaN.
      if (!(std::abs(backward - difference) <= options.tolerance * std::max(1.0, std::abs(difference)))) {
        return ::testing::AssertionFailure()
               << absl::StrFormat("input %d at %s: backward() gives %.12g, central differences %.12g", n,
                                  IndexText(copies[n].sizes(), element), backward, difference);
      }
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace openset
