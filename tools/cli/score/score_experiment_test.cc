#include "tools/cli/score/score_experiment.h"

#include "core/proto/proto_rules.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

ScoreRequest Request(const std::string& text) { return Parsed<ScoreRequest>(text); }

TEST(JoinedRequest, MethodsOnTheSameSplitAreAdded) {
  const ScoreRequest kept = Request("model: 'net.pt' task: 'digits' methods: ['knn', 'energy']");
  const ScoreRequest joined =
      JoinedRequest(Request("model: 'net.pt' task: 'digits' methods: ['energy', 'vim']"), {"energy", "vim"}, kept);
  EXPECT_THAT(joined.methods(), ElementsAre("knn", "energy", "vim"));
  EXPECT_THAT(joined.also(), IsEmpty());
}

// No names mean all methods.
TEST(JoinedRequest, AllMethodsStayAll) {
  const ScoreRequest all = Request("model: 'net.pt' task: 'digits'");
  const ScoreRequest some = Request("model: 'net.pt' task: 'digits' methods: 'knn'");
  EXPECT_THAT(JoinedRequest(all, {"knn", "vim"}, some).methods(), IsEmpty());
  EXPECT_THAT(JoinedRequest(some, {"knn"}, all).methods(), IsEmpty());
}

TEST(JoinedRequest, AnotherTaskOrSplitIsAPartOfItsOwn) {
  const ScoreRequest kept = Request("model: 'net.pt' task: 'digits' split: 0 methods: 'knn'");
  const ScoreRequest second = Request("model: 'net.pt' task: 'digits' split: 1 methods: 'knn'");
  const ScoreRequest two = JoinedRequest(second, {"knn"}, kept);
  ASSERT_THAT(two.also(), SizeIs(1));
  EXPECT_EQ(two.split(), 0);
  EXPECT_EQ(two.also(0).split(), 1);
  // A method more on the second split goes to its part.
  const ScoreRequest more =
      JoinedRequest(Request("model: 'net.pt' task: 'digits' split: 1 methods: 'vim'"), {"vim"}, two);
  EXPECT_THAT(more.methods(), ElementsAre("knn"));
  ASSERT_THAT(more.also(), SizeIs(1));
  EXPECT_THAT(more.also(0).methods(), ElementsAre("knn", "vim"));
}

TEST(JoinedRequest, OtherSettingsReplaceWhatIsKept) {
  const ScoreRequest kept = Request("model: 'net.pt' size: 32 methods: 'knn'");
  const ScoreRequest other = Request("model: 'net.pt' size: 64 methods: 'vim'");
  EXPECT_THAT(JoinedRequest(other, {"vim"}, kept).methods(), ElementsAre("vim"));
}

TEST(NamedNetworks, AreValid) {
  for (const std::string& name : NamedNetworks()) {
    ASSERT_OK_AND_ASSIGN(const NamedNetwork network, FindNamedNetwork(name));
    EXPECT_THAT(FindProblems(network.input), IsEmpty()) << name;
    EXPECT_THAT(FindProblems(network.model), IsEmpty()) << name;
    EXPECT_TRUE(network.model.head().has_linear()) << name;
  }
}

TEST(NamedNetworks, HaveTheInputOfTheirWeights) {
  const NamedNetwork large = FindNamedNetwork("resnet18").value(), small = FindNamedNetwork("resnet18_cifar").value();
  EXPECT_EQ(large.model.resnet_imagenet().variant(), ResnetImagenetSpec::RESNET18);
  EXPECT_EQ(large.input.size(), 224);
  EXPECT_EQ(large.input.test_shorter_side(), 256);
  EXPECT_EQ(small.model.resnet_cifar().variant(), ResnetCifarSpec::RESNET18);
  EXPECT_EQ(small.input.size(), 32);
  EXPECT_EQ(small.input.test_shorter_side(), 32);  // images that are not square are cropped, not squashed
}

TEST(NamedNetworks, SuggestANameForAnUnknownOne) {
  EXPECT_THAT(FindNamedNetwork("resnet_50"), IsInvalidArgument("resnet50"));
}

}  // namespace
}  // namespace openset
