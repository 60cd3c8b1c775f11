#include "core/testing/parsed.h"

#include "core/testing/schema_test.pb.h"
#include "gtest/gtest-spi.h"

namespace openset {
namespace {

using ::openset::testing::Leaf;

TEST(Parsed, LeavesFieldsEmptyOrFillsInTheirDefaults) {
  EXPECT_EQ(Parsed<Leaf>("weight: [1, 2.5]").weight(1), 2.5);
  EXPECT_FALSE(Parsed<Leaf>("").has_rate());
  EXPECT_TRUE(ParsedWithDefaults<Leaf>("").has_rate());
}

TEST(Parsed, FailsTheTestWithTheTextsError) {
  EXPECT_NONFATAL_FAILURE(Parsed<Leaf>("rat: 1"), "text:1:4: unknown field 'rat'");
}

}  // namespace
}  // namespace openset
