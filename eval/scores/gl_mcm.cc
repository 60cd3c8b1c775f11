// GL-MCM: maximum concept matching of an image and of its places (Miyai et al. 2025).
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// -max_c softmax(z_0 / T)_c - weight max_{p, c} softmax(z_p / T)_c, z_0 [K] the cosines of the image and z_p of
// place p = 1 .. P with the K texts; in [-1 - weight, 0). P = 0: without the second term. get_ood_scores_clip() of the
// authors (utils/detection_util.py, GL-MCM), which computes the cosines from CLIP's features.
class GlMcm : public Score {
 public:
  explicit GlMcm(const GlMcmSpec& spec) : spec_(spec) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override {
    OPENSET_ASSIGN_OR_RETURN(const int64_t classes, ClassesOf(input));
    return ScoreLogitRows(input, [&](absl::Span<const float> logits) {
      const auto largest = [&](int64_t first) {
        return 1 / (1 + SumSoftmax(logits.subspan(first, classes), spec_.temperature()).rest);
      };
      double local = 0;
      for (int64_t p = 1; p <= spec_.places(); ++p) local = std::max(local, largest(p * classes));
      return -largest(0) - spec_.weight() * local;
    });
  }

  absl::StatusOr<std::optional<std::vector<int32_t>>> Predictions(const ScoreInput& input,
                                                                  int64_t num_classes) const override {
    OPENSET_ASSIGN_OR_RETURN(const int64_t classes, ClassesOf(input));
    if (classes != num_classes) {
      return absl::InvalidArgumentError(absl::StrCat("gl_mcm: ", input.num_outputs, " outputs of an image and ",
                                                     spec_.places(), " places are ", classes,
                                                     " classes, and there are ", num_classes, " (num_classes)"));
    }
    OPENSET_RETURN_IF_ERROR(CheckLogits(input));
    std::vector<int32_t> predictions(input.num_samples);
    for (int64_t i = 0; i < input.num_samples; ++i) predictions[i] = ArgMax(LogitsOf(input, i).first(classes));
    return predictions;
  }

 private:
  absl::StatusOr<int64_t> ClassesOf(const ScoreInput& input) const {
    const int64_t parts = 1 + spec_.places();
    if (input.num_outputs > 0 && input.num_outputs % parts == 0) return input.num_outputs / parts;
    return absl::InvalidArgumentError(absl::StrCat("gl_mcm: ", input.num_outputs,
                                                   " outputs are not as many for an image as for each of ",
                                                   spec_.places(), " places"));
  }

  const GlMcmSpec spec_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const GlMcmSpec& spec) { return std::make_unique<GlMcm>(spec); }

}  // namespace openset
