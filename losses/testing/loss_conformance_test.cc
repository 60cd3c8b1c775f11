#include "losses/testing/loss_conformance.h"

#include <cctype>
#include <iterator>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// Exceptions, and forms with other settings. A kind without a line has one: its defaults.
const LossCase kForms[] = {
    {"cross_entropy {}"},
    {"objectosphere {}"},
    {"cross_entropy { label_smoothing: 0.3 temperature: 2 }"},
    {"cross_entropy { label_smoothing: 0.3 smoothing_target: ALL_CLASSES }"},
    {"cross_entropy { label_smoothing: 0.3 open_set_is_last_class: true }"},
    {"open_auc {}", /*zero_without_open=*/true},
    {"open_auc { mean: ALL_PAIRS }", true},
    {"open_auc { unknown_score: MIN_MISCLASSIFICATION }", true},
    {"open_auc { include_misclassified: true }", true},
    {"open_auc { surrogate: HINGE }", true},
    {"open_auc { surrogate: SQUARED_HINGE }", true},
    {"open_auc { surrogate: LOGISTIC }", true},
    {"open_auc { pairs: ALL }", true},
    {"open_auc { pairs: ALL mean: ALL_PAIRS }", true},
    {"open_auc { pairs: ALL surrogate: HINGE }", true},
    {"open_auc { pairs: ALL surrogate: LOGISTIC unknown_score: MIN_MISCLASSIFICATION }", true},
    {"outlier_exposure {}", true},
    {"energy_margin { known_margin: -2.5 open_margin: -1.5 }"},
    {"crl_ranking {}", false, /*permutation_invariant=*/false},
    {"crl_ranking { variant: UNIFIED_BENCHMARK }", false, false},
    {"evidential { kl_annealing_epochs: 10 }"},
    {"evidential { kl_annealing_epochs: 0 evidence: RELU objective: MEAN_SQUARE }"},
    {"evidential { evidence: SOFTPLUS objective: DIGAMMA }"},
    {"evidential { objective: CROSS_ENTROPY }"},
    {"confusing_samples {}", true},
    {"confusing_samples { entropy: RELEASED }", true, true, /*finite_at_extremes=*/false},
    {"cross_entropy { normalise_logits: true temperature: 0.04 }"},
    {"objectosphere { feature_weight: 0.1 known_length: 2 }"},
    {"class_anchor { anchor: 3 }"},
    // cider_test.cc checks the gradients of both its sums.
    {"cider {}", false, false, true, /*whole_gradients=*/false},
    {"cider { extra_views: 0 projection_dim: 2 }", false, false, true, false},
    {"cider { temperature: 0.005 }", false, false, true, false},
    {"outlier_energy {}", true},
    {"confidence_branch {}", false, false},
    {"mixed_cross_entropy {}", true},
    {"energy_constraint { margin: -1 }"},
    {"placeholder { open_weight: 0.5 }"},
};

const std::vector<LossCase>& Members() {
  static const std::vector<LossCase>* const kMembers = [] {
    auto* members = new std::vector<LossCase>(std::begin(kForms), std::end(kForms));
    const google::protobuf::OneofDescriptor* kind = LossTermSpec::descriptor()->FindOneofByName("kind");
    for (int i = 0; i < kind->field_count(); ++i) {
      const std::string name = absl::StrCat(kind->field(i)->name(), " ");
      const auto is_form_of_it = [&](const LossCase& form) { return absl::StartsWith(form.spec, name); };
      if (absl::c_none_of(kForms, is_form_of_it)) members->push_back({absl::StrCat(name, "{}")});
    }
    return members;
  }();
  return *kMembers;
}

class LossConformance : public ::testing::TestWithParam<LossCase> {};

TEST_P(LossConformance, Gradients) {
  if (GetParam().whole_gradients) ExpectRightGradients(GetParam());
}
TEST_P(LossConformance, Scalar) { ExpectScalar(GetParam()); }
TEST_P(LossConformance, PermutationInvariance) {
  if (GetParam().permutation_invariant) ExpectPermutationInvariance(GetParam());
}
TEST_P(LossConformance, FiniteAtExtremes) {
  if (GetParam().finite_at_extremes) ExpectFiniteAtExtremes(GetParam());
}
TEST_P(LossConformance, DroppedSamplesDontCount) { ExpectDroppedSamplesDontCount(GetParam()); }
TEST_P(LossConformance, NoSynchronisation) { ExpectNoSynchronisation(GetParam()); }

std::string NameOf(const ::testing::TestParamInfo<LossCase>& info) {
  std::string name;
  for (const char c : info.param.spec) {
    if (std::isalnum(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Members, LossConformance, ::testing::ValuesIn(Members()), NameOf);

TEST(LossConformance, OnCuda) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no CUDA device";
  for (const LossCase& member : Members()) {
    SCOPED_TRACE(member.spec);
    ExpectSameOn(at::Device(at::kCUDA, 0), member);
  }
}

}  // namespace
}  // namespace openset
