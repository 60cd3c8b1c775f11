#include "core/testing/tensor_matchers.h"

#include <cstdint>
#include <vector>

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

}  // namespace openset
