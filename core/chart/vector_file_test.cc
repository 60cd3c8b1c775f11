#include "core/chart/vector_file.h"

#include <filesystem>

#include "core/files/files.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

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

// Python imports nothing from the current folder.
TEST(WriteVectorFiles, NothingIsTakenFromTheCurrentFolder) {
  const std::string here = std::filesystem::current_path(), hostile = Path("hostile");
  ASSERT_TRUE(MakeFolders(hostile).ok());
  for (const char* file : {"json.py", "re.py", "random.py", "types.py", "vl_convert.py"}) {
    ASSERT_TRUE(WriteFileAtomically(JoinPath(hostile, file), "open('ran', 'w')\nraise SystemExit(3)\n").ok());
  }
  std::filesystem::current_path(hostile);
  const absl::Status drawn = WriteVectorFiles({{Path("hostile.svg"), Points()}});
  std::filesystem::current_path(here);
  EXPECT_TRUE(drawn.ok()) << drawn;
  EXPECT_FALSE(FileExists(JoinPath(hostile, "ran")));
}

// 3.3 inches are 237.6 points, and 990 dots at 300 per inch.
TEST(WriteVectorFiles, IsAsWideAsAsked) {
  ASSERT_TRUE(
      WriteVectorFiles({{Path("w.svg"), Points()}, {Path("w.pdf"), Points()}, {Path("w.png"), Points()}}, 3.3).ok());
  EXPECT_THAT(ReadFile(Path("w.svg")).value(), ContainsRegex("^<svg[^>]* width=\"237.6pt\" height=\"[0-9.]*pt\""));
  EXPECT_THAT(ReadFile(Path("w.pdf")).value(), HasSubstr("MediaBox [0 0 237.6 "));
  const std::string png = ReadFile(Path("w.png")).value();  // the width is the four bytes from 16 on
  EXPECT_EQ(png.substr(16, 4), std::string("\0\0\x03\xDE", 4));
}

// A circle at the end of an axis is complete; one beyond the end is not drawn.
TEST(WriteVectorFiles, CirclesAreNotCutOff) {
  Plot plot;
  plot.x_high = plot.y_high = 1;
  PlotSeries line;
  line.name = "line";
  line.markers = true;
  line.points = {{0, 0}, {1, 1}, {2, 0.5}};
  plot.series = {line};
  ASSERT_TRUE(WriteVectorFiles({{Path("m.svg"), ToVegaLite(plot)}}).ok());
  const std::string svg = ReadFile(Path("m.svg")).value();
  // A group of circles without the clip path that the line has.
  EXPECT_THAT(svg, ContainsRegex("<g class=\"mark-symbol role-mark layer_1_marks\"[^>]*>"));
  EXPECT_THAT(svg, Not(ContainsRegex("<g class=\"mark-symbol role-mark layer_1_marks\"[^>]* clip-path")));
  EXPECT_THAT(svg, Not(HasSubstr("x: 2;")));
}

TEST(WriteVectorFiles, RefusesOtherEndingsBeforeItDraws) {
  EXPECT_THAT(WriteVectorFiles({{Path("b.svg"), Points()}, {Path("b.gif"), Points()}}),
              IsInvalidArgument("end in .svg, .pdf or .png"));
  EXPECT_FALSE(FileExists(Path("b.svg")));
}

TEST(WriteVectorFiles, ErrorsContainTheProgramsMessage) {
  const absl::Status status = WriteVectorFiles({{Path("c.svg"), VegaLite::parse(R"({"mark": "nonsense"})")}});
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(FileExists(Path("c.svg")));
}

}  // namespace
}  // namespace openset
