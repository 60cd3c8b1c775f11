// The rate at which CompareRuns finds a winner if there is none.
//
// Methods have the same mean; a run's value is the sum of an effect of the method on its split (standard deviation
// 0.02) and noise of the seed (0.01), all normal. Nominal level 5 %: the share of studies in which any verdict is a
// difference must be at most 7 %. With OPENSET_NULL_STUDIES studies (default 1000) and a true level of 5 % a share
// above 7 % has probability 0.3 % (2.9 standard deviations); of 20,000, as in the slow test, below 1e-37. The seeds are
// fixed: a test that passes once passes always.
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "eval/report/run_comparison.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

struct Design {
  const char* name;
  int methods;
  int splits;
  int seeds;
  double split_deviation;
};

double FalseWinners(const Design& design, int studies) {
  int found = 0;
  for (int study = 0; study < studies; ++study) {
    RandomStream random(17, absl::StrCat("null/", design.name, "/", study));
    RunTable table;
    table.metrics = {"auroc"};
    table.tasks = {"t"};
    for (int m = 0; m < design.methods; ++m) {
      table.methods.push_back(absl::StrCat("m", m));
      for (int split = 0; split < design.splits; ++split) {
        const double effect = design.split_deviation * random.Normal();
        for (int seed = 0; seed < design.seeds; ++seed) {
          table.value["auroc"][table.methods.back()]["t"][{absl::StrCat(split), absl::StrCat(seed)}] =
              0.8 + effect + 0.01 * random.Normal();
        }
      }
    }
    bool any = false;
    const RunComparison comparison = CompareRuns(table, {}, {}).value();
    for (const ComparedRuns& pair : comparison.pairs) any |= absl::EndsWith(pair.verdict, " is better");
    found += any;
  }
  return static_cast<double>(found) / studies;
}

TEST(CompareRuns, HoldsItsLevelUnderTheNull) {
  const char* wanted = std::getenv("OPENSET_NULL_STUDIES");
  const int studies = wanted == nullptr ? 1000 : std::atoi(wanted);
  for (const Design& design : {Design{"2 splits, 5 seeds", 2, 2, 5, 0.02}, Design{"5 splits, 3 seeds", 2, 5, 3, 0.02},
                               Design{"5 splits, 1 seed", 2, 5, 1, 0.02}, Design{"seeds only", 2, 5, 5, 0.0},
                               Design{"1 split, 5 seeds", 2, 1, 5, 0.0}, Design{"4 methods", 4, 5, 3, 0.02}}) {
    const double share = FalseWinners(design, studies);
    RecordProperty(design.name, absl::StrCat(share));
    EXPECT_LE(share, 0.07) << design.name;
    // It is not too cautious either: with five splits it rejects about as often as it may. With two, it rejects less
    // often, because the noise of seeds bounds the standard error from below.
    if (design.methods == 2 && design.splits == 5 && design.split_deviation > 0) {
      EXPECT_GE(share, 0.03) << design.name;
    }
  }
}

}  // namespace
}  // namespace openset
