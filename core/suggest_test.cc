#include "core/suggest.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Unknown, SuggestsTheNearestName) {
  EXPECT_EQ(UnknownName("method", "sofmax", {"openauc", "softmax"}),
            "unknown method 'sofmax'; did you mean 'softmax'? (known: openauc, softmax)");
}

TEST(Unknown, SuggestsNothingFarAway) {
  EXPECT_EQ(UnknownName("method", "abc", {"openauc", "softmax"}), "unknown method 'abc' (known: openauc, softmax)");
  EXPECT_EQ(UnknownName("method", "abc", {}), "unknown method 'abc'");
}

}  // namespace
}  // namespace openset
