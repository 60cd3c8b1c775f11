#include "data/readers/images/png_sheet.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "data/testing/damage.h"

namespace openset {
namespace {

// Written by Pillow: 4 x 2 pixels, (1, 2, 3), (4, 5, 6), ..., (19, 20, 21), (250, 251, 252).
const char kSheet[] =
    "89504e470d0a1a0a0000000d4948445200000004000000020802000000f0caea340000001649444154789c636464628603161e1e1e08ebf9f3"
    "e7000a4703126fd76f950000000049454e44ae426082";
// The same with a fourth channel, and only the first channel.
const char kRgba[] =
    "89504e470d0a1a0a0000000d49484452000000040000000208060000007fa87d630000001b49444154789c63646462666446022c3c3c3c3c30"
    "cef3e7cf9f0300113c041599af21510000000049454e44ae426082";
const char kGrey[] =
    "89504e470d0a1a0a0000000d49484452000000040000000208000000005ac322bf0000001249444154789c636464666666e161667e0e000196"
    "010995f3eb3a0000000049454e44ae426082";

std::string Sheet(const std::string& name, absl::string_view hex = kSheet) {
  return WriteTestFile(name, absl::HexStringToBytes(hex));
}
std::string Message(const absl::StatusOr<ImageSet>& set) { return std::string(set.status().message()); }

TEST(ReadPngSheets, SeparatesTheColoursOfEachRow) {
  const std::string labels = WriteTestFile("labels.json", "[5, 0,\n1,2147483647]");
  ASSERT_OK_AND_ASSIGN(const ImageSet set, ReadPngSheets({Sheet("a.png"), Sheet("b.png")}, labels, 2, 2));
  EXPECT_EQ(set.channels, 3);
  EXPECT_EQ(set.height, 2);
  EXPECT_EQ(set.width, 2);
  EXPECT_THAT(set.labels, ElementsAre(5, 0, 1, 2147483647));
  const std::vector<uint8_t> sheet = {1,  4,  7,  10,  2,  5,  8,  11,  3,  6,  9,  12,  // row 0: red, green, blue
                                      13, 16, 19, 250, 14, 17, 20, 251, 15, 18, 21, 252};
  std::vector<uint8_t> twice = sheet;
  twice.insert(twice.end(), sheet.begin(), sheet.end());
  EXPECT_EQ(set.pixels, twice);
}

TEST(ReadPngSheets, RefusesOtherImages) {
  const std::string labels = WriteTestFile("labels.json", "[5,0]");
  for (const char* hex : {kRgba, kGrey}) {
    EXPECT_THAT(Message(ReadPngSheets({Sheet("other.png", hex)}, labels, 2, 2)), HasSubstr("not a sheet, which is"));
  }
  const std::string path = Sheet("a.png");
  EXPECT_EQ(ReadPngSheets({path}, labels, 3, 2).status(),
            absl::DataLossError(path + ": not a sheet, which is 8-bit RGB without interlacing and 6 pixels wide "
                                       "(is 4 wide)"));
  EXPECT_THAT(Message(ReadPngSheets({WriteTestFile("text.png", "text")}, labels, 2, 2)), HasSubstr("not a valid PNG"));
  EXPECT_TRUE(absl::IsNotFound(ReadPngSheets({"/no/such/file"}, labels, 2, 2).status()));
}

TEST(ReadPngSheets, RefusesOtherNumbersOfLabels) {
  const std::string path = Sheet("a.png");
  EXPECT_THAT(Message(ReadPngSheets({path}, WriteTestFile("labels.json", "[5]"), 2, 2)),
              HasSubstr("has 2 rows where 1 labels are left"));
  EXPECT_THAT(Message(ReadPngSheets({path}, WriteTestFile("labels.json", "[5,0,1]"), 2, 2)),
              HasSubstr("has 3 labels, the sheets have 2 rows"));
  EXPECT_THAT(Message(ReadPngSheets({path, Sheet("b.png")}, WriteTestFile("labels.json", "[5,0,1]"), 2, 2)),
              HasSubstr("b.png: has 2 rows where 1 labels are left"));
  EXPECT_TRUE(absl::IsDataLoss(ReadPngSheets({}, WriteTestFile("labels.json", "[]"), 2, 2).status()));
}

// 2^31 - 1 rows, 24 GB, in 79 bytes; the header's checksum is right.
TEST(ReadPngSheets, DoesNotAllocateClaimedSizes) {
  const std::string claims = Sheet(
      "claims.png",
      "89504e470d0a1a0a0000000d49484452000000047fffffff0802000000c2a1a0210000001649444154789c636464628603161e1e1e08ebf9"
      "f3e7000a4703126fd76f950000000049454e44ae426082");
  EXPECT_THAT(Message(ReadPngSheets({claims}, WriteTestFile("labels.json", "[5,0]"), 2, 2)),
              HasSubstr("claims.png: has 2147483647 rows where 2 labels are left"));
}

TEST(ReadPngSheets, RefusesOtherLabels) {
  const std::string path = Sheet("a.png");
  for (const char* element : {"-1", "2147483648", "18446744073709551615", "1.5", "\"1\"", "null", "[1]"}) {
    const std::string labels = WriteTestFile("labels.json", absl::StrCat("[0,\n", element, "]"));
    EXPECT_EQ(ReadPngSheets({path}, labels, 2, 2).status(),
              absl::DataLossError(labels + ":2: label 1 is not a class id; fetch the file again"));
  }
  // Commas and line ends within other elements don't count.
  EXPECT_THAT(Message(ReadPngSheets({path}, WriteTestFile("labels.json", "[0,\n1,\n\n[2,\"],\\\"\"]]"), 2, 2)),
              HasSubstr("labels.json:4: label 2 is not a class id"));
  for (const std::string& text :
       {std::string("{}"), std::string("[0,"), std::string("[1e999]"), std::string(1000000, '[')}) {
    EXPECT_THAT(Message(ReadPngSheets({path}, WriteTestFile("labels.json", text), 2, 2)),
                HasSubstr("not a JSON array of labels"));
  }
  EXPECT_THAT(Message(ReadPngSheets({path}, WriteTestFile("labels.json", "[5,\n0,\n"), 2, 2)),
              HasSubstr("labels.json:3: not a JSON array of labels (at byte 7 of 7)"));
}

TEST(ReadPngSheets, CorruptSheetsAreRefusedUnlessTheContentIsTheSame) {
  const std::string path = Sheet("a.png");
  const std::string labels = WriteTestFile("labels.json", "[5,0]");
  const ImageSet original = *ReadPngSheets({path}, labels, 2, 2);
  const DamageReport report = ReadDamaged(path, absl::HexStringToBytes(kSheet), [&] {
    absl::StatusOr<ImageSet> set = ReadPngSheets({path}, labels, 2, 2);
    if (set.ok()) {
      EXPECT_EQ(set->pixels, original.pixels);
    }
    return set;
  });
  EXPECT_EQ(report.copies, 79 * 4);
  // Each chunk has a checksum. libspng accepts the 4 truncations within the checksum of the last chunk, which is empty.
  EXPECT_EQ(report.refused, report.copies - 4);
  EXPECT_EQ(report.other_error, 0);
}

TEST(ReadPngSheets, CorruptLabelsAreRefusedOrValid) {
  const std::string path = Sheet("a.png");
  const std::string content = "[5,\n0]";
  const std::string labels = WriteTestFile("labels.json", content);
  const DamageReport report = ReadDamaged(labels, content, [&] { return ReadPngSheets({path}, labels, 2, 2); });
  EXPECT_EQ(report.copies, 6 * 4);
  EXPECT_GE(report.refused, 6);
  EXPECT_EQ(report.other_error, 0);
  EXPECT_EQ(report.broken, 0);
}

}  // namespace
}  // namespace openset
