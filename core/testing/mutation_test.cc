#include "core/testing/mutation.h"

#include <signal.h>

#include <set>

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(Mutated, IsTheSameForTheSameStream) {
  RandomStream random(1, "x"), same(1, "x");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Mutated("0123456789", {"T"}, &random), Mutated("0123456789", {"T"}, &same));
  EXPECT_EQ(Mutated("", {"T"}, &random), "");
}

// Of 1000: a single change, with a chance of 1/6, is a cut with 1/7, and so on; 100 of each is far below what is
// expected (a token in one of 3.5 changes on average: 70 %).
TEST(Mutated, ChangesInManyWays) {
  std::set<std::string> seen;
  int shorter = 0, longer = 0, tokens = 0;
  RandomStream random(0, "kinds");
  const std::string valid(100, '.');
  for (int i = 0; i < 1000; ++i) {
    const std::string changed = Mutated(valid, {"TOKEN"}, &random);
    seen.insert(changed);
    shorter += changed.size() < valid.size() ? 1 : 0;
    longer += changed.size() > valid.size() ? 1 : 0;
    tokens += changed.find("TOKEN") != std::string::npos ? 1 : 0;
  }
  EXPECT_THAT(seen.size(), Gt(700));
  EXPECT_THAT(shorter, Gt(100));
  EXPECT_THAT(longer, Gt(100));
  EXPECT_THAT(tokens, Gt(100));
}

TEST(ForEachMutation, GivesTheRoundsTheirSeeds) {
  std::vector<std::string> bytes;
  ForEachMutation("name", "valid", {}, [&](const std::string& changed) { bytes.push_back(changed); });
  ASSERT_EQ(bytes.size(), 1000);
  for (uint64_t seed : {0, 1, 999}) {
    RandomStream random(seed, "name");
    EXPECT_EQ(bytes[seed], Mutated("valid", {}, &random));
  }
}

TEST(ForEachRound, ReportsRoundsAndTimePerByte) {
  ::testing::internal::CaptureStdout();
  ForEachRound("name", [](RandomStream* random) { NoteBytes(random->Below(2) == 0 ? 7 : 1234); });
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("name: 1000 rounds, "));
  EXPECT_THAT(text, HasSubstr(" inputs of 1 digits of bytes: "));
  EXPECT_THAT(text, HasSubstr(" inputs of 4 digits of bytes: "));
}

TEST(ForEachRound, ARoundThatHangsEndsTheProcess) {
  // The signal that the CPU timer sends after ten seconds.
  EXPECT_EXIT(ForEachRound("name", [](RandomStream*) { raise(SIGPROF); }), ::testing::ExitedWithCode(1),
              "name, seed 0");
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) { return openset::RunMutationTests(argc, argv); }
