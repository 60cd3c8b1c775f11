#include "eval/scores/output_kind.h"

#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

constexpr int64_t kRows = 200;

// Logits of a network, [kRows, outputs].
std::vector<float> Logits(int64_t outputs) {
  RandomStream random(4, "outputs");
  std::vector<float> logits(kRows * outputs);
  for (float& logit : logits) logit = static_cast<float>(3 * random.Normal());
  return logits;
}

template <typename Change>
std::vector<float> Changed(std::vector<float> values, Change change) {
  for (float& value : values) value = static_cast<float>(change(static_cast<double>(value)));
  return values;
}

std::vector<float> SoftmaxOf(std::vector<float> logits, int64_t outputs) {
  for (size_t row = 0; row < logits.size(); row += outputs) {
    double sum = 0;
    for (int64_t c = 0; c < outputs; ++c) sum += std::exp(logits[row + c]);
    for (int64_t c = 0; c < outputs; ++c) logits[row + c] = static_cast<float>(std::exp(logits[row + c]) / sum);
  }
  return logits;
}

// To as many bits after the first one.
double Rounded(double value, int bits) {
  int exponent = 0;
  const double significand = std::frexp(value, &exponent);
  return std::ldexp(std::round(std::ldexp(significand, bits + 1)), exponent - bits - 1);
}

TEST(KindOf, FindsWhatASoftmaxMakes) {
  for (const int64_t outputs : {2, 3, 10, 1000}) {
    SCOPED_TRACE(outputs);
    const std::vector<float> logits = Logits(outputs), p = SoftmaxOf(logits, outputs);
    const auto kind = [&](const std::vector<float>& values) { return KindOf(values, outputs); };
    const std::vector<float> log_p = Changed(p, [](double value) { return std::log(value); });
    EXPECT_EQ(kind(logits), OutputKind::kLogits);
    EXPECT_EQ(kind(p), OutputKind::kProbabilities);
    EXPECT_EQ(kind(log_p), OutputKind::kLogProbabilities);
    for (const int bits : {10, 7}) {  // float16 and bfloat16
      const auto to_half = [bits](double value) { return Rounded(value, bits); };
      EXPECT_EQ(kind(Changed(p, to_half)), OutputKind::kProbabilities) << bits;
      EXPECT_EQ(kind(Changed(log_p, to_half)), OutputKind::kLogProbabilities) << bits;
    }
    EXPECT_EQ(kind(Changed(p, [](double value) { return value + 1e-5; })), OutputKind::kProbabilities);
    EXPECT_EQ(kind(Changed(p, [](double value) { return 100 * value; })), OutputKind::kPercentages);
    EXPECT_EQ(kind(Changed(p, [](double value) { return std::log(100 * value); })), OutputKind::kLogProbabilities);
    EXPECT_EQ(kind(Changed(logits, [](double value) { return 1 / (1 + std::exp(-value)); })), OutputKind::kWithinOne);
  }
}

TEST(KindOf, FindsRoundedProbabilities) {
  for (const int64_t outputs : {2, 3, 10}) {
    const std::vector<float> p = SoftmaxOf(Logits(outputs), outputs);
    for (const double scale : {100, 1000, 10000}) {
      const auto rounded = [scale](double value) { return std::round(scale * value) / scale; };
      EXPECT_EQ(KindOf(Changed(p, rounded), outputs), OutputKind::kProbabilities) << outputs << " " << scale;
    }
    const auto percent = [](double value) { return std::round(1000 * value) / 10; };
    EXPECT_EQ(KindOf(Changed(p, percent), outputs), OutputKind::kPercentages) << outputs;
  }
}

TEST(KindOf, EveryRowMustAgree) {
  EXPECT_EQ(KindOf({0.25f, 0.75f, 0.5f, 0.5f}, 2), OutputKind::kProbabilities);
  EXPECT_EQ(KindOf({0.25f, 0.75f, 0.5f, 0.75f}, 2), OutputKind::kWithinOne);
  EXPECT_EQ(KindOf({0.25f, 0.75f, 0.5f, 3.5f}, 2), OutputKind::kLogits);
  EXPECT_EQ(KindOf({0.25f, 0.7599f}, 2), OutputKind::kProbabilities);  // 1 % above
  EXPECT_EQ(KindOf({0.25f, 0.7611f}, 2), OutputKind::kWithinOne);
  EXPECT_EQ(KindOf({-0.25f, 1.25f}, 2), OutputKind::kLogits);  // sums to 1, but one is negative
  const float half = std::log(0.5f);
  EXPECT_EQ(KindOf({half, half, 0, -std::numeric_limits<float>::infinity()}, 2), OutputKind::kLogProbabilities);
  EXPECT_EQ(KindOf({half, half, half, half + 0.1f}, 2), OutputKind::kLogits);
  EXPECT_EQ(KindOf({half + 2, half + 2}, 2), OutputKind::kLogits);
}

TEST(KindOf, NeedsTwoOutputsAndNumbers) {
  EXPECT_EQ(KindOf({}, 3), OutputKind::kLogits);
  EXPECT_EQ(KindOf({1, 1}, 1), OutputKind::kLogits);
  EXPECT_EQ(KindOf({std::numeric_limits<float>::quiet_NaN(), 1}, 2), OutputKind::kLogits);
  EXPECT_EQ(KindOf({-std::numeric_limits<float>::infinity(), 1}, 2), OutputKind::kLogits);
}

TEST(CheckLevel, RefusesLogProbabilitiesForScoresThatReadTheLevel) {
  ScoreSpec energy, entropy;
  energy.mutable_energy();
  entropy.mutable_entropy();
  EXPECT_TRUE(CheckLevel(energy, OutputKind::kLogits).ok());
  EXPECT_TRUE(CheckLevel(entropy, OutputKind::kLogProbabilities).ok());
  EXPECT_THAT(CheckLevel(energy, OutputKind::kLogProbabilities),
              IsInvalidArgument("these are log-probabilities; energy is 0 for every sample"));
}

TEST(ExtraOutputText, IsForScoresThatTakeItForAClass) {
  const auto text = [](const std::string& score, int64_t outputs) {
    return ExtraOutputText(Parsed<ScoreSpec>(score), outputs, 4);
  };
  EXPECT_EQ(
      text("max_softmax {}", 5),
      "takes each of 5 outputs for a class, and there are 4: a sample looks known if the output for the unknown is "
      "large; the score extra_output reads the last output as the unknown's");
  EXPECT_THAT(text("max_softmax {}", 6), HasSubstr("if an output beyond the classes is large"));
  EXPECT_THAT(text("combine { score { knn {} } score { energy {} } }", 5), HasSubstr("takes each of 5 outputs"));
  for (const char* reads_it :
       {"extra_output {}", "neg_label {}", "gl_mcm { places: 1 }", "cooked { classifiers: 2 }", "knn {}",
        "mahalanobis {}", "mutual_information {}", "combine { score { knn {} } score { extra_output {} } }"}) {
    EXPECT_EQ(text(reads_it, 5), "");
  }
  EXPECT_EQ(text("max_softmax {}", 4), "");
}

}  // namespace
}  // namespace openset
