#include "eval/report/sample_comparison.h"

#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "eval/testing/golden.h"

namespace openset {
namespace {

// 200 known and 200 unknown samples of one class, scores normal with unit variance and means `shift` apart.
struct Method : Samples {
  Method(double shift, uint64_t seed) {
    prediction.assign(400, 0);
    RandomStream random(seed, "method");
    for (int i = 0; i < 400; ++i) {
      label.push_back(i < 200 ? 0 : kUnknownLabel);
      unknown_score.push_back(random.Normal() + (i < 200 ? 0 : shift));
    }
  }

  RankedInput Ranked() const { return RankedInput(Input()); }
};

std::vector<MetricSpec> Metrics() {
  std::vector<MetricSpec> metrics(2);
  metrics[0].mutable_auroc();
  metrics[1].mutable_fpr_at_95tpr();
  return metrics;
}

BootstrapOptions Options() {
  BootstrapOptions options;
  options.replicates = 200;
  return options;
}

TEST(CompareOnSamples, NamesTheBetterForEitherDirection) {
  const Method weak(0.5, 1), strong(3, 2);
  const RankedInput a = weak.Ranked(), b = strong.Ranked();
  ASSERT_OK_AND_ASSIGN(const SampleComparison comparison,
                       CompareOnSamples(Metrics(), {"weak", "strong"}, {&a, &b}, Options()));
  ASSERT_EQ(comparison.rows.size(), 3);  // auroc twice: bootstrap, DeLong
  EXPECT_LT(*comparison.rows[0].difference, 0);
  EXPECT_GT(*comparison.rows[2].difference, 0);  // a larger FPR is worse
  for (const ComparedMetric& row : comparison.rows) {
    EXPECT_EQ(row.verdict, "strong is better");
    EXPECT_EQ(row.adjusted_p_value, row.p_value);  // one pair
  }
  EXPECT_THAT(FormatSampleComparison(comparison, TextFormat::kText), HasSubstr("strong is better"));
  EXPECT_THAT(FormatSampleComparison(comparison, TextFormat::kCsv), HasSubstr("auroc,weak,strong,delong,"));
}

TEST(CompareOnSamples, DeLongAloneDrawsNothing) {
  const Method weak(0.5, 1), strong(3, 2);
  const RankedInput a = weak.Ranked(), b = strong.Ranked();
  BootstrapOptions options = Options();
  ASSERT_OK_AND_ASSIGN(const SampleComparison both, CompareOnSamples(Metrics(), {"a", "b"}, {&a, &b}, options));
  options.replicates = 1000000000;  // which would take a year
  std::vector<MetricSpec> auroc(1);
  auroc[0].mutable_auroc();
  ASSERT_OK_AND_ASSIGN(const SampleComparison comparison,
                       CompareOnSamples(auroc, {"a", "b"}, {&a, &b}, options, std::nullopt, /*prefer_delong=*/true));
  ASSERT_EQ(comparison.rows.size(), 1);
  EXPECT_EQ(comparison.rows[0].test, "delong");
  EXPECT_EQ(comparison.rows[0].low, both.rows[1].low);
  EXPECT_EQ(comparison.rows[0].p_value, both.rows[1].p_value);
  EXPECT_EQ(comparison.interval, "95 % interval of the difference (DeLong)");
  // A metric without DeLong's test has the bootstrap.
  ASSERT_OK_AND_ASSIGN(const SampleComparison mixed,
                       CompareOnSamples(Metrics(), {"a", "b"}, {&a, &b}, Options(), std::nullopt, true));
  ASSERT_EQ(mixed.rows.size(), 2);
  EXPECT_EQ(mixed.rows[0].test, "delong");
  EXPECT_EQ(mixed.rows[1].low, both.rows[2].low);
}

TEST(CompareOnSamples, ASentenceForEachPair) {
  const Method weak(0.5, 1), strong(3, 2), near(0.55, 1);
  const RankedInput a = weak.Ranked(), b = strong.Ranked(), c = near.Ranked();
  ASSERT_OK_AND_ASSIGN(const SampleComparison comparison,
                       CompareOnSamples(Metrics(), {"weak+p", "strong+p", "near+p"}, {&a, &b, &c}, Options()));
  const std::vector<std::string> sentences =
      absl::StrSplit(FormatSampleComparison(comparison, TextFormat::kSentence), '\n', absl::SkipEmpty());
  ASSERT_EQ(sentences.size(), 3 * 2);  // each pair by each metric; AUROC by DeLong's test
  EXPECT_THAT(sentences[0], AllOf(StartsWith("On the same test samples, weak+p had "),
                                  HasSubstr(" points less AUROC than strong+p (95 % interval "),
                                  HasSubstr(" after Holm over 3 comparisons; DeLong's test).")));
  EXPECT_THAT(sentences[1], HasSubstr("; paired bootstrap)."));
  // The table has short names, and says what all end in.
  EXPECT_THAT(
      FormatSampleComparison(comparison, TextFormat::kText),
      AllOf(HasSubstr("all methods: +p\n"), HasSubstr("\nweak - strong  worse "), HasSubstr("\nOn the same test")));
}

TEST(CompareOnSamples, OneMethodAgainstItself) {
  const Method method(1, 1);
  const RankedInput a = method.Ranked();
  ASSERT_OK_AND_ASSIGN(const SampleComparison comparison, CompareOnSamples(Metrics(), {"a", "b"}, {&a, &a}, Options()));
  for (const ComparedMetric& row : comparison.rows) {
    EXPECT_EQ(*row.difference, 0);
    EXPECT_EQ(row.verdict, "no detectable difference");
  }
}

// Holm: of p-values p <= q <= r the smallest is tripled.
TEST(CompareOnSamples, SeveralPairsAreAdjusted) {
  const Method weak(0.5, 1), medium(1.5, 2), strong(3, 3);
  const RankedInput a = weak.Ranked(), b = medium.Ranked(), c = strong.Ranked();
  std::vector<MetricSpec> metrics(1);
  metrics[0].mutable_auroc();
  ASSERT_OK_AND_ASSIGN(const SampleComparison comparison,
                       CompareOnSamples(metrics, {"a", "b", "c"}, {&a, &b, &c}, Options()));
  ASSERT_EQ(comparison.rows.size(), 6);
  double smallest = 1, smallest_adjusted = 1;
  for (const ComparedMetric& row : comparison.rows) {
    if (row.test != "delong" || row.p_value >= smallest) continue;
    smallest = row.p_value;
    smallest_adjusted = row.adjusted_p_value;
  }
  EXPECT_DOUBLE_EQ(smallest_adjusted, 3 * smallest);
  EXPECT_THAT(FormatSampleComparison(comparison, TextFormat::kText), HasSubstr("p (Holm)"));
}

// Ten pairs of methods that differ a little: a verdict never contradicts its numbers.
TEST(CompareOnSamples, IntervalsAtHolmsLevelsAgreeWithVerdicts) {
  std::vector<Method> methods;
  for (const double shift : {1.0, 1.15, 1.3, 1.4, 1.6}) methods.emplace_back(shift, 1 + methods.size());
  std::vector<RankedInput> ranked;
  std::vector<const RankedInput*> pointers;
  for (const Method& method : methods) ranked.push_back(method.Ranked());
  for (const RankedInput& input : ranked) pointers.push_back(&input);
  ASSERT_OK_AND_ASSIGN(const SampleComparison comparison,
                       CompareOnSamples(Metrics(), {"a", "b", "c", "d", "e"}, pointers, Options()));
  ASSERT_EQ(comparison.rows.size(), 30);
  int detectable = 0, alone = 0;
  for (const ComparedMetric& row : comparison.rows) {
    const bool leaves_out_zero = row.adjusted.low > 0 || row.adjusted.high < 0;
    EXPECT_EQ(leaves_out_zero, row.verdict != "no detectable difference") << row.metric << row.test << row.a << row.b;
    EXPECT_EQ(leaves_out_zero, row.adjusted_p_value < 0.05);
    EXPECT_GE(row.adjusted.confidence, 0.95 - 1e-12);
    EXPECT_LE(row.adjusted.low, row.low);
    EXPECT_GE(row.adjusted.high, row.high);
    detectable += leaves_out_zero;
    alone += !leaves_out_zero && (row.low > 0 || row.high < 0);
  }
  EXPECT_GT(detectable, 0);
  EXPECT_GT(alone, 0);  // for these the interval of the pair alone would have contradicted the verdict
  const std::string text = FormatSampleComparison(comparison, TextFormat::kText);
  EXPECT_THAT(text,
              HasSubstr("low, high: 95 % interval of the difference (bca, 200 replicates, seed 0; DeLong) of this pair "
                        "alone; low, high (Holm):\n  the interval at the level of Holm's procedure"));
  EXPECT_THAT(FormatSampleComparison(comparison, TextFormat::kJson), HasSubstr("\"low_holm\""));
  EXPECT_THAT(FormatSampleComparison(comparison, TextFormat::kCsv),
              HasSubstr(",low_holm,high_holm,confidence_holm,detects\n"));
}

// The bootstrap's standard error is that of DeLong's test: 200 replicates give it to about 1 / sqrt(400) = 5 %, and 6
// standard deviations of that are 30 %.
TEST(CompareOnSamples, SaysWhatCouldNotBeDetected) {
  const Method weak(0.5, 1), near(0.55, 2);
  const RankedInput a = weak.Ranked(), b = near.Ranked();
  ASSERT_OK_AND_ASSIGN(const SampleComparison comparison, CompareOnSamples(Metrics(), {"a", "b"}, {&a, &b}, Options()));
  ASSERT_EQ(comparison.rows[0].test, "bootstrap");
  ASSERT_EQ(comparison.rows[1].test, "delong");
  EXPECT_NEAR(comparison.rows[0].detectable / comparison.rows[1].detectable, 1, 0.3);
  // 0.8416 + 1.9600, the quantiles of 0.8 and 0.975.
  EXPECT_NEAR(comparison.rows[1].detectable, 2.8016 * comparison.rows[1].standard_error, 1e-4);
  const std::vector<std::string> sentences =
      absl::StrSplit(FormatSampleComparison(comparison, TextFormat::kSentence), '\n', absl::SkipEmpty());
  for (const std::string& sentence : sentences) {
    EXPECT_THAT(sentence, HasSubstr("no difference in "));
    EXPECT_THAT(sentence, HasSubstr(" With these samples, differences below about "));
    EXPECT_THAT(sentence, Not(HasSubstr("e+")));
  }
  EXPECT_THAT(FormatSampleComparison(comparison, TextFormat::kJson), HasSubstr("\"detects\": 0."));
}

TEST(CompareOnSamples, TablesAreInOnePiece) {
  const Method weak(0.5, 1), medium(1.5, 2), strong(3, 3);
  const RankedInput a = weak.Ranked(), b = medium.Ranked(), c = strong.Ranked();
  for (const size_t letters : {10, 25, 60}) {
    const std::string longer(letters, 'n');
    ASSERT_OK_AND_ASSIGN(
        const SampleComparison comparison,
        CompareOnSamples(Metrics(), {longer + "a", longer + "b", longer + "c"}, {&a, &b, &c}, Options()));
    int heads = 0;
    for (const absl::string_view line : absl::StrSplit(FormatSampleComparison(comparison, TextFormat::kText), '\n')) {
      EXPECT_LE(line.size(), 120) << line;
      heads += absl::StartsWith(line, "a - b");
    }
    EXPECT_EQ(heads, 2) << letters;  // of two metrics
  }
}

TEST(CompareOnSamples, OtherSamplesAreRefused) {
  const Method method(1, 1);
  const RankedInput a = method.Ranked();
  std::vector<double> score = {1, 2};
  std::vector<int32_t> zeros = {0, 0}, label = {0, -1};
  EvaluationInput::Arrays arrays{score, zeros, label, 1};
  const RankedInput b(*EvaluationInput::Create(arrays));
  EXPECT_THAT(CompareOnSamples(Metrics(), {"a", "b"}, {&a, &b}, Options()), IsInvalidArgument("a and b: "));
}

}  // namespace
}  // namespace openset
