#include "data/splits/repeated_splits.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

ClassSplit Split(const std::vector<int>& known, const std::vector<int>& unknown) {
  ClassSplit split;
  for (const int id : known) split.add_known(id);
  for (const int id : unknown) split.add_unknown(id);
  return split;
}

TEST(FindRepeatedSplits, ComparesKnownClassesInAnyOrder) {
  EXPECT_TRUE(FindRepeatedSplits({Split({0, 1}, {}), Split({0, 2}, {}), Split({0}, {})}).empty());
  const std::vector<RepeatedSplit> repeated =
      FindRepeatedSplits({Split({0, 1}, {}), Split({2, 1}, {3, 4}), Split({1, 0}, {}), Split({1, 2}, {4, 5, 6})});
  ASSERT_EQ(repeated.size(), 2);
  EXPECT_EQ(RepeatText(repeated[0]),
            "split 2 has the same known and unknown classes as split 0: tests count the two as one split, with the "
            "seeds of both");
  EXPECT_EQ(RepeatText(repeated[1]),
            "split 3 has the same known classes as split 1 and 1 of its 3 unknown ones: together they are about one "
            "draw, and tests count two");
  // Fewer of the same unknown classes are others.
  EXPECT_FALSE(FindRepeatedSplits({Split({0}, {1, 2}), Split({0}, {1})})[0].is_equal);
}

}  // namespace
}  // namespace openset
