#include "tools/cli/named_networks.h"

#include "core/proto/proto_rules.h"
#include "core/testing/status_matchers.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(NamedNetworks, AreValid) {
  for (const std::string& name : NamedNetworks()) {
    const absl::StatusOr<NamedNetwork> network = FindNamedNetwork(name);
    ASSERT_THAT(network, IsOk());
    EXPECT_THAT(FindProblems(network->input), IsEmpty()) << name;
    EXPECT_THAT(FindProblems(network->model), IsEmpty()) << name;
    EXPECT_TRUE(network->model.head().has_linear()) << name;
  }
}

TEST(NamedNetworks, HaveTheInputOfTheirWeights) {
  const NamedNetwork large = FindNamedNetwork("resnet18").value(), small = FindNamedNetwork("resnet18_cifar").value();
  EXPECT_EQ(large.model.resnet_imagenet().variant(), ResnetImagenetSpec::RESNET18);
  EXPECT_EQ(large.input.size(), 224);
  EXPECT_EQ(large.input.test_shorter_side(), 256);
  EXPECT_EQ(small.model.resnet_cifar().variant(), ResnetCifarSpec::RESNET18);
  EXPECT_EQ(small.input.size(), 32);
}

TEST(NamedNetworks, SuggestANameForAnUnknownOne) {
  EXPECT_THAT(FindNamedNetwork("resnet_50").status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("resnet50")));
}

}  // namespace
}  // namespace openset
