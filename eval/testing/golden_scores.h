// Golden values of scores, in eval/testdata.
#ifndef OPENSET_EVAL_TESTING_GOLDEN_SCORES_H_
#define OPENSET_EVAL_TESTING_GOLDEN_SCORES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "eval/scores/score.h"
#include "eval/testing/golden.h"

namespace openset {
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

// ---- Golden values of scores: eval/testdata/post_hoc_scores.json, openood_scores.json, and files of their form.

// A model's outputs for training samples and others: 4 classes and 8 features in post_hoc_scores.json, made by
// tools/peers/make_score_golden.py; a real network's in openood_scores.json, with the results of other projects'
// released code (make_openood_golden.py).
class PostHocGolden {
 public:
  // The object at `path` of eval/testdata/`file`; "" for the whole file.
  explicit PostHocGolden(absl::string_view file = "post_hoc_scores.json", absl::string_view path = "");
  // Fits `score` and fails the test if it is not within `tolerance` of the expected values of `name`, relative to
  // those above 1.
  void Expect(Score* score, absl::string_view name, double tolerance) const;

  // These refer to this object.
  ScoreInput Train() const;
  ScoreInput Test() const;
  const std::vector<int32_t>& train_labels() const { return labels_; }
  // Directions for 3 perturbed heads of weiper_kld, [3 * K * D].
  const std::vector<double>& weiper_noise() const;

  // The same of scores for Test().
  void ExpectScores(const std::vector<double>& scores, absl::string_view name, double tolerance) const;
  const std::vector<double>& expected(absl::string_view name) const;

 private:
  ScoreInput Input(const std::vector<float>& logits, const std::vector<float>& features,
                   const std::vector<float>& perturbed) const;

  GoldenCase golden_;
  std::vector<float> train_logits_, train_features_, train_perturbed_, logits_, features_, perturbed_, weight_, bias_;
  std::vector<int32_t> labels_;
  std::vector<int64_t> stage_widths_;  // of the features, seen as the values of several stages
};

}  // namespace openset

#endif  // OPENSET_EVAL_TESTING_GOLDEN_SCORES_H_
