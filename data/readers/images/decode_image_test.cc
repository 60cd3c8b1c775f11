#include "data/readers/images/decode_image.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/testing/byte_order.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(SplitColours, WritesEachByteOnlyToItsPosition) {
  for (int64_t count = 0; count < 70; ++count) {
    std::vector<uint8_t> pixels(3 * count);
    for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i);
    // One more byte after each plane, which must not change.
    std::vector<uint8_t> red(count + 1, 255), green(count + 1, 255), blue(count + 1, 255);
    SplitColours(pixels.data(), count, red.data(), green.data(), blue.data());
    for (int64_t i = 0; i < count; ++i) {
      ASSERT_THAT((std::vector<int>{red[i], green[i], blue[i]}), ElementsAre(3 * i, 3 * i + 1, 3 * i + 2));
    }
    ASSERT_THAT((std::vector<int>{red[count], green[count], blue[count]}), ElementsAre(255, 255, 255));
  }
}

constexpr char kFolder[] = "data/readers/testdata";

std::string Bytes(const std::string& name) { return *ReadFile(JoinPath(kFolder, name)); }

// Returns the largest difference from Pillow's result.
int Difference(const Image& image, const NpyArray& pillow) {
  EXPECT_EQ(std::vector<int64_t>({image.channels, image.height, image.width}), pillow.shape);
  if (image.pixels.size() != pillow.data.size()) return 256;
  int largest = 0;
  for (size_t i = 0; i < image.pixels.size(); ++i) {
    largest = std::max(largest, std::abs(image.pixels[i] - static_cast<uint8_t>(pillow.data[i])));
  }
  return largest;
}

// decoded.npz: Pillow 13.0.0 (tools/peers/make_image_golden.py). PNG and lossless WebP are exact; the others depend on
// the version of their library by a level.
TEST(DecodeImage, EqualsPillow) {
  const NpzArrays golden = *ReadNpz(JoinPath(kFolder, "decoded.npz"));
  std::set<std::string> files;
  for (const auto& [key, expected] : golden) {
    const bool grey = absl::EndsWith(key, "/l");
    const std::string name(absl::StripSuffix(absl::StripSuffix(key, "/l"), "/rgb"));
    files.insert(name);
    const absl::StatusOr<Image> image = DecodeImage(Bytes(name), grey ? 1 : 3);
    ASSERT_TRUE(image.ok()) << name << ": " << image.status();
    const bool exact = absl::EndsWith(name, ".png") || name == "lossless.webp";
    EXPECT_LE(Difference(*image, expected), exact ? 0 : 1) << key;
  }
  EXPECT_EQ(files.size(), 13);
}

// other_formats.npz: Pillow 13.0.0 (tools/peers/make_format_golden.py). JPEG depends on the version of its library, and
// libtiff rounds CMYK in another way, each by a level.
TEST(DecodeImage, ReadsTheOtherFormatsAsPillow) {
  const NpzArrays golden = *ReadNpz(JoinPath(kFolder, "other_formats.npz"));
  int files = 0;
  for (const auto& [key, expected] : golden) {
    const std::string name(absl::StripSuffix(key, "/upright"));
    const absl::StatusOr<Image> image = DecodeImage(Bytes(name), 3, /*exif_orientation=*/name != key);
    ASSERT_TRUE(image.ok()) << name << ": " << image.status();
    EXPECT_LE(Difference(*image, expected), name == "jpeg.tif" || name == "cmyk.tif" ? 1 : 0) << key;
    if (name != key) continue;
    EXPECT_EQ(DecodeImage(Bytes(name), 1)->pixels.size() * 3, image->pixels.size());
    ++files;
  }
  EXPECT_EQ(files, 44);
}

// The upper 8 bits: 0x1234, 0xff80, 0x00ff.
TEST(DecodeImage, TiffOf16BitsKeepsTheUpper8) {
  const auto entry = [](uint32_t tag, uint32_t type, uint32_t count, uint32_t value) {
    return LittleEndian(tag).substr(0, 2) + LittleEndian(type).substr(0, 2) + LittleEndian(count) + LittleEndian(value);
  };
  const std::string tiff = absl::StrCat(
      "II*", absl::string_view("\0", 1), LittleEndian(14), absl::HexStringToBytes("341280ffff00"),
      LittleEndian(8).substr(0, 2), entry(256, 3, 1, 3), entry(257, 3, 1, 1), entry(258, 3, 1, 16), entry(259, 3, 1, 1),
      entry(262, 3, 1, 1), entry(273, 4, 1, 8), entry(277, 3, 1, 1), entry(279, 4, 1, 6), LittleEndian(0));
  ASSERT_OK_AND_ASSIGN(const Image image, DecodeImage(tiff, 1));
  EXPECT_EQ(image.pixels, (std::vector<uint8_t>{0x12, 0xff, 0x00}));
}

// exif_N.jpg has orientation N; formats.npz: Pillow's ImageOps.exif_transpose (tools/peers/make_format_golden.py).
TEST(DecodeImage, FollowsExifOrientation) {
  const NpzArrays golden = *ReadNpz(JoinPath(kFolder, "formats.npz"));
  const Image stored = *DecodeImage(Bytes("exif_1.jpg"), 3);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string name = absl::StrCat("exif_", orientation, ".jpg");
    ASSERT_OK_AND_ASSIGN(const Image image, DecodeImage(Bytes(name), 3, /*exif_orientation=*/true));
    EXPECT_LE(Difference(image, golden.at(absl::StrCat("exif/", orientation))), 1) << name;
    EXPECT_EQ(DecodeImage(Bytes(name), 3)->pixels, stored.pixels) << "is taken as it is stored unless asked";
  }
  EXPECT_EQ(DecodeImage(Bytes("rgb.jpg"), 3, true)->pixels, DecodeImage(Bytes("rgb.jpg"), 3)->pixels);
  EXPECT_EQ(DecodeImage(Bytes("rgb.png"), 3, true)->pixels, DecodeImage(Bytes("rgb.png"), 3)->pixels);
}

// Corrupt EXIF data counts as no orientation.
TEST(DecodeImage, IgnoresCorruptExif) {
  const std::string whole = Bytes("exif_6.jpg");
  const Image turned = *DecodeImage(whole, 3, true), stored = *DecodeImage(whole, 3);
  const size_t exif = whole.find("Exif");
  ASSERT_NE(exif, std::string::npos);
  for (size_t at = exif; at < exif + 32; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    const absl::StatusOr<Image> image = DecodeImage(damaged, 3, true);
    if (!image.ok()) continue;  // the marker's length
    EXPECT_TRUE(image->pixels.size() == turned.pixels.size());
  }
  EXPECT_NE(turned.height, stored.height);
}

// Files of the formats without checksums: cut anywhere before the last pixel, they are refused.
TEST(DecodeImage, RefusesTruncatedFilesOfOtherFormats) {
  for (const std::string name : {"rgb.bmp", "palette.bmp", "runs8.bmp", "plain.tif", "lzw.tif", "palette.gif",
                                 "interlaced.gif", "rgb.ppm", "deep.ppm", "moving.webp"}) {
    const std::string bytes = Bytes(name);
    const Image whole = *DecodeImage(bytes, 3);
    for (size_t length = 0; length < bytes.size(); ++length) {
      const absl::StatusOr<Image> image = DecodeImage(absl::string_view(bytes).substr(0, length), 3);
      if (image.ok()) {
        EXPECT_GT(length, bytes.size() / 4) << name;
        EXPECT_EQ(image->pixels, whole.pixels) << name << " " << length;
      } else {
        EXPECT_EQ(image.status().code(), absl::StatusCode::kDataLoss) << name << " " << length;
      }
    }
  }
}

TEST(DecodeImage, RefusesOtherFiles) {
  for (const std::string bytes : {"", "GIF88a", "\xff\xd8", "RIFF", "RIFF1234WEB", "P7 1", "II*"}) {
    EXPECT_EQ(DecodeImage(bytes, 3).status(),
              absl::DataLossError(
                  absl::StrCat("not a PNG, JPEG, WebP, TIFF, GIF, BMP or PNM image, at byte 0 of ", bytes.size())));
  }
}

// Every truncated file is refused: an incomplete image is never accepted. (The last bytes of PNG and WebP contain no
// pixels; a JPEG's are its end marker, without which libjpeg reports the end of the data.)
TEST(DecodeImage, RefusesTruncatedFiles) {
  for (const std::string name : {"rgb.png", "grey.png", "rgb.jpg", "grey.jpg", "lossy.webp", "lossless.webp"}) {
    const std::string bytes = Bytes(name);
    const size_t unused = absl::EndsWith(name, ".png") ? 16 : 2;
    for (size_t length = 0; length + unused < bytes.size(); ++length) {
      const absl::StatusOr<Image> image = DecodeImage(absl::string_view(bytes).substr(0, length), 3);
      EXPECT_EQ(image.status().code(), absl::StatusCode::kDataLoss) << name << " " << length;
    }
  }
}

// Whole files pass, also with bytes behind them; those that are cut short do not.
TEST(CheckImageFile, FindsFilesThatAreCutShort) {
  const std::string path = JoinPath(::testing::TempDir(), "image");
  const auto check = [&](const std::string& bytes) {
    EXPECT_TRUE(WriteFileAtomically(path, bytes).ok());
    return CheckImageFile(path);
  };
  for (const std::string name :
       {"rgb.png", "rgb.jpg", "lossy.webp", "moving.webp", "palette.gif", "rgb.bmp", "lzw.tif", "rgb.ppm"}) {
    const std::string bytes = Bytes(name);
    EXPECT_TRUE(check(bytes).ok()) << name;
    EXPECT_TRUE(check(bytes + "behind").ok()) << name;
    const absl::Status cut = check(bytes.substr(0, bytes.size() / 2));
    EXPECT_TRUE(absl::IsDataLoss(cut)) << name;
    EXPECT_THAT(std::string(cut.message()), ::testing::StartsWith(path + ": ")) << name;
  }
  EXPECT_EQ(check("no image").message(), path + ": not a PNG, JPEG, WebP, TIFF, GIF, BMP or PNM image, at byte 0 of 8");
  EXPECT_TRUE(absl::IsNotFound(CheckImageFile(path + "s")));
}

TEST(DecodeImage, CorruptFilesAreRefusedOrDecoded) {
  for (const std::string name : {"rgb.png", "rgb.jpg", "lossy.webp", "palette.bmp", "runs4.bmp", "lzw.tif", "fax.tif",
                                 "jpeg.tif", "see_through.gif", "text.ppm", "one_bit.pbm", "canvas.webp"}) {
    const std::string bytes = Bytes(name);
    for (size_t at = 0; at < bytes.size(); ++at) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
      const absl::StatusOr<Image> image = DecodeImage(damaged, 3);
      if (image.ok()) {
        EXPECT_EQ(image->pixels.size(), 3 * image->height * image->width);
      } else {
        EXPECT_EQ(image.status().code(), absl::StatusCode::kDataLoss) << name << " " << at;
      }
    }
  }
}

TEST(DecodeImage, DoesNotAllocateClaimedSizes) {
  // The height in a JPEG's frame header: 2 bytes, 5 after the marker FF C0.
  std::string jpeg = Bytes("rgb.jpg");
  const size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, BigEndian(60000, 2) + BigEndian(1000, 2));
  EXPECT_THAT(std::string(DecodeImage(jpeg, 3).status().message()),
              HasSubstr("not a valid JPEG image (it claims to be 1000 x 60000 pixels, at byte "));
  std::string png = Bytes("rgb.png").substr(0, 16) + BigEndian(100000, 4) + BigEndian(100000, 4);
  png += Bytes("rgb.png").substr(24);
  EXPECT_EQ(DecodeImage(png, 3).status().code(), absl::StatusCode::kDataLoss);
  // Width and height in a WebP image's frame header, 14 bits each, least significant byte first, after its start code.
  std::string webp = Bytes("lossy.webp");
  const size_t start = webp.find("\x9d\x01\x2a");
  ASSERT_NE(start, std::string::npos);
  webp.replace(start + 3, 4, "\xff\x3f\xff\x3f");
  EXPECT_THAT(std::string(DecodeImage(webp, 3).status().message()),
              HasSubstr("not a valid WebP image (it claims to be 16383 x 16383 pixels, at byte 12"));
}

TEST(DecodeImage, ErrorsNameTheByte) {
  const std::string whole = Bytes("lossy.webp");
  const auto message = [](absl::string_view bytes) { return std::string(DecodeImage(bytes, 3).status().message()); };
  EXPECT_EQ(message(absl::string_view(whole).substr(0, 100)),
            absl::StrCat("not a valid WebP image (cut short at byte 100 of ", whole.size(), ")"));
  std::string damaged = whole;
  damaged.replace(damaged.find("VP8 "), 4, "VP9 ");
  EXPECT_THAT(message(damaged), HasSubstr(absl::StrCat("no image after byte 12 of ", whole.size())));
  damaged = whole;
  const size_t at = whole.find("VP8 ");
  damaged.replace(at + 11, 3, "abc");  // the key frame's start code
  EXPECT_THAT(message(damaged), HasSubstr(absl::StrCat("corrupt, from byte ", at, " of ", whole.size(), " on")));
  // Pixels of a PNG: the checksum after its data does not match.
  std::string png = Bytes("rgb.png");
  png[png.find("IDAT") + 8] ^= 1;
  EXPECT_THAT(message(png), ::testing::MatchesRegex("not a valid PNG image \\(.*, at byte [0-9]+ of [0-9]+\\)"));
}

// Returns the JPEG with its last scan repeated, so that there are `scans` more.
std::string WithMoreScans(const std::string& jpeg, int scans) {
  const size_t at = jpeg.rfind("\xff\xda"), end = jpeg.size() - 2;  // an end marker ends the file
  std::string bytes = jpeg.substr(0, end);
  for (int i = 0; i < scans; ++i) bytes.append(jpeg, at, end - at);
  return bytes + jpeg.substr(end);
}

TEST(DecodeImage, AJpegHasAtMost100Scans) {
  const std::string jpeg = Bytes("progressive.jpeg");  // of 10 scans, as libjpeg writes by default
  EXPECT_TRUE(DecodeImage(WithMoreScans(jpeg, 50), 3).ok());
  for (const int scans : {100, 2000}) {
    EXPECT_THAT(DecodeImage(WithMoreScans(jpeg, scans), 3), IsDataLoss("it has more than 100 scans"));
  }
}

// At most 30 bytes that claim 16383 x 16383 pixels or more.
TEST(DecodeImage, RefusesSizesBeyondItsLimit) {
  std::string webp("RIFF\x12\0\0\0WEBPVP8L\5\0\0\0\x2f\xfe\xff\xff\x0f\0", 26);
  std::string png = Bytes("rgb.png");
  png.replace(16, 8, std::string("\0\1\0\0\0\1\0\0", 8));
  std::string jpeg = Bytes("rgb.jpg");
  const size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\xff\xf0\xff\xf0");
  std::string bmp = Bytes("rgb.bmp"), tiff = Bytes("plain.tif"), gif = Bytes("palette.gif");
  bmp.replace(18, 8, LittleEndian(60000) + LittleEndian(60000));
  const size_t width_tag = tiff.find(std::string("\0\1\4\0\1\0\0\0", 8));  // tag 256, one number of 32 bits
  ASSERT_NE(width_tag, std::string::npos);
  tiff.replace(width_tag + 8, 4, LittleEndian(1 << 30));
  gif.replace(6, 4, "\xff\xff\xff\xff");
  const std::string runs = absl::StrCat(bmp.substr(0, 18), LittleEndian(8000), LittleEndian(8000),
                                        absl::string_view("\1\0\10\0\1\0\0\0", 8), bmp.substr(34));
  const std::string ppm = "P6 60000 60000 255\n", text = "P1 8000 8000 1 0 1";
  for (const std::string& bytes : {webp, png, jpeg, bmp, tiff, gif, runs, ppm, text}) {
    const absl::Status status = DecodeImage(bytes, 3).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  }
}

}  // namespace
}  // namespace openset
