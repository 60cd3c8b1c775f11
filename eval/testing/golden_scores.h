// Golden values of eval/testdata/scores.json.
#ifndef OPENSET_EVAL_TESTING_GOLDEN_SCORES_H_
#define OPENSET_EVAL_TESTING_GOLDEN_SCORES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "eval/scores/score.h"
#include "eval/testing/golden.h"

namespace openset {
namespace testing {

// 24 rows of 5 logits, some of them +-1000.
class GoldenScores {
 public:
  GoldenScores();
  // Refers to this object.
  ScoreInput Input() const;
  const GoldenCase& golden() const { return golden_; }

  // Fails the test if `score` is not within 1e-12 of a row's expected value, relative to values above 1.
  void Expect(const Score& score, absl::string_view name) const;

 private:
  GoldenCase golden_;
  std::vector<float> logits_;
};

}  // namespace testing
}  // namespace openset

#endif  // OPENSET_EVAL_TESTING_GOLDEN_SCORES_H_
