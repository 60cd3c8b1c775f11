#include "core/suggest.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Unknown, SuggestsTheNearestName) {
  EXPECT_EQ(Unknown("method", "sofmax", {"openauc", "softmax"}),
            "unknown method 'sofmax'; did you mean 'softmax'? (known: openauc, softmax)");
}

TEST(Unknown, SuggestsNothingFarAway) {
  EXPECT_EQ(Unknown("method", "abc", {"openauc", "softmax"}), "unknown method 'abc' (known: openauc, softmax)");
  EXPECT_EQ(Unknown("method", "abc", {}), "unknown method 'abc'");
}

}  // namespace
}  // namespace openset
