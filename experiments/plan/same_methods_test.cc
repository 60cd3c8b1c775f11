#include "experiments/plan/same_methods.h"

#include <memory>

#include "experiments/spec/method.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SameMethodsTest : public ::testing::Test {
 protected:
  void AddTrial(const std::string& method) {
    auto named = std::make_shared<TrialMethod>();
    named->method.set_name(method);
    plan_.trials.emplace_back(std::move(named), nullptr, nullptr, 0);
  }
  void AddAction(ActionKind kind, const std::vector<int>& trials) {
    Action action;
    action.kind = kind;
    action.trials = trials;
    plan_.Add(std::move(action));
  }

  Plan plan_;
};

TEST_F(SameMethodsTest, EachSetOnce) {
  for (const char* name : {"b", "a", "c", "b", "a", "c", "c"}) AddTrial(name);
  AddAction(ActionKind::kTrain, {0, 1, 2});  // one training, scored three times
  AddAction(ActionKind::kEvaluate, {0, 1});
  AddAction(ActionKind::kEvaluate, {2});
  EXPECT_THAT(SameMethodLines(plan_), ElementsAre("2 methods are the same trial: a, b"));
  AddAction(ActionKind::kEvaluate, {3, 4});  // of another seed
  EXPECT_EQ(SameMethodLines(plan_).size(), 1);
}

TEST_F(SameMethodsTest, NoneIfAllMethodsDiffer) {
  for (const char* name : {"a", "a", "b"}) AddTrial(name);
  AddAction(ActionKind::kEvaluate, {0, 1});  // two values of an axis
  AddAction(ActionKind::kEvaluate, {2});
  EXPECT_THAT(SameMethodLines(plan_), IsEmpty());
}

}  // namespace
}  // namespace openset
