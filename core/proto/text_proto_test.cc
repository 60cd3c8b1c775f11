#include "core/proto/text_proto.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "core/testing/mutation.h"
#include "core/testing/schema_test.pb.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

using ::openset::testing::Root;
using ::openset::testing::Twice;

constexpr char kText[] =
    "# a comment\n"
    "leaf {\n"
    "  rate: 0.25\n"
    "}\n"
    "leaves {}\n"
    "leaves {\n"
    "  weight: 1\n"
    "  weight: 2\n"
    "}\n"
    "number: 1\n";

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(ParseTextProto, RemembersTheLines) {
  Root root;
  ASSERT_OK_AND_ASSIGN(const TextSource source, ParseTextProto(kText, "f.textproto", &root));
  EXPECT_EQ(root.leaf().rate(), 0.25);
  EXPECT_EQ(source.Where("leaf.rate"), "f.textproto:3: leaf.rate");
  EXPECT_EQ(source.Where("leaves[1]"), "f.textproto:6: leaves[1]");
  EXPECT_EQ(source.Where("leaves[1].weight[1]"), "f.textproto:8: leaves[1].weight[1]");
  // Absent fields: the message that would hold them.
  EXPECT_EQ(source.Where("leaves[1].count"), "f.textproto:6: leaves[1].count");
  EXPECT_EQ(source.Where("colour"), "f.textproto: colour");
  EXPECT_EQ(source.Where("first.weight[2]"), "f.textproto: first.weight[2]");
  EXPECT_EQ(source.Where("nonsense[x].y"), "f.textproto: nonsense[x].y");
}

TEST(ParseTextProto, NamesLineAndValidFields) {
  Root root;
  EXPECT_EQ(Message(ParseTextProto("leaf {\n  rat: 1\n}", "f", &root).status()),
            "f:2:6: unknown field 'rat'; did you mean 'rate'? (known: rate, count, weight)");
  EXPECT_EQ(Message(ParseTextProto("colour: BLEU", "f", &root).status()),
            "f:1:13: colour: unknown value 'BLEU'; did you mean 'BLUE'? (known: COLOUR_UNSPECIFIED, RED, BLUE)");
  EXPECT_THAT(Message(ParseTextProto("leaf {", "f", &root).status()), HasSubstr("f:1:7: "));
  EXPECT_THAT(Message(ParseTextProto("big: 'x'", "f", &root).status()), HasSubstr("f:1:6: "));
  EXPECT_THAT(Message(ParseTextProto("\x01\xff{{}}", "f", &root).status()), HasSubstr("f:1:"));
}

// Suggests a value of that enum, not of another enum with the same name that has the given value.
TEST(ParseTextProto, NamesTheValuesOfTheEnumInThatMessage) {
  Twice twice;
  EXPECT_EQ(Message(ParseTextProto("small { size: ONE }  # }\nlarge { size: TWO }", "f", &twice).status()),
            "f:2:19: size: unknown value 'TWO' (known: SIZE_UNSPECIFIED, TWENTY)");
  EXPECT_EQ(Message(ParseTextProto("large: [ { size: TWENTY }, < size: ONE > ]", "f", &twice).status()),
            "f:1:40: size: unknown value 'ONE' (known: SIZE_UNSPECIFIED, TWENTY)");
  EXPECT_EQ(Message(ParseTextProto("large {} small { size: TW }", "f", &twice).status()),
            "f:1:27: size: unknown value 'TW'; did you mean 'TWO'? (known: SIZE_UNSPECIFIED, ONE, TWO)");
}

TEST(ToText, KeepsLettersAsTheyAre) {
  Root root;
  root.set_name("B\xC3\xA4r\n");
  EXPECT_EQ(ToText(root), "name: \"B\xC3\xA4r\\n\"\n");
}

TEST(ParseTextProto, RefusesDeeplyNestedText) {
  std::string text;
  for (int depth = 0; depth < 1000000; ++depth) text += "patch{";
  Root root;
  EXPECT_THAT(Message(ParseTextProto(text, "f", &root).status()), HasSubstr("f:1:"));
}

TEST(ReadTextProto, InvalidUtf8IsReportedWithItsPosition) {
  const std::string path = ::testing::TempDir() + "/bytes.textproto";
  std::ofstream(path) << "number: 1\nleaf {}\nname: 'a\xff'\n";
  Root root;
  EXPECT_EQ(Message(ReadTextProto(path, &root).status()), path + ":3: name: must be text in UTF-8 (is 'a\uFFFD')");
}

TEST(ReadTextProto, ChecksTheRules) {
  const std::string path = ::testing::TempDir() + "/rules.textproto";
  std::ofstream(path) << "number: 1\nleaf {\n  rate: 2\n}\n";
  Root root;
  const absl::Status status = ReadTextProto(path, &root).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Message(status), path + ":3: leaf.rate: must be at most 1 (is 2)");
  EXPECT_EQ(ReadTextProto("/nowhere.textproto", &root).status().code(), absl::StatusCode::kNotFound);
}

TEST(ToText, ReadsBack) {
  Root root, again;
  ASSERT_TRUE(ParseTextProto(kText, "f", &root).ok());
  ASSERT_TRUE(ParseTextProto(ToText(root), "f", &again).ok());
  EXPECT_EQ(root.SerializeAsString(), again.SerializeAsString());
}

TEST(ParseTextProto, ReadsManyFields) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) absl::StrAppend(&text, "leaves {\n  weight: ", i % 7, "\n}\n");
  ReadLarge("text proto", [&] {
    Root root;
    ASSERT_OK_AND_ASSIGN(const TextSource source, ParseTextProto(text, "f.textproto", &root));
    EXPECT_EQ(root.leaves_size(), 100'000);
    EXPECT_EQ(source.Where("leaves[99999]"), "f.textproto:299998: leaves[99999]");
  });
}

}  // namespace
}  // namespace openset
