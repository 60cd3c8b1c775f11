#include "core/proto/needs.h"

#include "core/testing/parsed.h"
#include "core/testing/schema_test.pb.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

std::string NeedsOfText(const std::string& text) {
  return NeedsOf(Parsed<testing::NeedsTest>(text)).ShortDebugString();
}

TEST(NeedsOf, NothingForAnEmptyMessage) { EXPECT_EQ(NeedsOfText(""), ""); }

TEST(NeedsOf, ReadsTheMessageAndItsFields) {
  EXPECT_EQ(NeedsOfText("part {}"), "extra_views: 2 fit: true features: true");
  EXPECT_EQ(NeedsOfText("part { temperature: 1 }"), "extra_views: 2 features: true");
  EXPECT_EQ(NeedsOfText("part { temperature: 1 with_head: true views: 3 }"),
            "extra_views: 3 features: true head: true");
  EXPECT_EQ(NeedsOfText("part { temperature: 1 with_head: false }"), "extra_views: 2 features: true");
}

TEST(NeedsOf, ReadsTheValueOfAnEnum) {
  EXPECT_EQ(NeedsOfText("part { temperature: 1 kind: GRAMS }"), "extra_views: 2 features: true stage_grams: true");
  EXPECT_EQ(NeedsOfText("kind: GRAMS"), "stage_grams: true");
  EXPECT_EQ(NeedsOfText("kind: PLAIN"), "");
}

TEST(NeedsOf, AddsThoseOfAllParts) {
  EXPECT_EQ(NeedsOfText("parts { temperature: 1 views: 5 } parts { temperature: 1 views: 1 with_head: true }"),
            "history: true extra_views: 5 features: true head: true");
}

}  // namespace
}  // namespace openset
