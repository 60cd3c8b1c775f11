#include "core/proto/field_path.h"

#include "core/testing/parsed.h"
#include "core/testing/schema_test.pb.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::openset::testing::Part;
using ::openset::testing::Root;

const FieldDescriptor& List() { return *Root::descriptor()->FindFieldByName("part"); }
const FieldDescriptor* Kind(const char* name) { return Part::descriptor()->FindFieldByName(name); }

TEST(Kind, IsTheMemberThatIsSet) {
  EXPECT_TRUE(MergesByKind(List()));
  EXPECT_FALSE(MergesByKind(*Root::descriptor()->FindFieldByName("leaves")));
  EXPECT_FALSE(MergesByKind(*Root::descriptor()->FindFieldByName("leaf")));
  EXPECT_EQ(KindsOf(List()).name(), "kind");

  const Root root = Parsed<Root>("part { hard {} } part { share: 2 soft {} } part { share: 3 } part { hard {} }");
  EXPECT_EQ(KindOf(root, List(), 0), Kind("hard"));
  EXPECT_EQ(KindOf(root, List(), 1), Kind("soft"));
  EXPECT_EQ(KindOf(root, List(), 2), nullptr);

  EXPECT_EQ(FindKind(root, List(), Kind("hard"), 0), 0);
  EXPECT_EQ(FindKind(root, List(), Kind("hard"), 1), 3);
  EXPECT_EQ(FindKind(root, List(), Kind("hard"), 2), -1);
  EXPECT_EQ(FindKind(root, List(), nullptr, 0), 2);
  EXPECT_EQ(FindKind(Root(), List(), Kind("soft"), 0), -1);

  EXPECT_EQ(OrdinalOf(root, List(), 0), 0);
  EXPECT_EQ(OrdinalOf(root, List(), 1), 0);
  EXPECT_EQ(OrdinalOf(root, List(), 3), 1);
}

Root Parse(const std::string& text) { return Parsed<Root>(text); }

// The message after SetField, or the error's text with the message checked to be unchanged.
std::string After(const std::string& text, const std::string& path, const std::string& value) {
  Root root = Parse(text);
  const absl::Status status = SetField(path, value, &root);
  if (status.ok()) return root.ShortDebugString();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(root.ShortDebugString(), Parse(text).ShortDebugString());
  return std::string(status.message());
}

TEST(SetField, SetsScalarsOfEveryKind) {
  EXPECT_EQ(After("", "leaf.rate", "0.25"), "leaf { rate: 0.25 }");
  EXPECT_EQ(After("leaf { rate: 1 count: 2 }", "leaf.rate", "0.5"), "leaf { rate: 0.5 count: 2 }");
  EXPECT_EQ(After("", "colour", "BLUE"), "colour: BLUE");
  EXPECT_EQ(After("", "flag", "true"), "flag: true");
  EXPECT_EQ(After("", "big", "-5"), "big: -5");
  EXPECT_EQ(After("", "name", "some text"), "name: \"some text\"");
  EXPECT_EQ(After("", "name", "'quoted'"), "name: \"quoted\"");
}

TEST(SetField, SetsMessagesAndSwitchesTheLastOneof) {
  EXPECT_EQ(After("", "leaf", "{ rate: 1 }"), "leaf { rate: 1 }");
  EXPECT_EQ(After("leaf { count: 3 }", "leaf", "rate: 1"), "leaf { rate: 1 }");
  EXPECT_EQ(After("first {}", "second", ""), "second { }");
}

TEST(SetField, ReachesElements) {
  EXPECT_EQ(After("leaves {} leaves {}", "leaves[1].rate", "1"), "leaves { } leaves { rate: 1 }");
  EXPECT_EQ(After("tag: 'a' tag: 'b' tag: 'c'", "tag[1]", "x"), "tag: \"a\" tag: \"x\" tag: \"c\"");
  EXPECT_EQ(After("tag: 'a'", "tag[]", "b"), "tag: \"a\" tag: \"b\"");
  EXPECT_EQ(After("", "leaves[].rate", "1"), "leaves { rate: 1 }");
  for (const char* list : {"[b, c]", "['b', 'c']", "[ b,c ]"}) {
    EXPECT_EQ(After("tag: 'a'", "tag", list), "tag: \"b\" tag: \"c\"") << list;
  }
  EXPECT_EQ(After("tag: 'a'", "tag[0]", "[b, c]"), "tag: \"[b, c]\"");
  EXPECT_EQ(After("leaf { weight: 1 weight: 2 }", "leaf.weight", "[3]"), "leaf { weight: 3 }");
}

TEST(SetField, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(After("", "leaf.rat", "1"),
            "leaf.rat: unknown field 'rat'; did you mean 'rate'? (known: rate, count, weight)");
  EXPECT_EQ(After("leaves {}", "leaves[1].rate", "1"), "leaves[1].rate: there is no leaves[1]; it has 1");
  EXPECT_EQ(After("leaves {}", "leaves.rate", "1"),
            "leaves.rate: 'leaves' is repeated: give an index, as in leaves[0]");
  EXPECT_EQ(After("", "leaf[0].rate", "1"), "leaf[0].rate: 'leaf' is not repeated, so it takes no index");
  EXPECT_EQ(After("", "name.x", "1"), "name.x: 'name' has no fields");
  EXPECT_EQ(After("", "leaves[x]", "1"), "leaves[x]: 'x' is not an index");
  EXPECT_EQ(After("", "leaves[0", "1"), "leaves[0: '[' without ']'");
  EXPECT_EQ(After("second {}", "first.rate", "1"), "first.rate: it holds 'second', not 'first'");
  EXPECT_EQ(After("", "", "1").substr(0, 20), ": unknown field '' (");
  EXPECT_EQ(After("", "leaf.count", "a").substr(0, 12), "leaf.count: ");
  EXPECT_EQ(After("", "leaf.count", "1 } big: 3 leaf {").substr(0, 12), "leaf.count: ");
}

TEST(GetField, ReadsWhatSetFieldSet) {
  const Root root = Parse("leaf { rate: 0.25 weight: 1 weight: 2 } leaves { count: 3 } colour: BLUE name: 'n'");
  EXPECT_EQ(*GetField(root, "leaf.rate"), "0.25");
  EXPECT_EQ(*GetField(root, "leaves[0].count"), "3");
  EXPECT_EQ(*GetField(root, "leaf.weight"), "1, 2");
  EXPECT_EQ(*GetField(root, "leaf.weight[1]"), "2");
  EXPECT_EQ(*GetField(root, "colour"), "BLUE");
  EXPECT_EQ(*GetField(root, "name"), "\"n\"");
  EXPECT_EQ(*GetField(root, "first.rate"), "");
  EXPECT_EQ(*GetField(root, "big"), "");
  EXPECT_FALSE(GetField(root, "leaves[4].count").ok());
  EXPECT_FALSE(GetField(root, "nope").ok());
}

TEST(SetField, NamesAnElementByItsKind) {
  const std::string parts = "part { soft { rate: 1 } } part { hard { rate: 0.5 } }";
  EXPECT_EQ(After(parts, "hard.rate", "0.25"), "part { soft { rate: 1 } } part { hard { rate: 0.25 } }");
  EXPECT_EQ(After(parts, "hard.share", "3"), "part { soft { rate: 1 } } part { share: 3 hard { rate: 0.5 } }");
  EXPECT_EQ(After(parts, "soft", "{ count: 2 }"), "part { soft { count: 2 } } part { hard { rate: 0.5 } }");
  EXPECT_EQ(After("patch { part { hard {} } }", "patch.hard.count", "1"), "patch { part { hard { count: 1 } } }");

  EXPECT_EQ(After("part { soft {} }", "hard.rate", "1"), "hard.rate: there is no part 'hard'; it has soft");
  EXPECT_EQ(After("", "patch.hard.rate", "1"), "patch.hard.rate: there is no part 'hard'; it has none");
  EXPECT_EQ(After("part { soft {} } part { hard {} } part { soft {} }", "soft.rate", "1"),
            "soft.rate: several are of this kind: give its position in the list, as in part[2]");
  EXPECT_EQ(After(parts, "hard[0].rate", "1"),
            "hard[0].rate: a kind takes no index: give its position in the list, as in part[0]");
  EXPECT_EQ(After(parts, "hard.rat", "1"),
            "hard.rat: unknown field 'rat'; did you mean 'rate'? (known: rate, count, weight)");
  // Not from one kind to another.
  EXPECT_EQ(After(parts, "hard.soft", "{}").substr(0, 31), "hard.soft: unknown field 'soft'");
  EXPECT_EQ(After("", "har", "1").substr(0, 42), "har: unknown field 'har'; did you mean 'ha");
}

TEST(GetField, NamesAnElementByItsKind) {
  const Root root = Parse("part { soft { rate: 1 } } part { share: 2 hard {} }");
  EXPECT_EQ(*GetField(root, "soft.rate"), "1");
  EXPECT_EQ(*GetField(root, "hard.share"), "2");
  EXPECT_EQ(*GetField(root, "hard.rate"), "");
}

TEST(SamePlace, FollowsKinds) {
  const Root root = Parse("part { soft {} } part { hard {} } part { soft {} } leaf { rate: 1 }");
  const Root other = Parse("part { hard {} } part { soft {} }");
  EXPECT_EQ(*SamePlace(root, "part[0].soft.rate", other), "part[1].soft.rate");
  EXPECT_EQ(*SamePlace(root, "hard.rate", other), "part[0].hard.rate");
  EXPECT_EQ(*SamePlace(root, "part[1]", other), "part[0]");
  EXPECT_EQ(*SamePlace(root, "leaf.rate", other), "leaf.rate");
  EXPECT_EQ(*SamePlace(root, "patch.leaves[3].rate", other), "patch.leaves[3].rate");
  EXPECT_EQ(SamePlace(root, "part[2].share", other).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(*SamePlace(root, "hard.share", root), "part[1].share");
  EXPECT_EQ(*SamePlace(root, "hard", root), "part[1].hard");
  EXPECT_EQ(SamePlace(root, "soft.rate", other).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SamePlace(root, "nope", other).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace openset
