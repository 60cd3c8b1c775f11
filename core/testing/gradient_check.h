// Compares gradients with finite differences.
#ifndef OPENSET_CORE_TESTING_GRADIENT_CHECK_H_
#define OPENSET_CORE_TESTING_GRADIENT_CHECK_H_

#include <functional>
#include <vector>

#include "core/tensor/torch.h"
#include "gtest/gtest.h"

namespace openset {

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

#endif  // OPENSET_CORE_TESTING_GRADIENT_CHECK_H_
