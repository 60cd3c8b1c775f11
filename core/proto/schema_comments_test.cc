#include "core/proto/schema_comments.h"

#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/proto/text_proto.h"
#include "core/testing/schema_test.pb.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

SchemaComments Comments() {
  return *SchemaComments::Load(JoinPath(*RunfilesFolder(), "openset/core/proto/test_schemas.binpb"));
}

const google::protobuf::FieldDescriptor& Field(const std::string& name) {
  return *testing::Leaf::descriptor()->FindFieldByName(name);
}

TEST(SchemaComments, AreThoseOfTheSource) {
  const SchemaComments comments = Comments();
  EXPECT_EQ(comments.Of(*testing::Leaf::descriptor()), "A leaf of the tree.\nIt has no leaves.");
  EXPECT_EQ(comments.Of(Field("rate")), "Share that stays, 0 to 1.");
  EXPECT_EQ(comments.Of(Field("count")), "Of what there is.");
  EXPECT_EQ(comments.Of(Field("weight")), "");
  EXPECT_EQ(comments.Of(*testing::Colour_descriptor()->FindValueByName("RED")), "Like blood.");
}

TEST(SchemaComments, RulesInWords) {
  EXPECT_EQ(FieldRulesText(Field("rate")), "number, above 0, at most 1; default 0.5");
  EXPECT_EQ(FieldRulesText(Field("count")), "integer, at least 1");
  EXPECT_EQ(FieldRulesText(Field("weight")), "list of number, below 10");
  EXPECT_EQ(FieldRulesText(*testing::Root::descriptor()->FindFieldByName("colour")), "RED | BLUE; default RED");
  EXPECT_EQ(FieldRulesText(*testing::Root::descriptor()->FindFieldByName("leaf")), "Leaf; required");
}

TEST(SchemaComments, CommentedTextCanBeReadAgain) {
  testing::Root root;
  root.set_name("a \"quoted\" name, isn't it?");
  root.mutable_leaf()->set_rate(0.25);
  root.mutable_leaf()->add_weight(1);
  root.mutable_leaf()->add_weight(2.5);
  root.add_leaves();
  root.mutable_second();
  root.set_colour(testing::BLUE);
  const std::string text = ToCommentedText(root, Comments());
  EXPECT_THAT(text, HasSubstr("leaf {\n  # Share that stays, 0 to 1.\n  rate: 0.25\n  weight: 1\n  weight: 2.5\n}\n"));
  EXPECT_THAT(text, HasSubstr("leaves {}\n"));
  EXPECT_THAT(text, HasSubstr("name: \"a \\\"quoted\\\" name, isn't it?\"\n"));
  testing::Root again;
  ASSERT_THAT(ParseTextProto(text, "again", &again).status(), IsOk());
  EXPECT_EQ(ToText(again), ToText(root));
}

TEST(SchemaComments, SchemaForPeople) {
  const std::string text = SchemaText(*testing::Root::descriptor(), Comments());
  EXPECT_THAT(text, HasSubstr("leaf   Leaf; required\n  # A leaf of the tree.\n  # It has no leaves.\n"
                              "  rate   number, above 0, at most 1; default 0.5\n    # Share that stays, 0 to 1.\n"));
  EXPECT_THAT(text, HasSubstr("colour   RED | BLUE; default RED\n    RED\n      # Like blood.\n"));
  EXPECT_THAT(text, HasSubstr("one of:\n  first\n  second\n  number\n"));
}

TEST(SchemaComments, RefusesInvalidFiles) {
  EXPECT_THAT(SchemaComments::Load("/nowhere"), StatusIs(absl::StatusCode::kNotFound));
  const std::string path = JoinPath(::testing::TempDir(), "no_schemas");
  ASSERT_THAT(WriteFileAtomically(path, "words, not schemas"), IsOk());
  EXPECT_THAT(SchemaComments::Load(path), IsDataLoss(path));
}

}  // namespace
}  // namespace openset
