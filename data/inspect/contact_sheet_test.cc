#include "data/inspect/contact_sheet.h"

#include "core/testing/status_matchers.h"
#include "data/readers/images/decode_image.h"

namespace openset {
namespace {

TEST(Scale, AveragesTheCoveredPixels) {
  const Image image{1, 2, 4, {0, 10, 20, 30, 40, 50, 60, 70}};
  EXPECT_THAT(Scale(image, 1, 2).pixels, ElementsAre(25, 45));
  EXPECT_THAT(Scale(image, 2, 4).pixels, image.pixels);
  // From 4 pixels to 3: each covers 4/3, so the first is (0 + 12 / 3) / (4 / 3) = 3 and the last 29.75.
  EXPECT_THAT(Scale({1, 1, 4, {0, 12, 20, 33}}, 1, 3).pixels, ElementsAre(3, 16, 30));
  EXPECT_THAT(Scale({1, 1, 2, {3, 9}}, 2, 4).pixels, ElementsAre(3, 3, 9, 9, 3, 3, 9, 9));
}

// Two rows: one with a grey image, and one with two images, the second of which is wide.
TEST(ContactSheet, PutsImagesIntoTiles) {
  const Image grey{1, 4, 4, std::vector<uint8_t>(16, 7)};
  const Image wide{3, 2, 4, std::vector<uint8_t>(24, 9)};
  const Image sheet = MakeContactSheet({{{0, 128, 0}, {grey}}, {{200, 0, 0}, {grey, wide}}}, 4);
  EXPECT_EQ(sheet.height, 2 + 2 * 6);
  EXPECT_EQ(sheet.width, 6 + 2 + 2 * 6);
  const auto at = [&](int c, int y, int x) { return sheet.pixels[(c * sheet.height + y) * sheet.width + x]; };
  EXPECT_EQ(at(1, 2, 0), 128);
  EXPECT_EQ(at(0, 2, 5), 0);
  EXPECT_EQ(at(0, 8, 0), 200);
  EXPECT_EQ(at(0, 1, 0), 255) << "white between";
  for (int c = 0; c < 3; ++c) {
    EXPECT_EQ(at(c, 2, 8), 7);
    EXPECT_EQ(at(c, 5, 11), 7);
    EXPECT_EQ(at(c, 2, 14), 255) << "no second image in the first row";
    EXPECT_EQ(at(c, 8, 14), 255) << "the wide one is in the middle";
    EXPECT_EQ(at(c, 9, 14), 9);
    EXPECT_EQ(at(c, 10, 17), 9);
    EXPECT_EQ(at(c, 11, 14), 255);
  }
}

// As samples that are labels only have.
TEST(ContactSheet, ImagesWithoutPixelsLeaveTheirTilesWhite) {
  const Image grey{1, 4, 4, std::vector<uint8_t>(16, 7)}, none{1, 0, 0, {}}, flat{3, 0, 4, {}};
  const Image sheet = MakeContactSheet({{{0, 128, 0}, {none, grey, flat}}}, 4);
  EXPECT_EQ(sheet.width, 6 + 2 + 3 * 6);
  const auto at = [&](int y, int x) { return sheet.pixels[y * sheet.width + x]; };
  EXPECT_EQ(at(2, 8), 255);
  EXPECT_EQ(at(2, 14), 7);
  EXPECT_EQ(at(2, 20), 255);
  const Image grey_only = MakeContactSheet({{{0, 128, 0}, {grey}}}, 4),
              none_only = MakeContactSheet({{{0, 128, 0}, {none}}}, 4);
  EXPECT_EQ(none_only.width, grey_only.width);
}

TEST(EncodePng, RoundTrips) {
  Image image{3, 3, 2, {}};
  for (int i = 0; i < 18; ++i) image.pixels.push_back(static_cast<uint8_t>(14 * i));
  ASSERT_OK_AND_ASSIGN(const auto bytes, EncodePng(image));
  ASSERT_OK_AND_ASSIGN(const auto decoded, DecodeImage(bytes, 3));
  EXPECT_EQ(decoded.height, 3);
  EXPECT_EQ(decoded.pixels, image.pixels);
  EXPECT_THAT(MakeContactSheet({}, 4).pixels, Each(255));
}

}  // namespace
}  // namespace openset
