// Matchers for tensors, which report the first difference.
#ifndef OPENSET_CORE_TESTING_TENSOR_MATCHERS_H_
#define OPENSET_CORE_TESTING_TENSOR_MATCHERS_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/tensor/torch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {

// f64 [rows, columns]. Precondition: all rows have the same length.
at::Tensor Matrix(std::initializer_list<std::initializer_list<double>> rows);

// "[1, 0]" for element 2 of a [2, 2] tensor in row-major order.
std::string IndexText(at::IntArrayRef sizes, int64_t element);

// The first element (row-major) that differs by more than `tolerance`, as in "differs at [1, 0]: 3 instead of 4, and at
// 2 more of 6", or the shapes if these differ; empty if there is no difference. Values are compared as f64, whatever
// the dtypes and devices; NaN differs from everything.
std::string TensorDifference(const at::Tensor& actual, const at::Tensor& expected, double tolerance);

// EXPECT_THAT(loss, TensorNear(at::tensor({0.5, 1.0}), 1e-9)); an absolute tolerance.
MATCHER_P2(TensorNear, expected, tolerance,
           std::string(negation ? "isn't" : "is") + " a tensor within " + ::testing::PrintToString(tolerance) +
               " of\n" + ::testing::PrintToString(expected)) {
  const std::string difference = TensorDifference(arg, expected, tolerance);
  *result_listener << difference;
  return difference.empty();
}

// The same shape, dtype and values.
MATCHER_P(TensorEq, expected, std::string(negation ? "isn't" : "is") + "\n" + ::testing::PrintToString(expected)) {
  if (arg.scalar_type() != expected.scalar_type()) {
    *result_listener << "is of dtype " << c10::toString(arg.scalar_type()) << " instead of "
                     << c10::toString(expected.scalar_type());
    return false;
  }
  const std::string difference = TensorDifference(arg, expected, 0);
  *result_listener << difference;
  return difference.empty();
}

// ---- Compares gradients with finite differences.

struct GradientCheckOptions {
  double step = 1e-5;  // h of the central difference (f(x + h) - f(x - h)) / 2h, with an error of the order h^2
  // The largest allowed |backward - difference|, relative to max(1, |difference|).
  double tolerance = 1e-7;
};

// EXPECT_TRUE(GradientsMatch(f, {x, y})): whether backward() of `function` at `inputs` agrees with central differences
// in every element of every input. The function gets copies of the inputs in f64 and returns an f64 scalar; it must be
// deterministic, and smooth within a step of each input. A failure names the first element (row-major) that differs.
::testing::AssertionResult GradientsMatch(
    const std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>& function,
    const std::vector<at::Tensor>& inputs, const GradientCheckOptions& options = {});

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_TENSOR_MATCHERS_H_
