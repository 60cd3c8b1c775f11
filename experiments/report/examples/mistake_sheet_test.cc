#include "experiments/report/examples/mistake_sheet.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/files/runfiles.h"
#include "core/testing/parsed.h"
#include "experiments/spec/trial.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Generated images.
constexpr char kTrial[] = R"(data {
    test_known { data_set: "gaussian_noise" part: "test" class_id: 0 limit_per_class: 3 }
    test_unknown { name: "a" selection { data_set: "gaussian_noise" part: "test" class_id: 0 limit_per_class: 2 } } })";

absl::StatusOr<std::string> Sheet(const std::string& mistakes) {
  const TrialSpec trial = Parsed<TrialSpec>(kTrial);
  const TrialRecord record = Parsed<TrialRecord>("details { " + mistakes + " }");
  const Catalog catalog = Catalog::Open(RunfilesFolder().value() + "/openset/data/catalog").value();
  OpenParts parts;
  return MistakeSheet(trial, record, catalog, {}, &parts);
}

uint32_t BigEndian(const std::string& bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<uint8_t>(bytes[at + i]);
  return number;
}

TEST(MistakeSheet, HasARowForEachKind) {
  const absl::StatusOr<std::string> png = Sheet(
      "mistake { kind: KNOWN_TAKEN_FOR_UNKNOWN row: 2 } "
      "mistake { kind: KNOWN_TAKEN_FOR_UNKNOWN row: 0 } "
      "mistake { kind: UNKNOWN_TAKEN_FOR_KNOWN row: 4 }");
  ASSERT_TRUE(png.ok()) << png.status();
  EXPECT_THAT(*png, StartsWith("\x89PNG"));
  EXPECT_EQ(BigEndian(*png, 16), 6 + 2 * (56 + 2) + 2);  // the width in the header: two tiles
  EXPECT_EQ(BigEndian(*png, 20), 2 * (56 + 2) + 2);
}

TEST(MistakeSheet, IsEmptyWithoutMistakes) { EXPECT_EQ(Sheet("").value(), ""); }

TEST(MistakeSheet, ReportsAMissingSample) {
  for (const char* row : {"5", "-1", "1000000000", "-1000000000", "9223372036854775807", "-9223372036854775808"}) {
    const absl::Status status = Sheet(absl::StrCat("mistake { kind: WRONG_CLASS row: ", row, " }")).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << row;
    EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat("the test has no sample ", row)));
  }
}

}  // namespace
}  // namespace openset
