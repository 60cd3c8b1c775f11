// What every unknown score must pass.
#ifndef OPENSET_EVAL_SCORES_SCORE_CONFORMANCE_H_
#define OPENSET_EVAL_SCORES_SCORE_CONFORMANCE_H_

#include "eval/scores/score.pb.h"

namespace openset {
namespace testing {

// What holds of a score beyond what holds of all.
struct ScoreTraits {
  bool shift_changes_it = false;          // a constant added to all logits of a sample
  bool last_output_is_special = false;    // not a class like the others
  bool undecided_may_look_known = false;  // an undecided sample need not score higher than a confident one
  bool is_random = false;                 // draws for each class and feature: their order matters
};

// On random logits and on logits of +-1000, with features and a head that gives the logits: one finite score a sample,
// that of a sample alone and in any company, in one thread and in several; classes and features may be renumbered; a
// confident sample like the training samples scores lower than an undecided one unlike them; NaN and wrong shapes are
// refused with kInvalidArgument, NaN with its row; so are missing features and a missing head by a score that needs
// them; what must be fitted says so.
void CheckScore(const ScoreSpec& spec, const ScoreTraits& traits);

}  // namespace testing
}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_SCORE_CONFORMANCE_H_
