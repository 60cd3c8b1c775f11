#include "core/chart/vector_file.h"

#include <string>

#include "core/files/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Path(const std::string& name) { return JoinPath(testing::TempDir(), name); }

VegaLite Points() {
  return VegaLite::parse(R"({"title": "two points", "mark": "point",
      "data": {"values": [{"x": 1, "y": 2}, {"x": 2, "y": 3}]},
      "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}}})");
}

TEST(WriteVectorFiles, DrawsByTheFilesEnding) {
  ASSERT_TRUE(WriteVectorFiles({{Path("a.svg"), Points()}, {Path("a.pdf"), Points()}, {Path("a.png"), Points()}}).ok());
  const std::string svg = ReadFile(Path("a.svg")).value();
  EXPECT_THAT(svg, StartsWith("<svg"));
  EXPECT_THAT(svg, HasSubstr(">two points</text>"));
  EXPECT_THAT(ReadFile(Path("a.pdf")).value(), StartsWith("%PDF"));
  EXPECT_THAT(ReadFile(Path("a.png")).value(), StartsWith("\x89PNG"));
}

TEST(WriteVectorFiles, RefusesOtherEndingsBeforeItDraws) {
  const absl::Status status = WriteVectorFiles({{Path("b.svg"), Points()}, {Path("b.gif"), Points()}});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("ends in .svg, .pdf or .png"));
  EXPECT_FALSE(FileExists(Path("b.svg")));
}

TEST(WriteVectorFiles, SaysWhatTheDrawingProgramSays) {
  const absl::Status status = WriteVectorFiles({{Path("c.svg"), VegaLite::parse(R"({"mark": "nonsense"})")}});
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(FileExists(Path("c.svg")));
}

}  // namespace
}  // namespace openset
