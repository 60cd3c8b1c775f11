#include "data/image_source.h"

#include <utility>

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// Grey images of `height` x 1 pixels, of these values and classes.
std::shared_ptr<const ImageSource> Source(const std::string& part, int64_t height, std::vector<uint8_t> values,
                                          std::vector<int32_t> labels) {
  ImageSet set;
  set.channels = set.width = 1;
  set.height = height;
  for (const uint8_t value : values) set.pixels.insert(set.pixels.end(), height, value);
  set.labels = std::move(labels);
  return MakeMemorySource(std::move(set), part);
}

TEST(MemorySource, ReadsInTheOrderAskedFor) {
  const auto source = Source("train", 2, {7, 8, 9}, {0, 2, 1});
  EXPECT_THAT(source->index().label, ElementsAre(0, 2, 1));
  EXPECT_THAT(source->index().group_name, ElementsAre("train"));
  EXPECT_EQ(source->shape().bytes(), 2);
  const std::vector<Image> images = *source->Read({2, 0, 2});
  ASSERT_EQ(images.size(), 3);
  EXPECT_THAT(images[0].pixels, ElementsAre(9, 9));
  EXPECT_THAT(images[1].pixels, ElementsAre(7, 7));
  EXPECT_EQ(images[2].height, 2);
  EXPECT_TRUE(source->Read({})->empty());
}

TEST(JoinSources, ConcatenatesParts) {
  const auto joined =
      JoinSources({Source("train", 2, {7, 8}, {0, 2}), Source("none", 2, {}, {}), Source("test", 2, {9}, {5})});
  EXPECT_THAT(joined->index().label, ElementsAre(0, 2, 5));
  EXPECT_THAT(joined->index().group, ElementsAre(0, 0, 2));
  EXPECT_THAT(joined->index().group_name, ElementsAre("train", "none", "test"));
  EXPECT_EQ(joined->shape().height, 2);
  const std::vector<Image> images = *joined->Read({2, 1, 0, 2});
  ASSERT_EQ(images.size(), 4);
  EXPECT_THAT(images[0].pixels, ElementsAre(9, 9));
  EXPECT_THAT(images[1].pixels, ElementsAre(8, 8));
  EXPECT_THAT(images[2].pixels, ElementsAre(7, 7));
  EXPECT_THAT(images[3].pixels, ElementsAre(9, 9));
}

TEST(JoinSources, PassesEachImageWithItsPosition) {
  const auto joined = JoinSources({Source("train", 2, {7, 8}, {0, 2}), Source("test", 2, {9}, {5})});
  std::vector<std::vector<uint8_t>> pixels(4);
  const absl::Status status =
      joined->ReadEach({2, 1, 0, 2}, [&](int64_t place, Image image) { pixels[place] = std::move(image.pixels); });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(pixels, ElementsAre(ElementsAre(9, 9), ElementsAre(8, 8), ElementsAre(7, 7), ElementsAre(9, 9)));
}

// More images than are in memory at once.
TEST(ImageSource, PassesEachOfManyImagesOnce) {
  std::vector<uint8_t> values(200);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i);
  const auto source = Source("train", 1, values, std::vector<int32_t>(values.size()));
  std::vector<int64_t> samples(values.rbegin(), values.rend());
  std::vector<int> given(values.size());
  EXPECT_TRUE(source->ReadEach(samples, [&](int64_t i, Image image) { given[i] += image.pixels[0]; }).ok());
  EXPECT_EQ(given, std::vector<int>(samples.begin(), samples.end()));
}

TEST(JoinSources, ReturnsASingleSource) {
  const auto source = Source("train", 2, {7}, {0});
  EXPECT_EQ(JoinSources({source}), source);
}

TEST(JoinSources, PartsOfDifferentSizesHaveNoCommonSize) {
  const auto joined = JoinSources({Source("train", 2, {7}, {0}), Source("test", 3, {9}, {5})});
  EXPECT_EQ(joined->shape().height, 0);
  EXPECT_EQ(joined->shape().bytes(), 0);
  EXPECT_EQ((*joined->Read({1}))[0].height, 3);
}

}  // namespace
}  // namespace openset
