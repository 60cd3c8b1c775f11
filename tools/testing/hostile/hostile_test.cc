// Runs the program on hostile forms of each input in CONTRIBUTING.md's table "Inputs". It must answer with a clear line
// and a documented exit code, use bounded memory and CPU time, and write only where it may (try_case.h lists the
// checks). By default, up to every sixth case; --all: every case; --random=N: also this many random cases, from
// --first_case on; --only=TEXT: only inputs with TEXT in their name. Prints the counts.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/hostile/hostile_case.h"
#include "tools/testing/hostile/random_cases.h"
#include "tools/testing/hostile/try_case.h"

ABSL_FLAG(bool, all, false, "Try each case.");
ABSL_FLAG(std::string, only, "", "Only cases of inputs with this in their name.");
ABSL_FLAG(int, random, 0, "Drawn cases.");
ABSL_FLAG(uint64_t, first_case, 0, "Of the first of them.");
ABSL_FLAG(bool, sanitizers, false, "Fail unless the program is built with --config=asan.");

namespace openset {
namespace {

constexpr int kLeastCases = 10;

struct Row {
  std::string input, writer, validator, fuzzer;
};

// The rows of the table below "## Inputs".
std::vector<Row> Table() {
  const std::string text = *ReadFile(*RunfilesFolder() + "/openset/CONTRIBUTING.md");
  std::vector<Row> rows;
  bool within = false;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "## ")) within = line == "Inputs";
    if (!within || !absl::ConsumePrefix(&line, "| ")) continue;
    std::vector<std::string> cells = absl::StrSplit(line, '|');
    for (std::string& cell : cells) cell = std::string(absl::StripAsciiWhitespace(cell));
    if (cells.size() < 5 || cells[0] == "input" || cells[0] == "---") continue;
    rows.push_back({cells[0], cells[1], cells[2], cells[3]});
  }
  return rows;
}

const std::vector<HostileCase>& Cases() {
  static const auto* const cases = new std::vector<HostileCase>(AllCases());
  return *cases;
}

TEST(Inputs, HaveAWriterAValidatorAFuzzerAndHostileCases) {
  std::map<std::string, int> cases;
  for (const HostileCase& one : Cases()) ++cases[one.input];
  std::set<std::string> inputs;
  for (const Row& row : Table()) {
    EXPECT_TRUE(inputs.insert(row.input).second) << row.input << " twice";
    EXPECT_NE(row.writer, "") << row.input;
    EXPECT_NE(row.validator, "") << row.input;
    EXPECT_NE(row.fuzzer, "") << row.input;
    EXPECT_GE(cases[row.input], kLeastCases) << row.input;
  }
  EXPECT_GE(inputs.size(), 20);
  for (const auto& [input, count] : cases) EXPECT_EQ(inputs.count(input), 1) << input << " is no row of the table";
}

// Prints what was counted.
void Try(const std::vector<HostileCase>& cases) {
  int tried = 0, well = 0;
  for (const HostileCase& one : cases) {
    const std::string problem = TryCase(one);
    ++tried;
    well += problem.empty() ? 1 : 0;
    EXPECT_EQ(problem, "") << one.input << ": " << absl::CHexEscape(one.what);
  }
  std::printf("tried %d, answered well %d\n", tried, well);
}

class Hostile : public ::testing::TestWithParam<std::string> {};

bool IsAskedFor(const std::string& input) { return absl::StrContains(input, absl::GetFlag(FLAGS_only)); }

TEST_P(Hostile, ListedCasesGetErrorsWithinLimits) {
  if (!IsAskedFor(GetParam())) GTEST_SKIP() << "not asked for (--only)";
  std::vector<HostileCase> cases, tried;
  for (const HostileCase& one : Cases()) {
    if (one.input == GetParam()) cases.push_back(one);
  }
  ASSERT_FALSE(cases.empty());
  const size_t most = cases.size() / kLeastCases;
  const size_t step = absl::GetFlag(FLAGS_all) ? 1 : most >= 6 ? 6 : std::max<size_t>(1, std::min<size_t>(3, most));
  for (size_t c = 0; c < cases.size(); c += step) tried.push_back(std::move(cases[c]));
  Try(tried);
}

std::vector<std::string> InputsOfTable() {
  std::vector<std::string> inputs;
  for (const Row& row : Table()) inputs.push_back(row.input);
  return inputs;
}

INSTANTIATE_TEST_SUITE_P(Inputs, Hostile, ::testing::ValuesIn(InputsOfTable()), [](const auto& info) {
  std::string name;
  for (const char c : info.param) name.push_back(absl::ascii_isalnum(c) ? c : '_');
  return name;
});

TEST(Hostile, RandomCasesGetErrorsWithinLimits) {
  std::vector<HostileCase> cases;
  const uint64_t first = absl::GetFlag(FLAGS_first_case);
  int tried = 0, well = 0;
  for (uint64_t seed = first; seed < first + absl::GetFlag(FLAGS_random); ++seed) {
    const HostileCase one = RandomCase(seed);
    if (!IsAskedFor(one.input)) continue;
    const std::string problem = TryCase(one);
    ++tried;
    well += problem.empty() ? 1 : 0;
    EXPECT_EQ(problem, "") << "seed " << seed << ", " << one.input << ": " << absl::CHexEscape(one.what);
  }
  std::printf("drawn: tried %d, answered well %d\n", tried, well);
}

// The harness detects each kind of failure that it is for.
TEST(TryCase, NoticesEachKindOfFailure) {
  HostileCase one{"spec", "nothing", {"eval", "scores.csv"}, Nothing, End::kHarmless, ""};
  EXPECT_EQ(TryCase(one), "");
  one.end = End::kRefused;
  EXPECT_THAT(TryCase(one), ::testing::HasSubstr("exit code 0 in place of 2"));
  one = {"spec", "another name", {"eval", "nowhere.csv"}, Nothing, End::kRefused, "elsewhere.csv"};
  EXPECT_THAT(TryCase(one), ::testing::HasSubstr("does not name elsewhere.csv"));
  one = {"spec", "a file that may not be", {"eval", "scores.csv", "--out=new.txt"}, Nothing, End::kHarmless, ""};
  EXPECT_THAT(TryCase(one), ::testing::HasSubstr("work/new.txt is new"));
  one.writes = {"work/new.txt"};
  EXPECT_EQ(TryCase(one), "");
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  absl::ParseCommandLine(argc, argv);
#ifndef __SANITIZE_ADDRESS__
  if (absl::GetFlag(FLAGS_sanitizers)) {
    std::fprintf(stderr, "built without sanitizers: bazel test --config=asan\n");
    return 1;
  }
#endif
  return RUN_ALL_TESTS();
}
