#include "core/proto/field_differences.h"

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "core/testing/schema_test.pb.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

std::vector<std::string> Differences(const std::string& before, const std::string& after) {
  std::vector<std::string> lines;
  for (const FieldDifference& difference :
       FindDifferences(Parsed<testing::Root>(before), Parsed<testing::Root>(after))) {
    lines.push_back(absl::StrCat(difference.path, ": '", difference.before, "' -> '", difference.after, "'"));
  }
  return lines;
}

TEST(FieldDifferences, AreFoundByPath) {
  EXPECT_THAT(Differences("leaf { rate: 0.5 } tag: 'a'", "leaf { rate: 0.5 } tag: 'a'"), IsEmpty());
  EXPECT_THAT(
      Differences("leaf { rate: 0.5 count: 1 } tag: ['a', 'b'] colour: RED",
                  "leaf { rate: 0.25 count: 1 } tag: 'a' colour: BLUE big: 3"),
      ElementsAre("leaf.rate: '0.5' -> '0.25'", "colour: 'RED' -> 'BLUE'", "tag[1]: '\"b\"' -> ''", "big: '' -> '3'"));
}

TEST(FieldDifferences, AMessageThatOneLacksIsOne) {
  EXPECT_THAT(
      Differences("part { soft { count: 2 } }", "part { hard {} } part { share: 2 }"),
      ElementsAre("part[0].soft: '{ count: 2 }' -> ''", "part[0].hard: '' -> '{}'", "part[1]: '' -> '{ share: 2 }'"));
}

TEST(FieldDifferences, LabelsAreIgnored) {
  EXPECT_THAT(Differences("name: 'a' flag: true", "name: 'b' flag: true"), IsEmpty());
}

TEST(FieldDifferences, PathsOfFilesAreIgnored) {
  const auto count = [](const std::string& before, const std::string& after) {
    return FindDifferences(Parsed<testing::Grown>(before), Parsed<testing::Grown>(after)).size();
  };
  EXPECT_EQ(count("place: 'file:a'", "place: 'file:b'"), 0);
  EXPECT_EQ(count("place: 'file:a'", "place: 'b'"), 1);
  EXPECT_EQ(count("place: 'file:a'", ""), 1);
}

}  // namespace
}  // namespace openset
