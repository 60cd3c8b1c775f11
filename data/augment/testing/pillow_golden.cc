#include "data/augment/testing/pillow_golden.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

const NpzArrays& Golden() {
  static const NpzArrays& arrays = *new NpzArrays(ReadNpz("data/augment/testdata/pillow.npz").value());
  return arrays;
}

}  // namespace

at::Tensor ToTensor(const NpyArray& array) {
  return at::from_blob(const_cast<char*>(array.data.data()), array.shape, at::kByte).clone();
}

at::Tensor Images(int64_t batch, int64_t channels) {
  const at::Tensor values = at::arange(batch * channels * 32 * 32);
  return (values * 7 % 253 + values / 1024 % 3).to(at::kByte).view({batch, channels, 32, 32});
}

at::Tensor Row(std::initializer_list<int> values) {
  return at::tensor(std::vector<int>(values)).to(at::kByte).view({1, 1, 1, -1});
}

void ExpectEqualsPillow(absl::string_view operation,
                        const std::function<at::Tensor(const at::Tensor&, const PillowParameters&)>& apply) {
  int batches = 0;
  for (const auto& [name, images] : Golden()) {
    absl::string_view group = name;
    if (!absl::ConsumePrefix(&group, "image/")) continue;
    const auto cases = Golden().find(absl::StrCat(operation, "/", group, "/case"));
    if (cases == Golden().end()) continue;
    ++batches;
    const int64_t columns = cases->second.shape[1];
    const std::vector<double> numbers = ToDouble(cases->second).value();
    std::vector<int64_t> index;
    PillowParameters parameters(columns - 1);
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (i % columns == 0) index.push_back(static_cast<int64_t>(numbers[i]));
      if (i % columns != 0) parameters[i % columns - 1].push_back(numbers[i]);
    }
    const at::Tensor input = ToTensor(images).index_select(0, at::tensor(index, at::kLong));
    const at::Tensor expected = ToTensor(Golden().at(absl::StrCat(operation, "/", group, "/expected")));
    const at::Tensor actual = apply(input, parameters);
    ASSERT_EQ(actual.sizes(), expected.sizes()) << operation << " of " << group;
    ASSERT_EQ(actual.dtype(), at::kByte);
    for (size_t i = 0; i < index.size(); ++i) {
      const int64_t different = (actual[i] != expected[i]).sum().item<int64_t>();
      EXPECT_EQ(different, 0) << operation << " of image " << index[i] << " of " << group << " with "
                              << absl::StrJoin(absl::MakeSpan(numbers).subspan(i * columns + 1, columns - 1), ", ")
                              << ": values differ by up to "
                              << (actual[i].to(at::kInt) - expected[i].to(at::kInt)).abs().max().item<int>();
    }
  }
  EXPECT_GT(batches, 0) << "no cases of " << operation;
}

}  // namespace openset
