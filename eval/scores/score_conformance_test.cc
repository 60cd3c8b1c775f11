#include "eval/scores/score_conformance.h"

#include <map>
#include <string>

#include "gtest/gtest.h"

namespace openset {
namespace testing {
namespace {

// One line a member of ScoreSpec.
std::map<std::string, ScoreTraits> TraitsOfMembers() {
  std::map<std::string, ScoreTraits> traits;
  traits["max_softmax"] = {};
  traits["max_logit"].shift_changes_it = true;
  traits["min_misclassification"] = {};
  traits["energy"].shift_changes_it = true;
  traits["entropy"] = {};
  traits["margin"] = {};
  traits["edl_vacuity"].shift_changes_it = true;
  traits["edl_probability"].shift_changes_it = true;
  traits["temperature_scaled_softmax"] = {};
  traits["react"].shift_changes_it = true;
  traits["openmax"].shift_changes_it = true;
  traits["mahalanobis"] = {};
  traits["relative_mahalanobis"] = {};
  traits["knn"] = {};
  traits["vim"].shift_changes_it = true;
  traits["gen"] = {};
  traits["ash"].shift_changes_it = true;
  traits["dice"].shift_changes_it = true;
  traits["she"] = {};
  return traits;
}

TEST(ScoreConformance, HoldsForEveryMember) {
  const std::map<std::string, ScoreTraits> traits = TraitsOfMembers();
  const google::protobuf::OneofDescriptor* kind = ScoreSpec::descriptor()->FindOneofByName("kind");
  EXPECT_EQ(traits.size(), kind->field_count());
  for (int i = 0; i < kind->field_count(); ++i) {
    ASSERT_EQ(traits.count(kind->field(i)->name()), 1) << kind->field(i)->name() << " has no line above";
    ScoreSpec spec;
    ScoreSpec::GetReflection()->MutableMessage(&spec, kind->field(i));
    CheckScore(spec, traits.at(kind->field(i)->name()));
  }
}

}  // namespace
}  // namespace testing
}  // namespace openset
