// Tests that every loss term must pass.
#ifndef OPENSET_LOSSES_TESTING_LOSS_CONFORMANCE_H_
#define OPENSET_LOSSES_TESTING_LOSS_CONFORMANCE_H_

#include <ostream>
#include <string>

#include "losses/testing/loss_scene.h"

namespace openset {

struct LossCase {
  std::string spec;                   // as for TermSpec()
  bool zero_without_open = false;     // a term of open samples alone, or of pairs with them
  bool permutation_invariant = true;  // else the term depends on the batch's order
  bool finite_at_extremes = true;     // else it keeps a flaw of its source
  bool whole_gradients = true;        // else it stops some gradients on purpose
};

inline std::ostream& operator<<(std::ostream& out, const LossCase& loss_case) { return out << loss_case.spec; }

// backward() agrees with finite differences, in every output and parameter.
void ExpectRightGradients(const LossCase& loss_case);

// The value is a scalar of the outputs' dtype and device.
void ExpectScalar(const LossCase& loss_case);

// The order of known samples and the order of open samples don't matter.
void ExpectPermutationInvariance(const LossCase& loss_case);

// Value and gradients are finite for logits, features and distances of magnitude 1000 and for equal ones, in f32.
void ExpectFiniteAtExtremes(const LossCase& loss_case);

// Open samples of weight 0 have no effect. If all weights are 0, the gradient with respect to open samples is 0, and
// with zero_without_open so is the value.
void ExpectDroppedSamplesDontCount(const LossCase& loss_case);

// Value and gradient are computed without making the host wait for the device.
void ExpectNoSynchronisation(const LossCase& loss_case);

// Value and gradient on `device` are those on the CPU.
void ExpectSameOn(at::Device device, const LossCase& loss_case);

}  // namespace openset

#endif  // OPENSET_LOSSES_TESTING_LOSS_CONFORMANCE_H_
