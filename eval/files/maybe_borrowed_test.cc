#include "eval/files/maybe_borrowed.h"

#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(MaybeBorrowedTest, CopiesOnlyWhenChanged) {
  std::vector<float> kept = {1, 2, 3};
  MaybeBorrowed<float> values = MaybeBorrowed<float>::Borrow(kept);
  EXPECT_EQ(values.data(), kept.data());
  const MaybeBorrowed<float> copy = values;
  EXPECT_EQ(copy.data(), kept.data());

  values.Own()[0] = 7;
  EXPECT_THAT(values, ElementsAre(7, 2, 3));
  EXPECT_THAT(copy, ElementsAre(1, 2, 3));
  EXPECT_THAT(kept, ElementsAre(1, 2, 3));
  EXPECT_NE(values, copy);
}

TEST(MaybeBorrowedTest, OwnsGivenVectors) {
  MaybeBorrowed<float> values = {4, 5};
  const MaybeBorrowed<float> copy = values;
  EXPECT_NE(copy.data(), values.data());
  EXPECT_EQ(copy, values);
  values = std::vector<float>{6};
  EXPECT_THAT(absl::MakeConstSpan(values), ElementsAre(6));
  EXPECT_THAT(MaybeBorrowed<float>(), IsEmpty());
  EXPECT_THAT(MaybeBorrowed<float>::Borrow({}).Own(), IsEmpty());
}

}  // namespace
}  // namespace openset
