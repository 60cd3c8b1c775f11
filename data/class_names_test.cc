#include "data/class_names.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kComposed[] = "caf\xc3\xa9", kDecomposed[] = "cafe\xcc\x81";

TEST(Composed, JoinsALetterAndItsAccent) {
  EXPECT_EQ(Composed(kDecomposed), kComposed);
  EXPECT_EQ(Composed(kComposed), kComposed);
  EXPECT_EQ(Composed("cafe"), "cafe");
  EXPECT_EQ(Composed(""), "");
  EXPECT_EQ(Composed("caf\xe9"), "caf\xe9") << "is not UTF-8";
}

TEST(ClassesNamed, PrefersTheSameBytes) {
  DataSetInfo info;
  info.add_class_name("bee");
  info.add_class_name(kDecomposed);
  EXPECT_THAT(ClassesNamed(kComposed, info), ElementsAre(1));
  EXPECT_THAT(ClassesNamed("cafe", info), IsEmpty());
  info.add_class_name(kComposed);
  EXPECT_THAT(ClassesNamed(kComposed, info), ElementsAre(2));
  EXPECT_THAT(ClassesNamed(kDecomposed, info), ElementsAre(1));
}

}  // namespace
}  // namespace openset
