#include "core/proto/proto_rules.h"

#include "core/testing/parsed.h"
#include "core/testing/schema_test.pb.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

using ::openset::testing::Root;

Root Parse(const std::string& text) { return Parsed<Root>(text); }

std::vector<std::string> Problems(const std::string& text) {
  std::vector<std::string> lines;
  for (const FieldProblem& p : FindProblems(Parse(text))) lines.push_back(p.path + ": " + p.message);
  return lines;
}

TEST(FillDefaults, SetsScalarsOfAllPresentMessages) {
  Root root = Parse("leaf {} leaves {} leaves { rate: 0.25 } second {}");
  FillDefaults(&root);
  EXPECT_EQ(root.ShortDebugString(),
            "leaf { rate: 0.5 } leaves { rate: 0.5 } leaves { rate: 0.25 } colour: RED second { on: true }");
}

TEST(FillDefaults, LeavesOneofsAndAbsentMessagesAlone) {
  Root root;
  FillDefaults(&root);
  EXPECT_EQ(root.ShortDebugString(), "colour: RED");
}

TEST(FindProblems, AcceptsAValidMessage) { EXPECT_THAT(Problems("leaf { rate: 1 count: 1 } number: 0"), IsEmpty()); }

TEST(FindProblems, NamesMissingFieldsAndOneofs) {
  EXPECT_THAT(Problems(""), ElementsAre(": must have one of: first, second, number", "leaf: must be set"));
}

TEST(FindProblems, PartialMessagesMayLackFields) {
  EXPECT_THAT(Problems("leaf {} number: 1 patch {}"), IsEmpty());
  EXPECT_THAT(Problems("leaf {} number: 1 patch { leaf { count: 0 } }"),
              ElementsAre("patch.leaf.count: must be at least 1 (is 0)"));
  EXPECT_THAT(FindProblems(Root(), Completeness::kPartial), IsEmpty());
}

TEST(FindProblems, RefusesUnspecifiedEnums) {
  EXPECT_THAT(Problems("leaf {} number: 1 colour: COLOUR_UNSPECIFIED colours: BLUE colours: COLOUR_UNSPECIFIED"),
              ElementsAre("colour: must be one of: RED, BLUE", "colours[1]: must be one of: RED, BLUE"));
}

TEST(FindProblems, NamesTheElementOutOfRange) {
  EXPECT_THAT(Problems("leaf { rate: 0 } number: 1 leaves {} leaves { count: 0 weight: 1 weight: 10 }"),
              ElementsAre("leaf.rate: must be above 0 (is 0)", "leaves[1].count: must be at least 1 (is 0)",
                          "leaves[1].weight[1]: must be below 10 (is 10)"));
  EXPECT_THAT(Problems("leaf { rate: 1.5 } first { rate: nan }"),
              ElementsAre("leaf.rate: must be at most 1 (is 1.5)", "first.rate: must be a number (is nan)"));
}

TEST(FindProblems, LargeNumbersHaveAllTheirDigits) {
  EXPECT_THAT(Problems("leaf { count: -2147483648 } number: 1"),
              ElementsAre("leaf.count: must be at least 1 (is -2147483648)"));
}

TEST(FindProblems, TextIsUtf8) {
  EXPECT_THAT(Problems("leaf {} number: 1 name: 'gr\303\266\303\237er' content: '\377'"), IsEmpty());
  EXPECT_THAT(
      Problems("leaf {} number: 1 name: 'a\377' tag: ['ok', '\033\300']"),
      ElementsAre("name: must be text in UTF-8 (is 'a\uFFFD')", "tag[1]: must be text in UTF-8 (is ' \uFFFD')"));
}

std::vector<std::string> LimitedProblems(const std::string& text) {
  std::vector<std::string> lines;
  for (const FieldProblem& p : FindProblems(Parsed<openset::testing::Limited>(text)))
    lines.push_back(p.path + ": " + p.message);
  return lines;
}

TEST(FindProblems, KeysHave64Digits) {
  const std::string key(64, 'a');
  EXPECT_THAT(LimitedProblems("digest: '" + key + "'"), IsEmpty());
  for (const std::string& wrong : {std::string(63, 'a'), key + "a", std::string(64, 'A'), std::string(64, 'g'),
                                   std::string("../../x"), std::string()}) {
    EXPECT_THAT(LimitedProblems("part {} part { digest: '" + wrong + "' }"),
                ElementsAre("part[1].digest: must be 64 lower-case hexadecimal digits (is '" + wrong + "')"));
  }
}

TEST(FindProblems, InfinityIsForFieldsThatMayHaveIt) {
  EXPECT_THAT(LimitedProblems("score: -inf"), IsEmpty());
  EXPECT_THAT(LimitedProblems("rate: -inf score: nan x: nan y: 0"),
              ElementsAre("score: must be a number (is nan)", "x[0]: must be a number (is nan)",
                          "rate: must be finite (is -inf)"));
}

TEST(FindProblems, ListsHaveTheirLengths) {
  EXPECT_THAT(LimitedProblems("x: [0, 1, 0] y: [2, 3, 4]"), IsEmpty());
  EXPECT_THAT(
      LimitedProblems("x: [0, 2, 0, 0] y: 1"),
      ElementsAre("x: must have at most 3 elements (has 4)", "y: must have as many elements as x (has 1, not 4)"));
  EXPECT_THAT(LimitedProblems("x: [0, 2]"),
              ElementsAre("x[1]: must be at most 1 (is 2)", "y: must have as many elements as x (has 0, not 2)"));
}

TEST(FindProblems, PassesOverFields) {
  const Root root = Parse("leaf { rate: 2 } number: 1 leaves { rate: 2 }");
  EXPECT_EQ(FindProblems(root, Completeness::kComplete, {Root::kLeafFieldNumber}).size(), 1);
}

}  // namespace
}  // namespace openset
