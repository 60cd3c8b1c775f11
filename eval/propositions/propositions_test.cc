// Propositions 1 to 8 of OpenAUC (Wang et al. 2022): each builds the pair (h~, R~) or (h~, r~) of the proof from random
// data and checks the claim. A rejector is a score and the threshold kThreshold; class C + 1 is the unknown one.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "eval/curves/curves.h"
#include "eval/metrics/auroc.h"
#include "eval/metrics/openauc.h"
#include "eval/metrics/threshold_metric.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

constexpr double kThreshold = 0.5;
constexpr double kTolerance = 1e-12;
constexpr int kRounds = 200;

// 20 known samples of 4 classes, 6 to 20 unknown ones; distinct scores on [0, 1].
Samples RandomSamples(int round) {
  RandomStream random(1, absl::StrCat("propositions/", round));
  Samples samples;
  samples.num_classes = 4;
  const int unknown = 6 + static_cast<int>(random.Below(15));
  for (int i = 0; i < 20 + unknown; ++i) {
    const bool known = i < 20;
    samples.label.push_back(known ? static_cast<int32_t>(random.Below(4)) : kUnknownLabel);
    samples.prediction.push_back(known && random.Uniform() < 0.5 ? samples.label.back()
                                                                 : static_cast<int32_t>(random.Below(4)));
    samples.unknown_score.push_back(0.7 * random.Uniform() + (known ? 0 : 0.3));
  }
  return samples;
}

bool Rejected(const Samples& s, int i) { return s.unknown_score[i] > kThreshold; }
bool Unknown(const Samples& s, int i) { return s.label[i] == kUnknownLabel; }
bool Correct(const Samples& s, int i) { return s.label[i] == s.prediction[i]; }

int Count(const Samples& s, const std::function<bool(int)>& which) {
  int count = 0;
  for (int i = 0; i < s.label.size(); ++i) count += which(i);
  return count;
}

std::optional<int> First(const Samples& s, const std::function<bool(int)>& which) {
  for (int i = 0; i < s.label.size(); ++i) {
    if (which(i)) return i;
  }
  return std::nullopt;
}

int RejectedUnknown(const Samples& s) {
  return Count(s, [&](int i) { return Unknown(s, i) && Rejected(s, i); });
}
int RejectedKnown(const Samples& s) {
  return Count(s, [&](int i) { return !Unknown(s, i) && Rejected(s, i); });
}

double At(const ThresholdMetric& metric, const Samples& s) {
  return AtThreshold(metric, RankedInput(s.Input()), kThreshold).value;
}
double AurocOf(const Samples& s) { return *Auroc(RankedInput(s.Input())).value; }
double AccuracyOf(const Samples& s) { return *Compute("accuracy {}", RankedInput(s.Input())).value; }
double OpenAucOf(const Samples& s) { return *OpenAuc(RankedInput(s.Input())).value; }

// From the definition.
double PairsWhere(const Samples& s, const std::function<bool(int known, int unknown)>& which) {
  double pairs = 0;
  double count = 0;
  for (int k = 0; k < s.label.size(); ++k) {
    for (int u = 0; u < s.label.size(); ++u) {
      if (Unknown(s, k) || !Unknown(s, u)) continue;
      ++pairs;
      count += which(k, u);
    }
  }
  return count / pairs;
}

// Exchanges a rejected unknown sample with an accepted known one whose class is wrong: no TP, FP or FN of a known class
// changes. Repeated, no unknown sample is rejected any more, if there are as many such known samples as rejected
// unknown ones. (The paper asks for sum FP_i >= TP_{C+1}; its proof needs this many FP from known samples.)
TEST(Propositions, OneFAndYoudenDoNotSeeThatAllUnknownSamplesAreAccepted) {
  int checked = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Samples before = RandomSamples(round);
    const int wrong =
        Count(before, [&](int i) { return !Unknown(before, i) && !Correct(before, i) && !Rejected(before, i); });
    if (RejectedUnknown(before) == 0 || wrong < RejectedUnknown(before)) continue;
    ++checked;
    Samples after = before;
    while (const auto x1 = First(after, [&](int i) { return Unknown(after, i) && Rejected(after, i); })) {
      const auto x2 =
          First(after, [&](int i) { return !Unknown(after, i) && !Correct(after, i) && !Rejected(after, i); });
      std::swap(after.unknown_score[*x1], after.unknown_score[*x2]);
      after.prediction[*x1] = after.prediction[*x2];
    }
    EXPECT_EQ(RejectedUnknown(after), 0);
    for (const ThresholdMetric& metric : {OpenSetFMacro(), OpenSetFMicro(), YoudenMacro(), YoudenMicro()}) {
      EXPECT_NEAR(At(metric, after), At(metric, before), kTolerance) << round;
    }
    EXPECT_LE(OpenAucOf(after), OpenAucOf(before) + kTolerance);
  }
  EXPECT_GT(checked, 20);
}

// Accepts a rejected unknown sample as the class of a rejected known one, which is accepted too, and rightly: NAcc
// rises with each step although one more unknown sample is accepted, while TP > FP of class C + 1. A step takes one
// rejected known sample, of which there are FP_{C+1} < TP_{C+1}: the steps end at TP - FP > 0 rejected unknown samples.
// The TP = 0 of the paper cannot be reached: without rejected unknown samples AUS is 0 and NAcc at most lambda, which
// (h, R) may exceed.
TEST(Propositions, TwoNaccRisesWhileMoreUnknownSamplesAreAccepted) {
  int checked = 0;
  for (int round = 0; round < kRounds; ++round) {
    Samples s = RandomSamples(round);
    const int true_positive = RejectedUnknown(s);
    const int false_positive = RejectedKnown(s);
    if (true_positive <= false_positive || false_positive == 0) continue;
    ++checked;
    double nacc = At(NaccEq6(), s);
    while (const auto x2 = First(s, [&](int i) { return !Unknown(s, i) && Rejected(s, i); })) {
      const auto x1 = First(s, [&](int i) { return Unknown(s, i) && Rejected(s, i); });
      s.unknown_score[*x1] = s.unknown_score[*x2] = kThreshold;
      s.prediction[*x1] = s.prediction[*x2] = s.label[*x2];
      EXPECT_GT(At(NaccEq6(), s), nacc) << round;
      nacc = At(NaccEq6(), s);
    }
    EXPECT_EQ(RejectedUnknown(s), true_positive - false_positive);
    std::fill(s.unknown_score.begin(), s.unknown_score.end(), 0);
    EXPECT_LE(At(NaccEq6(0.5), s), 0.5);
  }
  EXPECT_GT(checked, 20);
}

// A correct known sample, an unknown one above it, and a wrong known one above both.
struct Triple {
  int correct;
  int unknown;
  int wrong;
};
std::optional<Triple> FindTriple(const Samples& s) {
  for (int x1 = 0; x1 < s.label.size(); ++x1) {
    if (Unknown(s, x1) || !Correct(s, x1)) continue;
    for (int x3 = 0; x3 < s.label.size(); ++x3) {
      if (!Unknown(s, x3) || s.unknown_score[x3] <= s.unknown_score[x1]) continue;
      for (int x2 = 0; x2 < s.label.size(); ++x2) {
        if (!Unknown(s, x2) && !Correct(s, x2) && s.unknown_score[x2] > s.unknown_score[x3]) return Triple{x1, x3, x2};
      }
    }
  }
  return std::nullopt;
}

// Exchanging the scores of the correct and the wrong sample leaves accuracy and AUROC as they were, and with them every
// function of the two; OpenAUC falls by the unknown samples between, over all pairs.
TEST(Propositions, AggregatesMissDifferencesThatOpenAucShows) {
  int checked = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Samples before = RandomSamples(round);
    const std::optional<Triple> triple = FindTriple(before);
    if (!triple.has_value()) continue;
    ++checked;
    Samples after = before;
    std::swap(after.unknown_score[triple->correct], after.unknown_score[triple->wrong]);
    EXPECT_EQ(AccuracyOf(after), AccuracyOf(before));
    EXPECT_EQ(AurocOf(after), AurocOf(before));
    EXPECT_EQ(AccuracyOf(after) * AurocOf(after), AccuracyOf(before) * AurocOf(before));
    // At the unknown sample's score, (h, r) is right on the correct and the unknown sample, (h~, r~) on one of them
    // only.
    EXPECT_LE(before.unknown_score[triple->correct], before.unknown_score[triple->unknown]);
    EXPECT_GT(after.unknown_score[triple->correct], after.unknown_score[triple->unknown]);
    const double between = Count(before, [&](int i) {
      return Unknown(before, i) && before.unknown_score[i] > before.unknown_score[triple->correct] &&
             before.unknown_score[i] < before.unknown_score[triple->wrong];
    });
    const double known = Count(before, [&](int i) { return !Unknown(before, i); });
    EXPECT_NEAR(OpenAucOf(before) - OpenAucOf(after), between / known / (before.label.size() - known), kTolerance);
    EXPECT_LT(OpenAucOf(after), OpenAucOf(before));
  }
  EXPECT_GT(checked, 100);
}

// The area under COTPR over OFPR is the probability of Eq. 12, with and without ties.
TEST(Propositions, FourTheAreaIsTheProbability) {
  for (int round = 0; round < kRounds; ++round) {
    Samples s = RandomSamples(round);
    if (round % 2 == 1) {
      for (double& score : s.unknown_score) score = std::round(8 * score) / 8;
    }
    double area = 0;
    const std::vector<CurvePoint> curve = OscrCurve(RankedInput(s.Input()));
    for (size_t i = 1; i < curve.size(); ++i) area += (curve[i].x - curve[i - 1].x) * (curve[i].y + curve[i - 1].y) / 2;
    const auto wins = [&](int k, int u) { return Correct(s, k) && s.unknown_score[u] > s.unknown_score[k]; };
    const auto ties = [&](int k, int u) { return Correct(s, k) && s.unknown_score[u] == s.unknown_score[k]; };
    EXPECT_NEAR(area, PairsWhere(s, wins) + PairsWhere(s, ties) / 2, kTolerance);
    EXPECT_NEAR(OpenAucOf(s), area, kTolerance);
  }
}

// The exchange of Proposition 1 costs OpenAUC the correct known samples that the unknown one falls below, over all
// pairs (Eq. 22); it is strictly less where there is one.
TEST(Propositions, FiveOpenAucSeesTheExchangeOfPropositionOne) {
  int checked = 0;
  int strict = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Samples before = RandomSamples(round);
    const auto x1 = First(before, [&](int i) { return Unknown(before, i) && Rejected(before, i); });
    const auto x2 =
        First(before, [&](int i) { return !Unknown(before, i) && !Correct(before, i) && !Rejected(before, i); });
    if (!x1.has_value() || !x2.has_value()) continue;
    ++checked;
    Samples after = before;
    std::swap(after.unknown_score[*x1], after.unknown_score[*x2]);
    after.prediction[*x1] = after.prediction[*x2];
    const double passed = Count(before, [&](int i) {
      return !Unknown(before, i) && Correct(before, i) && before.unknown_score[i] < before.unknown_score[*x1] &&
             before.unknown_score[i] > after.unknown_score[*x1];
    });
    const double known = Count(before, [&](int i) { return !Unknown(before, i); });
    EXPECT_NEAR(OpenAucOf(before) - OpenAucOf(after), passed / known / (before.label.size() - known), kTolerance);
    strict += OpenAucOf(after) < OpenAucOf(before);
  }
  EXPECT_GT(checked, 100);
  EXPECT_GT(strict, 50);
}

// TPR_{C+1} >= 1 - (1 - OpenAUC) / FPR_{C+1} at every threshold.
TEST(Propositions, SixOpenAucBoundsTheRejectedUnknownSamplesFromBelow) {
  for (int round = 0; round < kRounds; ++round) {
    Samples s = RandomSamples(round);
    if (round % 2 == 1) {
      for (double& score : s.unknown_score) score = std::round(8 * score) / 8;
    }
    const double openauc = OpenAucOf(s);
    for (const double threshold : s.unknown_score) {
      const auto above = [&](int i) { return s.unknown_score[i] > threshold; };
      const double known = Count(s, [&](int i) { return !Unknown(s, i); });
      const double fpr = Count(s, [&](int i) { return !Unknown(s, i) && above(i); }) / known;
      const double tpr = Count(s, [&](int i) { return Unknown(s, i) && above(i); }) / (s.label.size() - known);
      if (fpr == 0) continue;
      EXPECT_GE(tpr, 1 - (1 - openauc) / fpr - kTolerance);
    }
  }
}

// 1 - OpenAUC is the mean over pairs of [wrong] + [correct] [r_u <= r_k]; the product of the two errors (Eq. 13) is
// not.
TEST(Propositions, EightTheRiskIsASumOverPairs) {
  int differ = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Samples s = RandomSamples(round);
    const auto below = [&](int k, int u) { return s.unknown_score[u] <= s.unknown_score[k]; };
    const double risk = PairsWhere(s, [&](int k, int u) { return !Correct(s, k) || below(k, u); });
    EXPECT_NEAR(1 - *OpenAuc(RankedInput(s.Input()), TiedPairRule::NOTHING).value, risk, kTolerance);
    const double product = PairsWhere(s, [&](int k, int u) { return !Correct(s, k) && below(k, u); });
    differ += std::abs(product - risk) > 1e-3;
  }
  EXPECT_GT(differ, 100);
}

}  // namespace
}  // namespace openset
