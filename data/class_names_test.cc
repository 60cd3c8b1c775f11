#include "data/class_names.h"

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

constexpr char kComposed[] = "caf\xc3\xa9", kDecomposed[] = "cafe\xcc\x81";

TEST(Composed, JoinsALetterAndItsAccent) {
  EXPECT_EQ(Composed(kDecomposed), kComposed);
  EXPECT_EQ(Composed(kComposed), kComposed);
  EXPECT_EQ(Composed("cafe"), "cafe");
  EXPECT_EQ(Composed(""), "");
  EXPECT_EQ(Composed("caf\xe9"), "caf\xe9") << "is not UTF-8";
}

TEST(ClassesByName, PrefersTheSameBytes) {
  DataSetInfo info;
  info.add_class_name("bee");
  info.add_class_name(kDecomposed);
  EXPECT_THAT(ClassesByName(info).Find(kComposed), ElementsAre(1));
  EXPECT_THAT(ClassesByName(info).Find("cafe"), IsEmpty());
  info.add_class_name(kComposed);
  EXPECT_THAT(ClassesByName(info).Find(kComposed), ElementsAre(2));
  EXPECT_THAT(ClassesByName(info).Find(kDecomposed), ElementsAre(1));
}

}  // namespace
}  // namespace openset
