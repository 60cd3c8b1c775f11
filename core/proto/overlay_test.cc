#include "core/proto/overlay.h"

#include <string>

#include "core/testing/parsed.h"
#include "core/testing/schema_test.pb.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::openset::testing::Root;

std::string Laid(const std::string& top_text, const std::string& base_text) {
  Root base = Parsed<Root>(base_text);
  Overlay(Parsed<Root>(top_text), &base);
  return base.ShortDebugString();
}

TEST(Overlay, ReplacesScalarsAndKeepsTheRest) {
  EXPECT_EQ(Laid("leaf { rate: 1 }", "leaf { rate: 0.5 count: 2 } flag: true"), "leaf { rate: 1 count: 2 } flag: true");
}

TEST(Overlay, ReplacesRepeatedFieldsAsAWhole) {
  EXPECT_EQ(Laid("tag: 'x' leaf { weight: 7 }", "tag: 'a' tag: 'b' leaf { rate: 1 weight: 1 weight: 2 }"),
            "leaf { rate: 1 weight: 7 } tag: \"x\"");
  EXPECT_EQ(Laid("", "tag: 'a'"), "tag: \"a\"");
}

TEST(Overlay, AnotherMemberOfAOneofReplaces) {
  EXPECT_EQ(Laid("second {}", "first { rate: 1 }"), "second { }");
  EXPECT_EQ(Laid("first { count: 2 }", "first { rate: 1 }"), "first { rate: 1 count: 2 }");
}

TEST(Overlay, MergesListsByKindIfTheSchemaSaysSo) {
  const std::string base = "part { share: 2 soft { rate: 1 count: 2 weight: 3 } } part { hard { rate: 1 } }";
  EXPECT_EQ(Laid("part { hard { count: 5 } }", base),
            "part { share: 2 soft { rate: 1 count: 2 weight: 3 } } part { hard { rate: 1 count: 5 } }");
  EXPECT_EQ(Laid("part { share: 7 soft { weight: 4 weight: 5 } }", base),
            "part { share: 7 soft { rate: 1 count: 2 weight: 4 weight: 5 } } part { hard { rate: 1 } }");
  EXPECT_EQ(Laid("part { hard {} } part { soft { rate: 0.5 } }", "part { soft { rate: 1 } }"),
            "part { soft { rate: 0.5 } } part { hard { } }");
  EXPECT_EQ(Laid("part { soft { rate: 1 } }", ""), "part { soft { rate: 1 } }");
  EXPECT_EQ(Laid("flag: true", base), "flag: true " + base);
}

TEST(Overlay, SeveralOfAKindAreMergedInTheirOrder) {
  EXPECT_EQ(Laid("part { soft { rate: 0.1 } } part { soft { rate: 0.2 } } part { soft { rate: 0.3 } }",
                 "part { soft { count: 1 } } part { hard {} } part { soft { count: 2 } }"),
            "part { soft { rate: 0.1 count: 1 } } part { hard { } } part { soft { rate: 0.2 count: 2 } } "
            "part { soft { rate: 0.3 } }");
  // An element without a kind overrides no other.
  EXPECT_EQ(Laid("part { share: 3 }", "part { hard {} }"), "part { hard { } } part { share: 3 }");
}

std::string LaidWherePresent(const std::string& top_text, const std::string& base_text) {
  Root base = Parsed<Root>(base_text);
  OverlayWherePresent(Parsed<Root>(top_text), &base);
  return base.ShortDebugString();
}

TEST(OverlayWherePresent, SkipsAbsentMessages) {
  EXPECT_EQ(LaidWherePresent("leaf { rate: 1 }", "leaf { count: 2 }"), "leaf { rate: 1 count: 2 }");
  EXPECT_EQ(LaidWherePresent("leaf { rate: 1 }", "flag: true"), "flag: true");
  // Another member of a oneof counts as absent.
  EXPECT_EQ(LaidWherePresent("second { on: false }", "first { rate: 1 }"), "first { rate: 1 }");
  EXPECT_EQ(LaidWherePresent("first { count: 2 weight: 1 }", "first { rate: 1 weight: 5 weight: 6 }"),
            "first { rate: 1 count: 2 weight: 1 }");
  // Scalars of present messages are not skipped.
  EXPECT_EQ(LaidWherePresent("flag: true tag: 'x'", "tag: 'a' tag: 'b'"), "tag: \"x\" flag: true");
}

TEST(OverlayWherePresent, AddsNoElementsOfAnotherKind) {
  EXPECT_EQ(LaidWherePresent("part { hard { rate: 1 } }", "part { soft { rate: 0.5 } }"),
            "part { soft { rate: 0.5 } }");
  EXPECT_EQ(LaidWherePresent("part { share: 3 hard { rate: 1 } }", "part { soft {} } part { hard { count: 2 } }"),
            "part { soft { } } part { share: 3 hard { rate: 1 count: 2 } }");
  EXPECT_EQ(LaidWherePresent("part { soft { rate: 1 } } part { soft { rate: 0.5 } }", "part { soft {} }"),
            "part { soft { rate: 1 } }");
}

}  // namespace
}  // namespace openset
