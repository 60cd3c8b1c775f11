#include "core/text/name.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(IsName, LettersDigitsAndAFewMarks) {
  for (const char* name : {"a", "7", "mcp+short", "energy+unified_imagenet", "CIFAR-10.1", "a_b"}) {
    EXPECT_TRUE(IsName(name)) << name;
    EXPECT_EQ(NameProblem(name), "");
  }
  for (const char* name :
       {"",     ".", "..",   ".a",        "-a",  "+a",  "_a",  "a b", "a/b", "a\n", "x';touch pwn;'", "y$(touch pwn)",
        "a`b`", "ü", "\xff", "a\x1b[31m", "a,b", "a=b", "a:b", "a%b"}) {
    EXPECT_FALSE(IsName(name)) << name;
    EXPECT_NE(NameProblem(name), "");
  }
}

TEST(IsName, AtMost100Bytes) {
  EXPECT_TRUE(IsName(std::string(100, 'a')));
  EXPECT_FALSE(IsName(std::string(101, 'a')));
  EXPECT_EQ(NameProblem(std::string(1000, 'a')),
            "'" + std::string(100, 'a') + "...' is not a valid name: it has 1000 bytes, and at most 100 are allowed");
}

TEST(NameLike, HasTheLettersAndDigits) {
  EXPECT_EQ(NameLike("Meine Fotos"), "Meine_Fotos");
  EXPECT_EQ(NameLike(".v\xc3\xb6gel-2.0+x\n"), "v_gel-2.0+x_");
  EXPECT_EQ(NameLike("\xd0\xba\xd0\xbe\xd1\x82"), "folder");
  EXPECT_EQ(NameLike(""), "folder");
  EXPECT_EQ(NameLike(std::string(1000, 'a')), std::string(100, 'a'));
}

TEST(NameProblem, IsOneLine) {
  EXPECT_EQ(NameProblem("a\nb\x1b"),
            "'a b ' is not a valid name: use letters, digits, _, ., + and -, a letter or digit first");
}

}  // namespace
}  // namespace openset
