#include "experiments/arrays/fitted_heads.h"

#include "core/in_parallel.h"
#include "core/random.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// Ten samples of three classes.
const std::vector<float> kFeatures = {0, 1, 1, 0.5, 0.5, 0, 3, 1, 2.5, 2, 1, 2.5, 0, 3, 1, 4, 2, 2.5, 1.5, 1.5};
const std::vector<int64_t> kLabels = {0, 0, 0, 1, 1, 1, 2, 2, 2, 0};

LogisticRegressionSpec Spec(double c, double tolerance = 1e-12) {
  LogisticRegressionSpec spec;
  spec.set_c(c);
  spec.set_tolerance(tolerance);
  return spec;
}

// Only differences between classes matter to the softmax of the biases.
std::vector<double> WithMeanZero(const Eigen::VectorXd& bias) {
  std::vector<double> values;
  for (const double b : bias) values.push_back(b - bias.mean());
  return values;
}

// LogisticRegression(C=c, tol=1e-14) of scikit-learn 1.9.1: coef_ and intercept_, less the mean over the classes.
TEST(FitLogisticRegression, EqualsScikitLearn) {
  struct Case {
    double c;
    std::vector<double> weight, bias;
  };
  for (const Case& expected : {Case{1,
                                    {-0.52583373, -0.97687327, 0.66139452, 0.02562203, -0.13556079, 0.95125124},
                                    {2.63741174, -0.83476489, -1.80264685}},
                               Case{10,
                                    {-1.28222037, -2.50104441, 0.85576652, -0.03245588, 0.42645385, 2.5335003},
                                    {6.74116211, -0.56539434, -6.17576778}}}) {
    ASSERT_OK_AND_ASSIGN(const LinearMap head, FitLogisticRegression(Spec(expected.c), kFeatures, kLabels, 3));
    for (int i = 0; i < 6; ++i) EXPECT_NEAR(head.weight(i / 2, i % 2), expected.weight[i], 1e-6) << expected.c;
    const std::vector<double> bias = WithMeanZero(head.bias);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(bias[i], expected.bias[i], 2e-6) << expected.c;
  }
}

// For two classes scikit-learn has one row, w; here they are -w / 2 and w / 2, whose softmax is the same.
TEST(FitLogisticRegression, TwoClassesAreScikitLearnsSingleRow) {
  std::vector<float> features;
  std::vector<int64_t> labels;
  for (size_t i = 0; i < kLabels.size(); ++i) {
    if (kLabels[i] == 2) continue;
    labels.push_back(kLabels[i]);
    features.insert(features.end(), {kFeatures[2 * i], kFeatures[2 * i + 1]});
  }
  ASSERT_OK_AND_ASSIGN(const LinearMap head, FitLogisticRegression(Spec(1), features, labels, 2));
  EXPECT_NEAR(head.weight(1, 0) - head.weight(0, 0), 0.88351644, 1e-6);
  EXPECT_NEAR(head.weight(1, 1) - head.weight(0, 1), 0.82013562, 1e-6);
  EXPECT_NEAR(head.bias[1] - head.bias[0], -2.61157769, 2e-6);
  EXPECT_NEAR(head.weight(1, 0), -head.weight(0, 0), 1e-9);
}

std::vector<float> RandomFeatures(int64_t samples, int64_t dim, std::vector<int64_t>* labels, int classes) {
  RandomStream random(1, "features");
  std::vector<float> features;
  for (int64_t i = 0; i < samples; ++i) {
    labels->push_back(i % classes);
    for (int64_t d = 0; d < dim; ++d) {
      features.push_back(static_cast<float>(random.Normal() + (d == i % classes ? 1.5 : 0)));
    }
  }
  return features;
}

// More rows than a block has.
TEST(FitLogisticRegression, SameBitsOnAnyNumberOfThreads) {
  std::vector<int64_t> labels;
  const std::vector<float> features = RandomFeatures(1500, 8, &labels, 5);
  const LinearMap all = FitLogisticRegression(Spec(1, 1e-7), features, labels, 5).value();
  LimitThreads(1);
  const LinearMap one = FitLogisticRegression(Spec(1, 1e-7), features, labels, 5).value();
  LimitThreads(64);
  EXPECT_EQ(all.weight, one.weight);
  EXPECT_EQ(all.bias, one.bias);
  EXPECT_EQ(Logits(all, features), Logits(one, features));
}

TEST(FitLogisticRegression, SaysWhatItCanNotDo) {
  EXPECT_THAT(FitLogisticRegression(Spec(1), kFeatures, std::vector<int64_t>(10, 0), 1).status().message(),
              HasSubstr("one known class only"));
  LogisticRegressionSpec hasty = Spec(1);
  hasty.set_steps(2);
  const absl::Status status = FitLogisticRegression(hasty, kFeatures, kLabels, 3).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(status.message(), HasSubstr("after 2 steps, the largest gradient is "));
}

// Means (0, 2) of class 0 and (4, 0) of class 1: logits 2 x_1 - 2 and 4 x_0 - 8.
TEST(FitClassMeans, LogitsDifferAsSquaredDistances) {
  const LinearMap head = FitClassMeans({0, 1, 0, 3, 4, 0}, {0, 0, 1}, 2);
  EXPECT_THAT(Logits(head, {0, 0, 4, 0, 1, 3}), ElementsAre(-2, -8, -2, 8, 4, -4));
  // |x - m_0|^2 - |x - m_1|^2 = 2 (logit_1 - logit_0): (1, 3) has 2 and 18.
  EXPECT_EQ(2 - 18, 2 * (-4 - 4));
}

}  // namespace
}  // namespace openset
