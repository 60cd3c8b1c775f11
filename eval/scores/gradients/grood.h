// GROOD: the distance of the gradient of a nearest-centroid loss from those of training samples (ElAraby et al. 2023).
#ifndef OPENSET_EVAL_SCORES_GRADIENTS_GROOD_H_
#define OPENSET_EVAL_SCORES_GRADIENTS_GROOD_H_

#include <vector>

#include "Eigen/Core"
#include "eval/scores/score.h"

namespace openset {

// min_i |g(x) - g(x_i)|^2 in [0, 4] for features x [D] and those x_i of the correctly classified training samples,
// where g is the gradient of the cross entropy of softmax(-|x - m_1|, ..., -|x - m_K|, -|x - o|) with respect to o: in
// closed form, g(x) = q (x - o) / |x - o| (0 at o) for any label, where q is the last of these probabilities. m_c are
// the classes' mean features; o, which represents the unknown, is the mean of m_c. This is OpenOOD's use_proto_mean;
// its default computes o from unknown validation images, and the paper from mixtures in an early layer. OpenOOD
// searches a part of the training samples (an IVF index); this searches all.
class Grood : public Score {
 public:
  // Errors, beyond those of CheckFitInput and CheckFeatures: kInvalidArgument if no sample is classified correctly.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  // Replaces each column of `features` by its g.
  void ToGradients(Eigen::MatrixXd* features) const;

  Eigen::MatrixXd means_;      // [D, classes]
  Eigen::VectorXd unknown_;    // [D], o
  Eigen::MatrixXd gradients_;  // [D, correctly classified samples]
  Eigen::VectorXd squares_;    // of the lengths of their columns
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_GRADIENTS_GROOD_H_
