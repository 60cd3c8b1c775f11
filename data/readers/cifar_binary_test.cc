#include "data/readers/cifar_binary.h"

#include "core/testing/status_matchers.h"
#include "data/testing/damage.h"

namespace openset {
namespace {

// Records of one label and 2 x 1 x 2 pixels.
CifarRecord TinyRecord() {
  CifarRecord record;
  record.channels = 2;
  record.height = 1;
  record.width = 2;
  return record;
}

TEST(ReadCifarBinary, ReadsTheRecordsOfAllFilesInOrder) {
  const std::string first = WriteTestFile("first", "\x09\x01\x02\x03\x04\xff\x05\x06\x07\x08");
  const std::string second = WriteTestFile("second", "\x01\x0b\x0c\x0d\xfe");
  ASSERT_OK_AND_ASSIGN(const ImageSet set, ReadCifarBinary({first, second}, TinyRecord()));
  EXPECT_EQ(set.channels, 2);
  EXPECT_EQ(set.height, 1);
  EXPECT_EQ(set.width, 2);
  EXPECT_THAT(set.labels, ElementsAre(9, 255, 1));
  EXPECT_THAT(set.pixels, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 254));
}

TEST(ReadCifarBinary, ReadsTheLabelAskedFor) {
  const std::string path = WriteTestFile("two_labels", "\x13\x63\x01\x02\x03\x04");
  CifarRecord record = TinyRecord();
  record.label_bytes = 2;
  EXPECT_THAT(ReadCifarBinary({path}, record)->labels, ElementsAre(0x13));
  record.label_at = 1;
  EXPECT_THAT(ReadCifarBinary({path}, record)->labels, ElementsAre(0x63));
  EXPECT_THAT(ReadCifarBinary({path}, record)->pixels, ElementsAre(1, 2, 3, 4));
}

TEST(ReadCifarBinary, TheDefaultRecordIsThatOfCifar10) {
  const std::string path = WriteTestFile("cifar10", std::string(2 * 3073, '\x07'));
  ASSERT_OK_AND_ASSIGN(const ImageSet set, ReadCifarBinary({path}, CifarRecord()));
  EXPECT_THAT(set.labels, ElementsAre(7, 7));
  EXPECT_EQ(set.image_bytes(), 3072);
}

TEST(ReadCifarBinary, RefusesIncompleteRecords) {
  const std::string path = WriteTestFile("short", "123456");
  EXPECT_EQ(ReadCifarBinary({path}, TinyRecord()).status(),
            absl::DataLossError(path + ": 6 bytes are not a number of whole records of 5 bytes, the last of "
                                       "which begins at byte 5; fetch the file again"));
  EXPECT_TRUE(absl::IsDataLoss(ReadCifarBinary({WriteTestFile("empty", "")}, TinyRecord()).status()));
  EXPECT_TRUE(absl::IsNotFound(ReadCifarBinary({"/no/such/file"}, TinyRecord()).status()));
}

TEST(ReadCifarBinary, CorruptFilesAreRefusedOrValid) {
  const std::string content = "\x09\x01\x02\x03\x04\xff\x05\x06\x07\x08";
  const std::string path = WriteTestFile("damaged", content);
  const DamageReport report = ReadDamaged(path, content, [&] { return ReadCifarBinary({path}, TinyRecord()); });
  EXPECT_EQ(report.copies, 10 * 4);
  EXPECT_EQ(report.refused, 9);  // all truncations except that to 5 bytes
  EXPECT_EQ(report.other_error, 0);
  EXPECT_EQ(report.broken, 0);
}

}  // namespace
}  // namespace openset
