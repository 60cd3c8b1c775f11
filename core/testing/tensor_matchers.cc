#include "core/testing/tensor_matchers.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace openset {
namespace {

std::string ShapeText(const at::Tensor& tensor) { return absl::StrCat("[", absl::StrJoin(tensor.sizes(), ", "), "]"); }

}  // namespace

at::Tensor Matrix(std::initializer_list<std::initializer_list<double>> rows) {
  std::vector<at::Tensor> tensors;
  for (const auto& row : rows) tensors.push_back(at::tensor(at::ArrayRef<double>(row), at::kDouble));
  return at::stack(tensors);
}

std::string IndexText(at::IntArrayRef sizes, int64_t element) {
  std::vector<int64_t> index(sizes.size());
  for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
    index[d] = element % sizes[d];
    element /= sizes[d];
  }
  return absl::StrCat("[", absl::StrJoin(index, ", "), "]");
}

std::string TensorDifference(const at::Tensor& actual, const at::Tensor& expected, double tolerance) {
  if (!actual.defined()) return "is an undefined tensor";
  if (actual.sizes() != expected.sizes()) {
    return absl::StrCat("has shape ", ShapeText(actual), " instead of ", ShapeText(expected));
  }
  const at::Tensor a = actual.detach().to(at::kCPU, at::kDouble).flatten();
  const at::Tensor e = expected.detach().to(at::kCPU, at::kDouble).flatten();
  // The difference of equal infinities is NaN.
  const at::Tensor where = a.eq(e).logical_or(a.sub(e).abs().le(tolerance)).logical_not().nonzero().flatten();
  if (where.numel() == 0) return "";
  const int64_t first = where[0].item<int64_t>();
  std::string text = absl::StrFormat("differs at %s: %.12g instead of %.12g", IndexText(actual.sizes(), first),
                                     a[first].item<double>(), e[first].item<double>());
  if (where.numel() > 1) absl::StrAppend(&text, ", and at ", where.numel() - 1, " more of ", a.numel());
  return text;
}

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
