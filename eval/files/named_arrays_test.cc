#include "eval/files/named_arrays.h"

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

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

TEST(NamedArrays, ReadsFittingArraysAndNamesOthers) {
  const std::string path = "a.npz";
  const NpzArrays arrays = {{"x", MakeNpy(std::vector<double>{1, 2.5}, {2, 1})},
                            {"n", MakeNpy(std::vector<int64_t>{7}, {})}};
  const NamedArrays named(path, arrays);
  std::vector<double> values;
  EXPECT_TRUE(named.Read("x", {-1, 1}, &ToDouble, &values).ok());
  EXPECT_THAT(values, ElementsAre(1, 2.5));
  EXPECT_EQ(*named.ReadOne("n"), 7);
  std::vector<int64_t> whole;
  EXPECT_EQ(named.Read("x", {2, 1}, &ToInt64, &whole),
            absl::InvalidArgumentError("a.npz: array 'x' holds 2.5 in row 1, not a whole number"));
  EXPECT_EQ(named.Read("x", {3, -1}, &ToDouble, &values),
            absl::InvalidArgumentError("a.npz: array 'x' has shape [2, 1], expected [3, any]"));
  EXPECT_EQ(named.Read("y", {3}, &ToDouble, &values),
            absl::InvalidArgumentError("a.npz: has no array 'y' (it has n, x)"));
  EXPECT_EQ(named.Get("n", {1}).status(),
            absl::InvalidArgumentError("a.npz: array 'n' has shape a single value, expected [1]"));
  const std::vector<std::string> columns = {"", "id", "x"};
  EXPECT_EQ(NamedArrays(path, arrays, columns).Missing("y"),
            absl::InvalidArgumentError("a.npz: has no column 'y' (it has (no name), id, x)"));
}

}  // namespace
}  // namespace openset
