#include "core/proto/kind.h"

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

}  // namespace
}  // namespace openset
