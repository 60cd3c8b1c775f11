// A report is made only from the existing records.
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/process/capture_output.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/near_far_study.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteNearFarStudy(program_);
    const ProgramResult run = program_.Run({"run", "study.textproto"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }

  // The number of needed actions of a kind.
  int Needed(const std::string& kind) const {
    int needed = 0;
    const ProgramResult plan = program_.Run({"plan", "study.textproto", "--format=json"});
    const nlohmann::json parsed = nlohmann::json::parse(plan.out);
    for (const nlohmann::json& action : parsed.at("actions")) {
      needed += action.at("needed").get<bool>() && action.at("kind") == kind;
    }
    return needed;
  }

  const OpensetProgram program_;
};

TEST_F(ReportTest, OneDeletedRecordIsMadeAgainAndNothingElse) {
  const auto before = program_.Records();
  ASSERT_EQ(before.size(), 4);
  const std::string id = before.begin()->first;
  const std::string path = absl::StrCat(program_.store(), "/records/", id.substr(0, 2), "/", id, ".rec");
  ASSERT_TRUE(std::filesystem::remove(path));
  EXPECT_EQ(Needed("train") + Needed("infer"), 0);
  EXPECT_EQ(Needed("evaluate"), 1);
  EXPECT_THAT(program_.Run({"report", "study.textproto"}).out,
              HasSubstr("1 of 4 trials lacks only the evaluation by exactly these metrics"));
  ASSERT_EQ(program_.Run({"run", "study.textproto"}).exit_code, 0);
  EXPECT_EQ(program_.Records(), before);
}

// The outputs still exist, so nothing is trained again.
TEST_F(ReportTest, ANewMetricNeedsOnlyAnEvaluation) {
  program_.Write("study.textproto", absl::StrCat(kNearFarStudy, "metric { openauc {} }\n"));
  EXPECT_THAT(program_.Run({"report", "study.textproto"}).out,
              HasSubstr("4 of 4 trials lack only the evaluation by exactly these metrics: `openset run` makes them "
                        "without training."));
}

// Every format lists the command line's overrides, and the page marks them in the spec.
TEST_F(ReportTest, NamesOverrides) {
  const std::vector<std::string> flags = {"--set=training.epochs=2", "--set=test_limit_per_class=9"};
  for (const char* format : {"text", "markdown", "latex", "csv", "json", "html"}) {
    const ProgramResult report =
        program_.Run({"report", "study.textproto", absl::StrCat("--format=", format), flags[0], flags[1]});
    EXPECT_EQ(report.exit_code, 0) << report.err;
    for (const std::string& flag : flags) EXPECT_THAT(report.out, HasSubstr(flag)) << format;
    if (format != std::string("html")) continue;
    EXPECT_THAT(report.out, AllOf(HasSubstr("epochs: 2</mark>"), HasSubstr("<mark>test_limit_per_class: 9</mark>")));
  }
}

// Two seeds of one split are not tested: each format says so, and none has a star or a p-value.
TEST_F(ReportTest, TwoSeedsAreNotTested) {
  const ProgramResult latex = program_.Run({"report", "study.textproto", "--format=latex"});
  EXPECT_EQ(latex.exit_code, 0) << latex.err;
  EXPECT_THAT(latex.out, AllOf(HasSubstr("\\begin{tabular}"), Not(HasSubstr("*")), Not(HasSubstr("differs from"))));
  const std::string reason = "fewer than 3 splits, or seeds of one split";
  EXPECT_THAT(latex.out, HasSubstr("No stars: not tested against MCP: " + reason));
  for (const char* format : {"text", "markdown", "html"}) {
    EXPECT_THAT(program_.Run({"report", "study.textproto", absl::StrCat("--format=", format)}).out,
                AllOf(HasSubstr("No stars: not tested against mcp: " + reason), Not(HasSubstr("* differs"))))
        << format;
  }
  EXPECT_THAT(program_.Run({"report", "study.textproto", "--format=csv"}).out, HasSubstr(",\"" + reason + "\","));
  const nlohmann::json json = nlohmann::json::parse(program_.Run({"report", "study.textproto", "--format=json"}).out);
  for (const nlohmann::json& cell : json.at("cells")) {
    EXPECT_FALSE(cell.contains("p_value") || cell.contains("detectable")) << cell;
    EXPECT_EQ(cell.value("not_tested", ""), cell.at("method") == "mcp" ? "" : reason);
  }
}

// `openset compare` and the stars use the same tests; with two methods, all pairs are those with the baseline.
TEST_F(ReportTest, CompareHasThePValuesOfTheStars) {
  const std::string seeds = "--seeds=0..2";
  ASSERT_EQ(program_.Run({"run", "study.textproto", seeds}).exit_code, 0);
  const nlohmann::json report =
      nlohmann::json::parse(program_.Run({"report", "study.textproto", seeds, "--format=json"}).out);
  ASSERT_EQ(report.at("baseline"), "mcp");
  int tests = 0;
  for (const char* group : {"pool", "near", "noise"}) {
    const ProgramResult result = program_.Run(
        {"compare", "study.textproto", seeds, "--metrics=auroc", "--format=json", absl::StrCat("--group=", group)});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json compared = nlohmann::json::parse(result.out);
    EXPECT_EQ(compared.at("baseline"), "mcp");
    for (const nlohmann::json& cell : report.at("cells")) {
      if (cell.at("group") != group || cell.at("metric") != "auroc" || !cell.contains("p_value")) continue;
      ++tests;
      ASSERT_EQ(compared.at("pairs").size(), 1);
      const nlohmann::json& pair = compared.at("pairs")[0];
      EXPECT_EQ(pair.at("a"), cell.at("method"));
      EXPECT_EQ(pair.at("p_holm"), cell.at("p_value"));
      EXPECT_EQ(pair.at("verdict") == "max_logit is better" || pair.at("verdict") == "mcp is better",
                cell.at("detectable"));
    }
  }
  EXPECT_GT(tests, 0);
  EXPECT_THAT(program_.Run({"compare", "study.textproto", "--metrics=auroc", "--baseline=max_logit"}).out,
              HasSubstr("mcp - max_logit"));
  EXPECT_THAT(program_.Run({"compare", "study.textproto", "--metrics=auroc", "--baseline=max_logt"}).err,
              HasSubstr("unknown baseline 'max_logt'; did you mean 'max_logit'?"));
  // With overrides on the command line, it is another study, which has no results here.
  const ProgramResult other = program_.Run({"compare", "study.textproto", "--set=training.epochs=2"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("study.textproto: there are no results"));
  EXPECT_THAT(program_.Run({"compare", "study.textproto", "--seeds=0..1", "--metrics=auroc"}).out,
              HasSubstr("max_logit - mcp"));
  program_.Write("runs.csv", "method,split,auroc\na,0,0.5\nb,0,0.6\n");
  EXPECT_THAT(program_.Run({"compare", "runs.csv", "--set=a=1"}).err,
              HasSubstr("--set: is for a study, not for files"));
}

// A bundle and a query need neither the study nor its data.
TEST_F(ReportTest, OfRecordsAlone) {
  ASSERT_EQ(program_.Run({"records", "export", "--bundle=all.zip"}).exit_code, 0);
  const ProgramResult all = program_.Run({"report", "all.zip", "--store=none"});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.out, AllOf(HasSubstr("max_logit "), HasSubstr("(n=2)"), Not(HasSubstr("no record yet"))));
  const ProgramResult some = program_.Run({"report", "method=max_logit", "--format=csv"});
  EXPECT_EQ(some.exit_code, 0) << some.err;
  EXPECT_THAT(some.out, AllOf(HasSubstr("\nmax_logit,"), Not(HasSubstr("\nsoftmax,")), Not(HasSubstr("\nmcp,"))));
  EXPECT_EQ(program_.Run({"report", "method=none"}).exit_code, 2);
  const ProgramResult html = program_.Run({"report", "all.zip", "--format=html", "--out=all.html"});
  EXPECT_EQ(html.exit_code, 0) << html.err;
  EXPECT_THAT(program_.Read("all.html"), HasSubstr("<h1>all.zip</h1>"));
  // A file name of another format.
  for (const auto& [name, said] : std::vector<std::pair<std::string, std::string>>{
           {"all.csv", "--out: all.csv has the extension of csv, but --format=text was requested; add --format=csv"},
           {"all.parquet",
            "--out: report can't write .parquet; its formats are text (.txt), markdown (.md), latex (.tex)"}}) {
    const ProgramResult refused = program_.Run({"report", "all.zip", "--out=" + name});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(said));
    EXPECT_EQ(program_.Read(name), "");
  }
  EXPECT_EQ(program_.Run({"report", "all.zip", "--out=all.log"}).exit_code, 0);
  // The same for the bundle's records.
  EXPECT_THAT(program_.Run({"records", "ls", "all.zip", "method=max_logit", "--store=none"}).out,
              HasSubstr("2 of 4 records"));
  const std::string id = program_.Records().begin()->first;
  EXPECT_THAT(program_.Run({"records", "show", "all.zip", id.substr(0, 8), "--store=none"}).out,
              HasSubstr("trial_id: \"" + id));
  const ProgramResult verified = program_.Run({"records", "verify", "all.zip", "--store=none"});
  EXPECT_EQ(verified.exit_code, 0);
  EXPECT_THAT(verified.out, AllOf(HasSubstr("all.zip: 4 trials, 0 replicas: 0 corrupt"), HasSubstr("sha256 ")));
  EXPECT_EQ(program_.Run({"records", "show", "all.zip", "--store=none"}).exit_code, 2);  // ambiguous: there are four
}

TEST_F(ReportTest, AnotherReportSectionRunsNothing) {
  const auto before = program_.Records();
  EXPECT_THAT(program_.Run({"report", "study.textproto", "--format=markdown"}).out, HasSubstr("| method "));
  program_.Write("study.textproto",
                 absl::StrCat(kNearFarStudy, "report { baseline: 'max_logit' row: 'metric' column: 'method' }\n"));
  EXPECT_EQ(Needed("train") + Needed("infer") + Needed("evaluate"), 0);
  const ProgramResult again = program_.Run({"run", "study.textproto"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.out, HasSubstr("study: all 4 trials are done; nothing to run."));
  EXPECT_EQ(program_.Records(), before);
  EXPECT_THAT(program_.Run({"report", "study.textproto", "--format=markdown"}).out, Not(HasSubstr("| method ")));
}

TEST_F(ReportTest, CellsFollowFromTheirSingleValues) {
  const auto script = JoinPath(RunfilesFolder().value(), "openset/tools/testing/recompute_report.py");
  const std::string reports = absl::StrCat(program_.store(), "/reports/study/");
  const auto recomputed = [&] {
    return CaptureOutput({"python3", script, reports + "report.json", reports + "tidy.csv", reports + "report.md"});
  };
  const absl::StatusOr<std::string> cells = recomputed();
  ASSERT_TRUE(cells.ok()) << cells.status();
  // 2 methods: accuracy, AUROC and AURC on the pool; AUROC on two sets and in two means.
  EXPECT_EQ(*cells, absl::StrCat(2 * (3 + 4), " cells\n"));
  // The script detects a changed digit.
  std::string json = *ReadFile(reports + "report.json");
  const size_t mean = json.find("\"mean\": 0.");
  ASSERT_NE(mean, std::string::npos);
  char& digit = json[mean + 10];  // the first one after the point
  digit = digit == '9' ? '8' : '9';
  std::ofstream(reports + "report.json") << json;
  EXPECT_THAT(std::string(recomputed().status().message()), HasSubstr("FAILED: "));
}

}  // namespace
}  // namespace openset
