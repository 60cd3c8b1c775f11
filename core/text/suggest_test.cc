#include "core/text/suggest.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Unknown, SuggestsTheNearestName) {
  EXPECT_EQ(UnknownName("method", "sofmax", {"openauc", "softmax"}),
            "unknown method 'sofmax'; did you mean 'softmax'? (known: openauc, softmax)");
}

// "map" is nearer by letters.
TEST(Unknown, SuggestsTheNameOfASynonym) {
  EXPECT_EQ(UnknownName("score", "msp", {"map", "max_softmax"}),
            "unknown score 'msp'; did you mean 'max_softmax'? (known: map, max_softmax)");
  EXPECT_EQ(UnknownName("field", "Max-Logit", {"max_logit"}),
            "unknown field 'Max-Logit'; did you mean 'max_logit'? (known: max_logit)");
}

TEST(Unknown, SuggestsNothingFarAway) {
  EXPECT_EQ(UnknownName("method", "abc", {"openauc", "softmax"}), "unknown method 'abc' (known: openauc, softmax)");
  EXPECT_EQ(UnknownName("method", "abc", {}), "unknown method 'abc'");
}

// One edit from "m13": m1, m3 and m13's neighbours; the others have two or more.
TEST(Unknown, NamesTheNearestOfMany) {
  std::vector<std::string> known;
  for (int i = 0; i < 12; ++i) known.push_back("m" + std::to_string(i));
  const std::string twelve = "(known: m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11)";
  EXPECT_EQ(UnknownName("method", "m13", known, "openset list methods"),
            "unknown method 'm13'; did you mean 'm1'? " + twelve);
  known.emplace_back("far_away");
  EXPECT_EQ(
      UnknownName("method", "m13", known, "openset list methods"),
      "unknown method 'm13'; did you mean 'm1'? (known: m1, m3, m10, m11, m0 and 8 others; 'openset list methods' "
      "shows all)");
  EXPECT_EQ(UnknownName("method", "zzzzzzzz", known, "openset list methods"),
            "unknown method 'zzzzzzzz' (known: m0, m1, m2, m3, m4 and 8 others; 'openset list methods' shows all)");
  EXPECT_EQ(
      UnknownName("method", "m13", known),
      "unknown method 'm13'; did you mean 'm1'? (known: m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, far_away)");
}

}  // namespace
}  // namespace openset
