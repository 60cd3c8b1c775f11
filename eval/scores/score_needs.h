// The inputs that a score needs, according to its spec.
#ifndef OPENSET_EVAL_SCORES_SCORE_NEEDS_H_
#define OPENSET_EVAL_SCORES_SCORE_NEEDS_H_

#include "eval/scores/score.pb.h"

namespace openset {

struct ScoreNeeds {
  bool fit = false;                 // Fit() before Compute()
  bool calibrates = false;          // fits to known samples that the network was not trained with, if there are any
  bool each_class = false;          // something is fitted to the samples of each label
  bool features = false;            // ScoreInput.features
  bool extra_output = false;        // an output beyond the known classes
  bool head = false;                // ScoreInput.head_weight and head_bias
  bool perturbed = false;           // ScoreInput.perturbed_features
  bool member_uncertainty = false;  // ScoreInput.member_uncertainty
  // ScoreInput.logits with their level: a constant that is added to all logits of a sample changes the score.
  bool logit_level = false;
  bool stage_means = false;   // ScoreInput.stage_values, of means over positions
  bool stage_states = false;  // the same, of activations times gradients
  bool stage_grams = false;   // the same, of Gram matrices
};

// A combination has the needs of its parts. No needs if the spec has no member; MakeScore() returns an error for it.
ScoreNeeds NeedsOf(const ScoreSpec& spec);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_SCORE_NEEDS_H_
