// Tests that every unknown score must pass.
#ifndef OPENSET_EVAL_TESTING_SCORE_CONFORMANCE_H_
#define OPENSET_EVAL_TESTING_SCORE_CONFORMANCE_H_

#include "eval/scores/score.pb.h"

namespace openset {
namespace testing {

// Properties of one score, beside what all scores have in common.
struct ScoreTraits {
  bool shift_changes_it = false;          // a constant added to all logits of a sample
  bool last_output_is_special = false;    // not a class like the others
  bool undecided_may_look_known = false;  // an undecided sample need not score higher than a confident one
  bool is_random = false;                 // draws for each class and feature: their order matters
};

// On random logits and on logits of +-1000, with features and a head that produces the logits: there is one finite
// score per sample, which doesn't depend on the other samples or the number of threads; renumbering classes and
// features changes nothing; a confident sample similar to the training samples scores lower than an undecided one
// unlike them; NaN and wrong shapes are refused with kInvalidArgument, NaN with its row, as are missing features or a
// missing head if the score needs them; a score that must be fitted says so; one whose needs say so, and no other,
// reads the level of the logits, and one that TakesOutputsForClasses(), and no other, depends on each. On logits and
// features as large as a float may be, the score is finite, or an error names the row; so it is on outputs of one
// class, or they are refused.
void CheckScore(const ScoreSpec& spec, const ScoreTraits& traits);

}  // namespace testing
}  // namespace openset

#endif  // OPENSET_EVAL_TESTING_SCORE_CONFORMANCE_H_
