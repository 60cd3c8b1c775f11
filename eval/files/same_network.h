// Checks that outputs are of one network, and finds samples that two sets of outputs share.
#ifndef OPENSET_EVAL_FILES_SAME_NETWORK_H_
#define OPENSET_EVAL_FILES_SAME_NETWORK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "eval/files/sample_set.h"
#include "eval/scores/score.h"

namespace openset {

// Refuses logits that are not features * head_weight^T + head_bias: of another network, or with rows or classes in
// another order. Logit k of a sample is refused if it is off by more than
//     0.1 (sqrt(sum_d (w_kd f_d)^2) + |b_k| + |logit_k|),
// many times the rounding of float16 and bfloat16. Up to 2^27 / (K D) samples are checked, at even distances. Without
// logits, features or a head there is nothing to check. Errors: kInvalidArgument with `path`, and with `head_of`, the
// file that the head is from, if that is another one.
absl::Status CheckHead(const ScoreInput& outputs, const std::string& path, absl::string_view head_of = "");

// Refuses outputs of two networks: if both have a head, it must be the same; if one has, it must give the logits of the
// other (CheckHead()). Errors: kInvalidArgument with both paths.
absl::Status CheckSameNetwork(const SampleSet& one, const SampleSet& other);

// The number of samples that `others` has, too: with the same bits in all features or, if one of them has none, in all
// logits. Without logits, all samples if labels and scores are the same, otherwise 0. Up to 1 % of the smaller set
// counts as chance: 0. `only_known`: of the others, only known samples count.
int64_t CountShared(const SampleSet& samples, const SampleSet& others, bool only_known);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_SAME_NETWORK_H_
