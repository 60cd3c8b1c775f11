#include "core/files/formats/csv.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

using Rows = std::vector<std::pair<int64_t, std::vector<std::string>>>;

absl::StatusOr<Rows> Read(absl::string_view text) {
  Rows rows;
  const absl::Status status = ReadCsv(text, [&](int64_t line, absl::Span<const absl::string_view> cells) {
    rows.emplace_back(line, std::vector<std::string>(cells.begin(), cells.end()));
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return rows;
}

TEST(ReadCsv, Cells) {
  EXPECT_EQ(*Read("a,b\n1,\n"), (Rows{{1, {"a", "b"}}, {2, {"1", ""}}}));
  EXPECT_EQ(*Read("a,b\r\n1,2"), (Rows{{1, {"a", "b"}}, {2, {"1", "2"}}}));
  EXPECT_EQ(*Read("\xEF\xBB\xBF"
                  "a\n1\n\n\r\n"),
            (Rows{{1, {"a"}}, {2, {"1"}}}));
  EXPECT_EQ(*Read(""), Rows());
  EXPECT_EQ(*Read("\n\n"), Rows());
}

TEST(ReadCsv, SemicolonsAndTabs) {
  EXPECT_EQ(*Read("a;b\n1;\"x;y\"\n"), (Rows{{1, {"a", "b"}}, {2, {"1", "x;y"}}}));
  EXPECT_EQ(*Read("a;b\n1,5;2\n"), (Rows{{1, {"a", "b"}}, {2, {"1,5", "2"}}}));
  EXPECT_EQ(*Read("a\tb\r\n1\t\r\n"), (Rows{{1, {"a", "b"}}, {2, {"1", ""}}}));
  // Separators in quotes are text; of equally many separators, commas win.
  EXPECT_EQ(*Read("\"a;b;c\",d\n1,2\n"), (Rows{{1, {"a;b;c", "d"}}, {2, {"1", "2"}}}));
  EXPECT_EQ(*Read("a,b;c\n1,2;3\n"), (Rows{{1, {"a", "b;c"}}, {2, {"1", "2;3"}}}));
}

// Excel writes the first, old programs for the Mac the second.
TEST(ReadCsv, FirstLineWithTheSeparatorAndLinesThatEndInReturns) {
  EXPECT_EQ(*Read("sep=;\r\na;b,c\r\n1;2\r\n"), (Rows{{2, {"a", "b,c"}}, {3, {"1", "2"}}}));
  EXPECT_EQ(*Read("sep=\t\na\tb\n"), (Rows{{2, {"a", "b"}}}));
  EXPECT_EQ(*Read("sep=;x\n1;2\n"), (Rows{{1, {"sep=", "x"}}, {2, {"1", "2"}}}));
  EXPECT_EQ(*Read("a,b\r1,2\r\r"), (Rows{{1, {"a", "b"}}, {2, {"1", "2"}}}));
}

TEST(ReadCsv, QuotedCells) {
  EXPECT_EQ(*Read("\"a,b\",\"say \"\"x\"\"\"\n\"two\nlines\",c\nd,\"\"\n"),
            (Rows{{1, {"a,b", "say \"x\""}}, {2, {"two\nlines", "c"}}, {4, {"d", ""}}}));
}

TEST(ReadCsv, Refuses) {
  const auto error = [](absl::string_view text) { return std::string(Read(text).status().message()); };
  EXPECT_EQ(error("a,b\n1\n"), "line 2: has 1 cells, the header has 2");
  EXPECT_EQ(error("a,b\n1,2,3\n"), "line 2: has 3 cells, the header has 2");
  EXPECT_EQ(error("a,b\n\n1,2\n"), "line 2: is empty");
  EXPECT_EQ(error("a,b\n1,x\"y\n"), "line 2: a quote inside a cell that does not start with one");
  EXPECT_EQ(error("a,b\n1,\"x\"y\n"), "line 2: text after a closing quote");
  EXPECT_EQ(error("a,b\n1,\"x\n\n"), "line 2: a quote that is not closed");
  EXPECT_EQ(error(absl::string_view("a\n1\0\n", 5)), "is not text: byte 3 is NUL");
  EXPECT_EQ(error(absl::string_view("a\0\n\0", 4)), "is UTF-16 text: save it as UTF-8 (Excel calls that CSV UTF-8)");
  EXPECT_EQ(error(absl::string_view("\xFF\xFE"
                                    "a\0",
                                    4)),
            error(absl::string_view("\0a\0\n", 4)));
  EXPECT_EQ(error("sep=;\na;b\n1,5\n"), "line 3: has 1 cells, the header has 2");
}

TEST(ReadCsv, RefusesALineOfTooManyCells) {
  const auto error = [](absl::string_view text) { return std::string(Read(text).status().message()); };
  const std::string many(kMaxCells - 1, ',');
  EXPECT_EQ(Read(many + "\n")->front().second.size(), kMaxCells);
  EXPECT_EQ(error(many + ",\n"), "line 1: has more than 1000000 cells");
  EXPECT_EQ(error("a,b\n1,2\n" + many + ",\n"), "line 3: has more than 1000000 cells");
}

TEST(ReadCsv, StopsAtTheCallersError) {
  int rows = 0;
  const absl::Status status = ReadCsv("a\n1\n2\n", [&](int64_t line, absl::Span<const absl::string_view>) {
    ++rows;
    return line == 2 ? absl::InvalidArgumentError("enough") : absl::OkStatus();
  });
  EXPECT_EQ(status.message(), "enough");
  EXPECT_EQ(rows, 2);
}

}  // namespace
}  // namespace openset
