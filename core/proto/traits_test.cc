#include "core/proto/traits.h"

#include "core/testing/parsed.h"
#include "core/testing/schema_test.pb.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

std::string TraitsOfText(const std::string& text) {
  return TraitsOf(Parsed<testing::TraitsTest>(text)).ShortDebugString();
}

TEST(TraitsOf, NothingForAnEmptyMessage) { EXPECT_EQ(TraitsOfText(""), ""); }

TEST(TraitsOf, ReadsTheMessageAndItsFields) {
  EXPECT_EQ(TraitsOfText("part {}"), "extra_views: 2 fit: true features: true");
  EXPECT_EQ(TraitsOfText("part { temperature: 1 }"), "extra_views: 2 features: true");
  EXPECT_EQ(TraitsOfText("part { temperature: 1 with_head: true views: 3 }"),
            "extra_views: 3 features: true head: true");
  EXPECT_EQ(TraitsOfText("part { temperature: 1 with_head: false }"), "extra_views: 2 features: true");
}

TEST(TraitsOf, ReadsTheValueOfAnEnum) {
  EXPECT_EQ(TraitsOfText("part { temperature: 1 kind: GRAMS }"), "extra_views: 2 features: true stage_grams: true");
  EXPECT_EQ(TraitsOfText("kind: GRAMS"), "stage_grams: true");
  EXPECT_EQ(TraitsOfText("kind: PLAIN"), "");
}

TEST(TraitsOf, AddsThoseOfAllParts) {
  EXPECT_EQ(TraitsOfText("parts { temperature: 1 views: 5 } parts { temperature: 1 views: 1 with_head: true }"),
            "history: true extra_views: 5 features: true head: true");
}

}  // namespace
}  // namespace openset
