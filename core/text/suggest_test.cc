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

}  // namespace
}  // namespace openset
