// Files with random changes are read completely or refused with a message that names the file. Readers never crash
// (under --config=asan: never have undefined behaviour), and never allocate memory for data that is only declared.
// Tests --rounds files of each kind, one seed after another; a failing seed is printed and can be passed as
// --first_seed.
#include "core/testing/mutation.h"

#include <zlib.h>

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/testing/byte_order.h"
#include "data/readers/cifar_binary.h"
#include "data/readers/feature_file.h"
#include "data/readers/gzip.h"
#include "data/readers/idx.h"
#include "data/readers/images/decode_image.h"
#include "data/readers/images/png_sheet.h"
#include "data/readers/mat.h"
#include "data/readers/npz_images.h"
#include "data/testing/damage.h"

namespace openset {
namespace {

std::string Stored(const std::string& name) { return *ReadFile(JoinPath("data/readers/testdata", name)); }

void CheckRefusal(const absl::Status& status, const std::string& path) {
  EXPECT_TRUE(absl::IsDataLoss(status) || absl::IsInvalidArgument(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), path)) << status;
  EXPECT_FALSE(absl::StrContains(status.message(), "\n")) << status;
}

void Check(const absl::StatusOr<ImageSet>& set, const std::string& path) {
  if (!set.ok()) return CheckRefusal(set.status(), path);
  EXPECT_GT(set->size(), 0);
  EXPECT_GT(set->image_bytes(), 0);
  EXPECT_EQ(set->pixels.size(), set->size() * set->image_bytes());
  for (const int32_t label : set->labels) EXPECT_GE(label, 0);
}

void CheckImage(const std::string& bytes) {
  for (const int channels : {1, 3}) {
    const absl::StatusOr<Image> image = DecodeImage(bytes, channels, /*exif_orientation=*/true);
    if (!image.ok()) {
      CheckRefusal(image.status(), "");
      continue;
    }
    EXPECT_GT(image->pixels.size(), 0);
    EXPECT_EQ(image->pixels.size(), image->channels * image->height * image->width);
    EXPECT_EQ(image->channels, channels);
  }
}

uint32_t ReadBig32(absl::string_view bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

// Returns the bytes compressed by zlib.
std::string Compressed(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string result(size, '\0');
  compress(reinterpret_cast<Bytef*>(result.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  result.resize(size);
  return result;
}

// Returns the PNG file with the checksums of its changed chunks corrected, as far as the chunks can be found.
std::string WithChecksums(std::string png) {
  size_t at = 8;
  while (at + 12 <= png.size()) {
    const size_t length = ReadBig32(absl::string_view(png).substr(at));
    if (length > png.size() - at - 12) break;
    const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(&png[at + 4]), length + 4);
    png.replace(at + 8 + length, 4, BigEndian(static_cast<uint32_t>(sum)));
    at += 12 + length;
  }
  return png;
}

const std::vector<std::string>& Sizes() {
  static const auto* const sizes = new std::vector<std::string>{BigEndian(0xffffffff), BigEndian(0x10000), BigEndian(2),
                                                                LittleEndian(0xfffffff8), LittleEndian(1)};
  return *sizes;
}

// Two images of 2 x 3 pixels, as in idx_test.cc.
constexpr char kImages[] = "000008030000000200000002000000030102030405060708090a0b0c";
constexpr char kLabels[] = "00000801000000020700";
constexpr char kImagesGz[] = "1f8b08000000000002036360e06066606060826266462666165636760e4e2e6e1e0048110c841c000000";

TEST(MutationTest, Idx) {
  const std::string images = absl::HexStringToBytes(kImages), labels = absl::HexStringToBytes(kLabels);
  for (const std::string& valid : {images, absl::HexStringToBytes(kImagesGz)}) {
    ForEachMutation("idx images", valid, Sizes(), [&](const std::string& changed) {
      const std::string path = WriteTestFile("images", changed), labels_path = WriteTestFile("labels", labels);
      Check(ReadIdx(path, labels_path), path);
    });
  }
  ForEachMutation("idx labels", labels, Sizes(), [&](const std::string& changed) {
    const std::string path = WriteTestFile("labels", changed), images_path = WriteTestFile("images", images);
    Check(ReadIdx(images_path, path), path);
  });
}

TEST(MutationTest, CifarBinary) {
  CifarRecord record;
  record.label_bytes = 2;
  record.label_at = 1;
  record.channels = 3;
  record.height = record.width = 2;
  ForEachMutation("cifar", std::string(3 * 14, '\x07'), {}, [&](const std::string& changed) {
    const std::string path = WriteTestFile("batch.bin", changed);
    Check(ReadCifarBinary({path}, record), path);
  });
}

TEST(MutationTest, Mat) {
  const std::vector<std::string> tokens = {
      LittleEndian(14) + LittleEndian(0xfffffff8), LittleEndian(15),         LittleEndian(6) + LittleEndian(8),
      LittleEndian(5) + LittleEndian(16),          LittleEndian(0x7fffffff), LittleEndian(0x40002)};
  for (const char* name : {"digits.mat", "digits_plain.mat"}) {
    ForEachMutation(name, Stored(name), tokens, [&](const std::string& changed) {
      const std::string path = WriteTestFile("changed.mat", changed);
      Check(ReadMat(path, "X", "y"), path);
    });
  }
  // Compressed arrays with correct checksums.
  const std::string plain = Stored("digits_plain.mat");
  uint32_t length = 0;
  for (int i = 3; i >= 0; --i) length = length << 8 | static_cast<uint8_t>(plain[132 + i]);
  const std::string first = plain.substr(128, 8 + length), others = plain.substr(136 + length);
  ForEachMutation("compressed array", first, tokens, [&](const std::string& changed) {
    const std::string inside = Compressed(changed);
    const std::string path = WriteTestFile("changed.mat", absl::StrCat(plain.substr(0, 128), LittleEndian(15),
                                                                       LittleEndian(inside.size()), inside, others));
    Check(ReadMat(path, "X", "y"), path);
  });
}

TEST(MutationTest, Features) {
  const std::vector<std::string> tokens = {"(1000000000,)", "(-1,)", "'|O'", "'<f8'", "'<U1'", "(3, 0)", "\x93NUMPY"};
  const NpzArrays valid = {{"label", MakeNpy(std::vector<int64_t>{0, 1, -1}, {3})},
                           {"features", MakeNpy(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2})},
                           {"group", MakeNpy(std::vector<int64_t>{-1, -1, 0}, {3})},
                           {"group_names", MakeNpy(std::vector<std::string>{"far"})},
                           {"part", MakeNpy(std::vector<std::string>{"train", "test", "test"})},
                           {"cluster", MakeNpy(std::vector<int64_t>{5, 5, 6}, {3})}};
  const auto check = [](const std::string& path) {
    const absl::StatusOr<FeatureArrays> arrays = ReadFeatureFile(path);
    if (!arrays.ok()) return CheckRefusal(arrays.status(), path);
    EXPECT_EQ(arrays->features.size(), arrays->class_id.size() * arrays->dim);
    for (const int32_t id : arrays->class_id) {
      EXPECT_GE(id, 0);
      EXPECT_LT(id, arrays->class_names.size());
    }
    for (const int32_t part : arrays->part) EXPECT_LT(part, arrays->part_names.size());
    EXPECT_TRUE(arrays->cluster.empty() || arrays->cluster.size() == arrays->class_id.size());
  };
  const std::string whole = WriteTestFile("features.npz", "");
  ASSERT_TRUE(WriteNpz(whole, valid).ok());
  ForEachMutation("features", *ReadFile(whole), tokens,
                  [&](const std::string& changed) { check(WriteTestFile("changed.npz", changed)); });
  // Arrays that the archive's checksums do not protect.
  ForEachRound("feature arrays", [&](RandomStream* random) {
    NpzArrays arrays = valid;
    auto entry = arrays.begin();
    std::advance(entry, random->Below(arrays.size()));
    const absl::StatusOr<NpyArray> changed = ParseNpy(Mutated(FormatNpy(entry->second), tokens, random));
    if (!changed.ok()) return;
    entry->second = *changed;
    const std::string path = WriteTestFile("arrays.npz", "");
    ASSERT_TRUE(WriteNpz(path, arrays).ok());
    check(path);
  });
}

TEST(MutationTest, Npz) {
  const std::vector<std::string> tokens = {"(1000000000,)", "(-1,)", "'|O'", "'<u1'", "True", "PK\5\6", "\x93NUMPY"};
  ForEachMutation("npz", Stored("pictures.npz"), tokens, [&](const std::string& changed) {
    const std::string path = WriteTestFile("changed.npz", changed);
    Check(ReadNpzImages(path, path, "images", "labels"), path);
  });
  // Arrays that the archive's checksums do not protect.
  const NpzArrays valid = {{"images", {"|u1", {2, 2, 3}, std::string(12, '\3')}},
                           {"labels", MakeNpy(std::vector<int64_t>{1, 0}, {2})}};
  ForEachRound("npz arrays", [&](RandomStream* random) {
    NpzArrays arrays = valid;
    auto entry = arrays.begin();
    std::advance(entry, random->Below(2));
    const absl::StatusOr<NpyArray> changed = ParseNpy(Mutated(FormatNpy(entry->second), tokens, random));
    if (!changed.ok()) return;
    entry->second = *changed;
    const std::string path = WriteTestFile("arrays.npz", "");
    ASSERT_TRUE(WriteNpz(path, arrays).ok());
    Check(ReadNpzImages(path, path, "images", "labels"), path);
  });
}

TEST(MutationTest, Png) {
  std::vector<std::string> tokens = Sizes();
  tokens.insert(tokens.end(), {"IHDR", "PLTE", "IDAT", "IEND", "tRNS", "\x08\x03", "\x10\x06\0\0\1"});
  for (const char* name : {"rgb.png", "palette.png", "one_bit.png", "grey_alpha.png", "turned_6.png"}) {
    ForEachMutation(name, Stored(name), tokens, [](const std::string& changed) {
      CheckImage(changed);
      CheckImage(WithChecksums(changed));
    });
  }
}

TEST(MutationTest, Jpeg) {
  const std::vector<std::string> tokens = {"\xff\xc0", "\xff\xc2", "\xff\xc4", "\xff\xda", "\xff\xd9",
                                           "\xff\xd0", "\xff\xe1", "\xff\xff", "Exif",     std::string("\0\6", 2)};
  for (const char* name : {"rgb.jpg", "progressive.jpeg", "cmyk.jpg", "exif_6.jpg"}) {
    ForEachMutation(name, Stored(name), tokens, CheckImage);
  }
}

TEST(MutationTest, Webp) {
  for (const char* name : {"lossy.webp", "lossless.webp", "moving.webp", "canvas.webp", "turned_6.webp"}) {
    ForEachMutation(name, Stored(name),
                    {"VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "EXIF", LittleEndian(0xfffffff0)}, CheckImage);
  }
}

TEST(MutationTest, Tiff) {
  const std::vector<std::string> tokens = {std::string("\0\1\4\0", 4),
                                           std::string("\1\1\4\0", 4),
                                           std::string("\3\1\3\0", 4),
                                           "II*",
                                           "MM",
                                           LittleEndian(0x7fffffff),
                                           LittleEndian(8),
                                           LittleEndian(0)};
  for (const char* name : {"plain.tif", "lzw.tif", "deflate.tiff", "packbits.tif", "jpeg.tif", "fax.tif", "palette.tif",
                           "rgba.tif", "cmyk.tif", "turned.tif"}) {
    ForEachMutation(name, Stored(name), tokens, CheckImage);
  }
}

TEST(MutationTest, Gif) {
  for (const char* name : {"palette.gif", "interlaced.gif", "see_through.gif", "moving.gif", "canvas.gif"}) {
    ForEachMutation(name, Stored(name), {"\x21\xf9\4", ",", ";", "!", "\xff\xff", std::string("\0\0", 2)}, CheckImage);
  }
}

TEST(MutationTest, Bitmaps) {
  std::vector<std::string> tokens = Sizes();
  tokens.insert(tokens.end(), {LittleEndian(40), LittleEndian(3), LittleEndian(0x80000000)});
  for (const char* name :
       {"rgb.bmp", "palette.bmp", "runs8.bmp", "runs4.bmp", "six_bits.bmp", "from_top.bmp", "one_bit.bmp", "os2.bmp"}) {
    ForEachMutation(name, Stored(name), tokens, CheckImage);
  }
  for (const char* name : {"rgb.ppm", "deep.ppm", "one_bit.pbm", "text.pbm", "text.pgm", "text.ppm"}) {
    ForEachMutation(name, Stored(name), {" ", "#", "\n", "65535", "99999999999", "-1", "P4", "P6"}, CheckImage);
  }
}

TEST(MutationTest, PngSheets) {
  const std::string sheet = absl::HexStringToBytes(  // as in png_sheet_test.cc
      "89504e470d0a1a0a0000000d4948445200000004000000020802000000f0caea340000001649444154789c636464628603161e1e1e08ebf9"
      "f3"
      "e7000a4703126fd76f950000000049454e44ae426082");
  const std::string labels = "[5,\n0]";
  ForEachMutation("sheet", sheet, Sizes(), [&](const std::string& changed) {
    const std::string labels_path = WriteTestFile("labels.json", labels);
    for (const std::string& bytes : {changed, WithChecksums(changed)}) {
      const std::string path = WriteTestFile("sheet.png", bytes);
      const absl::StatusOr<ImageSet> set = ReadPngSheets({path}, labels_path, 2, 2);
      // A sheet with fewer rows is refused with an error about its labels.
      Check(set, absl::StrContains(set.status().message(), labels_path) ? labels_path : path);
    }
  });
  ForEachMutation("sheet labels", labels, {"[", "]", "{\"", "1e999", "-1", "99999999999", "null"},
                  [&](const std::string& changed) {
                    const std::string path = WriteTestFile("labels.json", changed);
                    const std::string sheet_path = WriteTestFile("sheet.png", sheet);
                    const absl::StatusOr<ImageSet> set = ReadPngSheets({sheet_path}, path, 2, 2);
                    Check(set, absl::StrContains(set.status().message(), path) ? path : sheet_path);
                  });
}

// Members of a gzip stream and elements of a MATLAB file, each with a few bytes.
TEST(MutationTest, ManySmallPieces) {
  const std::string member = absl::HexStringToBytes(kImagesGz);
  std::string members;
  for (int i = 0; i < 100'000; ++i) members += member;
  ReadLarge("gzip members", [&] { EXPECT_TRUE(Gunzip(members).ok()); });
  std::string elements = Stored("digits_plain.mat").substr(0, 128);
  for (int i = 0; i < 1'000'000; ++i) absl::StrAppend(&elements, LittleEndian(0x10001), LittleEndian(0));
  const std::string path = WriteTestFile("many.mat", elements);
  ReadLarge("mat elements", [&] { CheckRefusal(ReadMat(path, "X", "y").status(), path); });
}

TEST(MutationTest, JpegScans) {
  const std::string jpeg = Stored("progressive.jpeg");
  const size_t at = jpeg.rfind("\xff\xda"), end = jpeg.size() - 2;
  std::string scans = jpeg.substr(0, end);
  for (int i = 0; i < 100'000; ++i) scans.append(jpeg, at, end - at);
  ReadLarge("scans", [&] { CheckImage(scans); });
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) { return openset::RunMutationTests(argc, argv); }
