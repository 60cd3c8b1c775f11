#include "eval/files/same_network.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "eval/metrics/evaluation_input.h"

namespace openset {
namespace {

constexpr int64_t kSamples = 50, kClasses = 3, kDim = 8;

// A linear network by `seed`, and its outputs for random samples by `sample_seed`.
SampleSet OutputsOf(uint64_t seed, uint64_t sample_seed, const std::string& path) {
  RandomStream network(seed, "network"), random(sample_seed, "samples");
  SampleSet samples;
  samples.path = path;
  samples.num_samples = kSamples;
  samples.num_outputs = kClasses;
  samples.feature_dim = kDim;
  samples.num_classes = kClasses;
  for (int64_t i = 0; i < kClasses * kDim; ++i) samples.head_weight.push_back(static_cast<float>(network.Normal()));
  for (int64_t k = 0; k < kClasses; ++k) samples.head_bias.push_back(static_cast<float>(network.Normal()));
  for (int64_t i = 0; i < kSamples; ++i) {
    samples.label.push_back(i < 40 ? static_cast<int32_t>(i % kClasses) : kUnknownLabel);
    for (int64_t d = 0; d < kDim; ++d) samples.features.Own().push_back(static_cast<float>(random.Normal()));
    for (int64_t k = 0; k < kClasses; ++k) {
      double logit = samples.head_bias[k];
      for (int64_t d = 0; d < kDim; ++d) {
        logit += static_cast<double>(samples.head_weight[k * kDim + d]) * samples.features[i * kDim + d];
      }
      samples.logits.Own().push_back(static_cast<float>(logit));
    }
  }
  return samples;
}

std::string HeadError(const SampleSet& samples) {
  return std::string(CheckHead(samples.Outputs(), samples.path).message());
}

TEST(CheckHead, FindsOtherRowsAndOtherClasses) {
  const SampleSet right = OutputsOf(1, 2, "a.npz");
  EXPECT_EQ(HeadError(right), "");
  SampleSet rows = right;
  std::vector<float>& features = rows.features.Own();
  std::rotate(features.begin(), features.begin() + kDim, features.end());
  EXPECT_THAT(HeadError(rows), AllOf(HasSubstr("a.npz: for "),
                                     HasSubstr(" of 50 samples, features * head_weight^T + head_bias is not")));
  SampleSet classes = right;
  for (int64_t i = 0; i < kSamples; ++i) {
    std::swap(classes.logits.Own()[i * kClasses], classes.logits.Own()[i * kClasses + 1]);
  }
  EXPECT_NE(HeadError(classes), "");
  SampleSet without_bias = right;
  without_bias.head_bias = {9, 9, 9};
  EXPECT_NE(HeadError(without_bias), "");
}

// One of many samples is enough, if all are checked.
TEST(CheckHead, FindsOneSample) {
  SampleSet samples = OutputsOf(1, 2, "a.npz");
  samples.logits.Own()[20 * kClasses] += 100;
  EXPECT_THAT(HeadError(samples), HasSubstr("for 1 of 50 samples"));
}

// bfloat16 keeps 8 bits, of which rounding is off by half of the last: 1 / 512 of the value.
TEST(CheckHead, ToleratesTheRoundingOfHalfPrecision) {
  SampleSet samples = OutputsOf(1, 2, "a.npz");
  for (size_t i = 0; i < samples.logits.size(); ++i)
    samples.logits.Own()[i] *= i % 2 == 0 ? 1 + 1.0F / 512 : 1 - 1.0F / 512;
  for (size_t i = 0; i < samples.features.size(); ++i) {
    samples.features.Own()[i] *= i % 2 == 0 ? 1 + 1.0F / 512 : 1 - 1.0F / 512;
  }
  EXPECT_EQ(HeadError(samples), "");
}

TEST(CheckHead, HasNothingToCheckWithoutAHead) {
  SampleSet samples = OutputsOf(1, 2, "a.npz");
  samples.logits.Own()[0] += 100;
  samples.head_weight.clear();
  EXPECT_EQ(HeadError(samples), "");
}

TEST(CheckSameNetwork, ComparesHeadsAndLogits) {
  const SampleSet test = OutputsOf(1, 2, "test.npz"), fit = OutputsOf(1, 3, "fit.npz"),
                  other = OutputsOf(4, 3, "other.npz");
  EXPECT_TRUE(CheckSameNetwork(fit, test).ok());
  EXPECT_EQ(CheckSameNetwork(other, test).message(),
            "other.npz: its head (head_weight, head_bias) differs from the one in test.npz: give outputs of the same "
            "network");
  SampleSet without = other;
  without.head_weight.clear();
  without.head_bias.clear();
  for (const absl::Status& status : {CheckSameNetwork(without, test), CheckSameNetwork(test, without)}) {
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("other.npz: for "), HasSubstr("with the head of test.npz, is not logits")));
  }
  without = fit;
  without.head_weight.clear();
  without.head_bias.clear();
  EXPECT_TRUE(CheckSameNetwork(without, test).ok());
}

TEST(CountShared, FindsTheSameRows) {
  const SampleSet a = OutputsOf(1, 2, "a.npz"), b = OutputsOf(1, 3, "b.npz");
  EXPECT_EQ(CountShared(a, b, false), 0);
  EXPECT_EQ(CountShared(a, a, false), kSamples);
  EXPECT_EQ(CountShared(a, a, true), 40);  // the others are unknown
  SampleSet some = b;                      // its first three samples are in the middle of a
  std::copy(a.features.begin() + 7 * kDim, a.features.begin() + 10 * kDim, some.features.Own().begin());
  EXPECT_EQ(CountShared(some, a, false), 3);
  // By logits, if one has no features.
  SampleSet logits = a;
  logits.features = MaybeBorrowed<float>();
  logits.feature_dim = 0;
  EXPECT_EQ(CountShared(logits, a, false), kSamples);
  EXPECT_EQ(CountShared(logits, b, false), 0);
}

// One of 200 samples may be the same by chance.
TEST(CountShared, OnePercentIsChance) {
  SampleSet a;
  a.num_samples = 200;
  a.num_outputs = 1;
  for (int i = 0; i < 200; ++i) {
    a.logits.Own().push_back(static_cast<float>(i));
    a.label.push_back(0);
  }
  SampleSet b = a;
  for (float& logit : b.logits.Own()) logit += 198;
  EXPECT_EQ(CountShared(a, b, false), 0);  // 198 and 199
  for (float& logit : b.logits.Own()) logit -= 1;
  EXPECT_EQ(CountShared(a, b, false), 3);
}

TEST(CountShared, ScoresAloneMustAllBeTheSame) {
  SampleSet a;
  a.num_samples = 3;
  a.label = {0, 0, -1};
  a.unknown_score = std::vector<double>{1, 2, 3};
  SampleSet b = a;
  EXPECT_EQ(CountShared(a, b, false), 3);
  b.unknown_score.Own()[2] = 4;
  EXPECT_EQ(CountShared(a, b, false), 0);
}

}  // namespace
}  // namespace openset
