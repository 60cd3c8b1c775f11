// NegLabel: texts of known classes against texts of other things (Jiang et al. 2024; released code: clip_ood.py).
#include <algorithm>
#include <cmath>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// The outputs are the similarities of an image to the texts of the K known classes, then to M other texts, which are
// cut into G groups of floor(M / G); the rest is not used. -(mean over the groups g of the sum over c < K of p_c),
// where p is the softmax of z / temperature over the K classes and the texts of g; in [-1, 0]. The authors shuffle the
// texts before; here they stay in their order.
class NegLabel : public Score {
 public:
  explicit NegLabel(const NegLabelSpec& spec) : spec_(spec) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override {
    const int64_t known = input.num_outputs - spec_.other_texts(), groups = spec_.groups();
    const int64_t size = spec_.other_texts() / groups;
    if (known < 1) {
      return absl::InvalidArgumentError(absl::StrCat("neg_label: of ", input.num_outputs, " outputs, ",
                                                     spec_.other_texts(), " other_texts leave none for known classes"));
    }
    if (size < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("neg_label: ", spec_.other_texts(), " other_texts are too few for ", groups, " groups"));
    }
    return ScoreLogitRows(input, [&](absl::Span<const float> logits) {
      // The logarithm of the sum of exp(z / temperature).
      const auto log_sum = [&](absl::Span<const float> part) {
        const double largest = *std::max_element(part.begin(), part.end());
        double sum = 0;
        for (const float z : part) sum += std::exp((z - largest) / spec_.temperature());
        return largest / spec_.temperature() + std::log(sum);
      };
      const double of_known = log_sum(logits.first(known));
      double mean = 0;
      for (int64_t g = 0; g < groups; ++g) {
        mean += 1 / (1 + std::exp(log_sum(logits.subspan(known + g * size, size)) - of_known));
      }
      return -mean / static_cast<double>(groups);
    });
  }

 private:
  const NegLabelSpec spec_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const NegLabelSpec& spec) { return std::make_unique<NegLabel>(spec); }

}  // namespace openset
