#include "eval/scores/float_panels.h"

#include <array>
#include <cmath>
#include <limits>

#include "core/random.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

constexpr int64_t kNumQueries = 2 * FloatPanels::kQueries;

Eigen::MatrixXf Random(int64_t rows, int64_t columns, const char* name) {
  RandomStream random(1, name);
  return Eigen::MatrixXf::NullaryExpr(rows, columns, [&] { return static_cast<float>(random.Normal()); });
}

TEST(FloatPanels, MultipliesEachVectorWithEachQuery) {
  for (const int64_t dim : {1, 3, 128}) {
    for (const int64_t count : {1, 16, 40}) {
      const Eigen::MatrixXf vectors = Random(dim, count, "vectors");
      const Eigen::MatrixXf queries = Random(dim, kNumQueries, "queries");
      const FloatPanels panels(vectors);
      ASSERT_EQ(panels.num_panels(), (count + 15) / 16);
      const std::array<float, kNumQueries> bounds = {};
      std::array<float, FloatPanels::kWidth * kNumQueries> products;
      std::array<bool, kNumQueries> is_above;
      for (int64_t n = 0; n < 16 * panels.num_panels(); ++n) {
        panels.Multiply(n / 16, queries, bounds.data(), products.data(), is_above.data());
        for (int64_t j = 0; j < kNumQueries; ++j) {
          const float product = products[16 * j + n % 16];
          if (n >= count) {
            EXPECT_EQ(product, 0);
            continue;
          }
          const Eigen::VectorXd terms = vectors.col(n).cast<double>().cwiseProduct(queries.col(j).cast<double>());
          EXPECT_NEAR(product, terms.sum(), dim * std::numeric_limits<float>::epsilon() * terms.cwiseAbs().sum());
        }
      }
    }
  }
}

TEST(FloatPanels, SaysWhichQueriesReachTheirBound) {
  Eigen::MatrixXf vectors(1, 18);  // -17, ..., -1, 0: in the panels -17 .. -2 and -1, 0
  for (int i = 0; i < 18; ++i) vectors(0, i) = static_cast<float>(i - 17);
  const FloatPanels panels(vectors);
  const Eigen::MatrixXf queries = Eigen::MatrixXf::Ones(1, 4);
  const std::array<float, 4> bounds = {-2, std::nextafter(-2.0f, 0.0f), -std::numeric_limits<float>::infinity(), 0};
  std::array<float, 16 * 4> products;
  std::array<bool, 4> is_above;
  panels.Multiply(0, queries, bounds.data(), products.data(), is_above.data());
  EXPECT_EQ(is_above, (std::array<bool, 4>{true, false, true, false}));
  panels.Multiply(1, queries, bounds.data(), products.data(), is_above.data());
  EXPECT_EQ(is_above, (std::array<bool, 4>{true, true, true, true}));
}

}  // namespace
}  // namespace openset
