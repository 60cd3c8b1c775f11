#include <cmath>

#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

ModelOutput ViewOf(const at::Tensor& logits) { return {{}, logits, {}, {}}; }

TEST(JsdConsistency, IsTheMeanDivergenceFromTheMixture) {
  // Probabilities (3/4, 1/4) and (1/4, 3/4) of one sample, mixture (1/2, 1/2).
  LossScene scene = SceneOf(Matrix({{std::log(3), 0}}), {0});
  scene.views = {ViewOf(Matrix({{0, std::log(3)}}))};
  const double divergence = 0.75 * std::log(1.5) + 0.25 * std::log(0.5);
  EXPECT_NEAR(Value("lambda: 12 jsd_consistency { extra_views: 1 }", scene), 12 * divergence, 1e-14);
  EXPECT_NEAR(Value("jsd_consistency { extra_views: 1 }", scene), divergence, 1e-15);
}

TEST(JsdConsistency, IsTheMeanOverTheBatch) {
  // The same sample and one whose views agree.
  LossScene scene = SceneOf(Matrix({{std::log(3), 0}, {2, 1}}), {0, 0});
  scene.views = {ViewOf(Matrix({{0, std::log(3)}, {5, 4}}))};
  EXPECT_NEAR(Value("jsd_consistency { extra_views: 1 }", scene), (0.75 * std::log(1.5) + 0.25 * std::log(0.5)) / 2,
              1e-15);
}

TEST(JsdConsistency, Limits) {
  LossScene scene = SceneOf(Matrix({{1, 2, 3}}), {0});
  scene.views = {ViewOf(Matrix({{1, 2, 3}})), ViewOf(Matrix({{2, 3, 4}}))};
  EXPECT_NEAR(Value("jsd_consistency {}", scene), 0, 1e-14);
  // Three certain views that disagree: log 3, except for the effect of the bound on the mixture.
  scene.known.logits = Matrix({{1000, 0, 0}});
  scene.views = {ViewOf(Matrix({{0, 1000, 0}})), ViewOf(Matrix({{0, 0, 1000}}))};
  EXPECT_NEAR(Value("jsd_consistency {}", scene), std::log(3), 1e-14);
}

TEST(JsdConsistency, DoesNotDependOnTheOrderOfViews) {
  const at::Tensor a = Matrix({{1, 2, 0}}), b = Matrix({{0, 2, 1}}), c = Matrix({{3, 0, 1}});
  LossScene scene = SceneOf(a, {0});
  scene.views = {ViewOf(b), ViewOf(c)};
  const double value = Value("jsd_consistency {}", scene);
  scene.known.logits = c;
  scene.views = {ViewOf(a), ViewOf(b)};
  EXPECT_NEAR(Value("jsd_consistency {}", scene), value, 1e-14);
}

}  // namespace
}  // namespace openset
