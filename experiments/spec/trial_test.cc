#include "experiments/spec/trial.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(SharedTrialSpecs, HoldPartsThatTrialsShareOnce) {
  auto method = std::make_shared<TrialMethod>();
  method->method.set_name("softmax");
  auto data = std::make_shared<TrialData>();
  data->task = "digits";
  data->split = 3;
  data->data.mutable_train()->set_part("train");
  auto protocol = std::make_shared<TrialProtocol>();
  protocol->execution.set_threads(2);
  protocol->overrides = {"--set a=1"};
  const Trial first(method, data, protocol, 0), second(method, data, protocol, 1);
  auto log = std::make_shared<SearchLog>();
  log->add_candidate();
  const Trial searched = second.With(std::shared_ptr<const SearchLog>(log));

  google::protobuf::Arena arena;
  SharedTrialSpecs specs(&arena);
  const TrialSpec* const a = specs.Add(first);
  const TrialSpec* const b = specs.Add(second);
  const TrialSpec* const c = specs.Add(searched);
  EXPECT_EQ(a->SerializeAsString(), first.Spec().SerializeAsString());
  EXPECT_EQ(b->SerializeAsString(), second.Spec().SerializeAsString());
  EXPECT_EQ(c->SerializeAsString(), searched.Spec().SerializeAsString());
  EXPECT_EQ(b->seed(), 1);
  EXPECT_EQ(a->split(), 3);
  EXPECT_EQ(a->overrides(0), "--set a=1");
  EXPECT_FALSE(b->has_search());
  EXPECT_EQ(c->search().candidate_size(), 1);
  EXPECT_EQ(&a->method(), &b->method());
  EXPECT_EQ(&a->data(), &c->data());
  EXPECT_EQ(&a->execution(), &c->execution());
  EXPECT_NE(&a->method(), &first.method());
}

}  // namespace
}  // namespace openset
