// A report is made only from the existing records.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/process/subprocess.h"
#include "core/proto/record_file.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"
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
    program_.MustRun({"run", "study.textproto"});
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
  program_.MustRun({"run", "study.textproto"});
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
        program_.MustRun({"report", "study.textproto", absl::StrCat("--format=", format), flags[0], flags[1]});
    for (const std::string& flag : flags) EXPECT_THAT(report.out, HasSubstr(flag)) << format;
    if (format != std::string("html")) continue;
    EXPECT_THAT(report.out, AllOf(HasSubstr("epochs: 2</mark>"), HasSubstr("<mark>test_limit_per_class: 9</mark>")));
  }
}

// Two seeds of one split are not tested: each format says so, and none has a star or a p-value.
TEST_F(ReportTest, TwoSeedsAreNotTested) {
  const ProgramResult latex = program_.MustRun({"report", "study.textproto", "--format=latex"});
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
  program_.MustRun({"run", "study.textproto", seeds});
  const nlohmann::json report =
      nlohmann::json::parse(program_.Run({"report", "study.textproto", seeds, "--format=json"}).out);
  ASSERT_EQ(report.at("baseline"), "mcp");
  int tests = 0;
  for (const char* group : {"pool", "near", "noise"}) {
    const ProgramResult result = program_.MustRun(
        {"compare", "study.textproto", seeds, "--metrics=auroc", "--format=json", absl::StrCat("--group=", group)});
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
              HasSubstr("a - max_logit"));
  EXPECT_THAT(program_.Run({"compare", "study.textproto", "--metrics=auroc", "--baseline=max_logt"}).err,
              HasSubstr("unknown baseline 'max_logt'; did you mean 'max_logit'?"));
  // With overrides on the command line, it is another study, which has no results here.
  EXPECT_THAT(program_.Run({"compare", "study.textproto", "--set=training.epochs=2"}),
              FailsWith(2, HasSubstr("study.textproto: there are no results")));
  EXPECT_THAT(program_.Run({"compare", "study.textproto", "--seeds=0..1", "--metrics=auroc"}).out,
              HasSubstr("a - mcp"));
  program_.Write("runs.csv", "method,split,auroc\na,0,0.5\nb,0,0.6\n");
  EXPECT_THAT(program_.Run({"compare", "runs.csv", "--set=a=1"}).err,
              HasSubstr("--set: is for a study, not for files"));
}

// A bundle and a query need neither the study nor its data.
TEST_F(ReportTest, OfRecordsAlone) {
  program_.MustRun({"records", "export", "--bundle=all.zip"});
  const ProgramResult all = program_.MustRun({"report", "all.zip"});
  EXPECT_THAT(all.out, AllOf(HasSubstr("max_logit "), HasSubstr("(n=2)"), Not(HasSubstr("no record yet"))));
  // A row with fewer runs says so, since its mean is over other runs.
  const std::string fewer = program_.Run({"report", "method=max_logit or seed=0"}).out;
  EXPECT_THAT(fewer, AllOf(HasSubstr("(n=2)."), HasSubstr(" (n=1)")));
  const ProgramResult some = program_.MustRun({"report", "method=max_logit", "--format=csv"});
  EXPECT_THAT(some.out, AllOf(HasSubstr("\nmax_logit,"), Not(HasSubstr("\nsoftmax,")), Not(HasSubstr("\nmcp,"))));
  EXPECT_EQ(program_.Run({"report", "method=none"}).exit_code, 2);
  const ProgramResult html = program_.MustRun({"report", "all.zip", "--format=html", "--out=all.html"});
  EXPECT_THAT(program_.Read("all.html"), HasSubstr("<h1>all.zip</h1>"));
  // A file name of another format.
  for (const auto& [name, said] : std::vector<std::pair<std::string, std::string>>{
           {"all.csv", "--out: all.csv has the extension of csv, but --format=text was requested; add --format=csv"},
           {"all.parquet",
            "--out: report can't write .parquet; its formats are text (.txt), markdown (.md), latex (.tex)"}}) {
    EXPECT_THAT(program_.Run({"report", "all.zip", "--out=" + name}), FailsWith(2, HasSubstr(said)));
    EXPECT_EQ(program_.Read(name), "");
  }
  program_.MustRun({"report", "all.zip", "--out=all.log"});
  // The same for the bundle's records.
  EXPECT_THAT(program_.Run({"records", "ls", "all.zip", "method=max_logit"}).out, HasSubstr("2 of 4 records"));
  const std::string id = program_.Records().begin()->first;
  EXPECT_THAT(program_.Run({"records", "show", "all.zip", id.substr(0, 8)}).out, HasSubstr("trial_id: \"" + id));
  const ProgramResult verified = program_.MustRun({"records", "verify", "all.zip"});
  EXPECT_THAT(verified.out, AllOf(HasSubstr("4 records, 0 replicas, 0 checkpoints, 0 outputs, 0 failed attempts: 0 "
                                            "corrupt"),
                                  HasSubstr("sha256 ")));
  EXPECT_EQ(program_.Run({"records", "show", "all.zip"}).exit_code, 2);  // ambiguous: there are four
  EXPECT_THAT(program_.Run({"report", "all.zip", "--store=none"}).err, HasSubstr("all.zip is read instead of a store"));
}

TEST_F(ReportTest, AnotherReportSectionRunsNothing) {
  const auto before = program_.Records();
  EXPECT_THAT(program_.Run({"report", "study.textproto", "--format=markdown"}).out, HasSubstr("| method "));
  program_.Write("study.textproto",
                 absl::StrCat(kNearFarStudy, "report { baseline: 'max_logit' row: 'metric' column: 'method' }\n"));
  EXPECT_EQ(Needed("train") + Needed("infer") + Needed("evaluate"), 0);
  const ProgramResult again = program_.MustRun({"run", "study.textproto"});
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
  ASSERT_OK_AND_ASSIGN(const std::string cells, recomputed());
  // 2 methods: accuracy, AUROC and AURC on the pool; AUROC on two sets and in two means.
  EXPECT_EQ(cells, absl::StrCat(2 * (3 + 4), " cells\n"));
  // The script detects a changed digit.
  std::string json = *ReadFile(reports + "report.json");
  const size_t mean = json.find("\"mean\": 0.");
  ASSERT_NE(mean, std::string::npos);
  char& digit = json[mean + 10];  // the first one after the point
  digit = digit == '9' ? '8' : '9';
  std::ofstream(reports + "report.json") << json;
  EXPECT_THAT(std::string(recomputed().status().message()), HasSubstr("FAILED: "));
}

// Compiles a report in LaTeX with a real TeX. Skipped, with a message, if the machine has none.

// If TeX has no booktabs (as in Debian's texlive-latex-base), defines its rules as lines.
constexpr char kDocument[] = R"(\documentclass{article}
\IfFileExists{booktabs.sty}{\usepackage{booktabs}}{\let\toprule\hline\let\midrule\hline\let\bottomrule\hline}
\begin{document}
See Table~\ref{tab:study}.
\input{table}
\end{document}
)";

TEST(Latex, CompilesWithARealTex) {
  const OpensetProgram program;
  WriteNearFarStudy(program);
  program.MustRun({"run", "study.textproto"});
  const std::vector<std::string> report = {"report", "study.textproto", "--format=latex", "--out=table.tex"};
  const auto table = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = report;
    words.insert(words.end(), more.begin(), more.end());
    program.MustRun(words);
    return program.Read("table.tex");
  };
  const bool has_tex = std::system("command -v pdflatex > /dev/null") == 0;
  program.Write("report.tex", kDocument);
  const auto compile = [&] {
    if (!has_tex) return;
    ASSERT_OK_AND_ASSIGN(const std::string log, CaptureOutput({"/bin/sh", "-c",
                                                               absl::StrCat("cd '", program.folder(),
                                                                            "' && pdflatex -interaction=nonstopmode "
                                                                            "-halt-on-error report.tex")}));
    EXPECT_THAT(log, HasSubstr("Output written on report.pdf"));
  };
  EXPECT_THAT(table({}), AllOf(HasSubstr("population standard deviation"), HasSubstr("\\label{tab:study}")));
  compile();
  EXPECT_THAT(table({"--spread=sample", "--digits=1", "--sort=auroc"}),
              AllOf(HasSubstr("sample standard deviation"), Not(HasSubstr("population"))));
  compile();
  EXPECT_THAT(table({"--spread=interval", "--rows=method", "--columns=group,metric"}),
              HasSubstr("half of the 95 \\% interval"));
  compile();
  EXPECT_THAT(program.Run({"report", "study.textproto", "--format=csv", "--digits=1"}).err,
              HasSubstr("--digits: applies to text, markdown and latex tables"));
  EXPECT_THAT(program.Run({"report", "study.textproto", "--spread=std"}).err, HasSubstr("--spread: unknown spread"));
  EXPECT_THAT(program.Run({"report", "study.textproto", "--digits=13"}).err,
              HasSubstr("--digits: must lie in 0 .. 12"));
  EXPECT_THAT(program.Run({"report", "study.textproto", "--sort=aurc,"}).err, HasSubstr("--sort: unknown metric"));
  if (!has_tex) GTEST_SKIP() << "no TeX on this machine (apt-get install texlive-latex-base): nothing was compiled";
}

// `openset figure` of a study: two methods against near and far unknown samples.

using ::testing::StartsWith;

TEST(Figure, OfAStudy) {
  const OpensetProgram program;
  WriteNearFarStudy(program);
  const auto fails = [&](const std::string& flag, const std::string& message) {
    const ProgramResult result = program.Run({"figure", "study.textproto", flag});
    EXPECT_EQ(result.exit_code, 2) << flag;
    EXPECT_THAT(result.err, HasSubstr(message)) << flag;
  };
  fails("--improvement=auroc", "there is nothing to draw: 0 of 4 trials have a record");
  program.MustRun({"run", "study.textproto"});

  const auto drawn = [&](const std::vector<std::string>& flags, const std::string& file) {
    std::vector<std::string> words = {"figure", "study.textproto"};
    words.insert(words.end(), flags.begin(), flags.end());
    program.MustRun(words);
    return program.Read(file);
  };
  EXPECT_THAT(
      drawn({"--improvement=auroc"}, "study_improvement_auroc.svg"),
      AllOf(HasSubstr("relative change of AUROC, % of MCP's"), HasSubstr("MaxLogit"), Not(HasSubstr("max_logit"))));
  EXPECT_THAT(drawn({"--improvement=auroc", "--labels=names", "--out=names.svg"}, "names.svg"),
              AllOf(HasSubstr("relative change of AUROC, % of mcp's"), HasSubstr("max_logit")));
  EXPECT_THAT(drawn({"--curve=roc", "--spread=interval", "--out=roc.svg"}, "roc.svg"),
              AllOf(HasSubstr("mean, in its 95 % interval"), HasSubstr(">MCP<")));
  // One seed or two of one split can't be tested: no bar is solid or faint.
  for (const char* seeds : {"--seeds=0..1", "--seeds=0"}) {
    const std::string bars = drawn({"--improvement=auroc", seeds, "--out=bars.svg"}, "bars.svg");
    EXPECT_THAT(bars, AllOf(HasSubstr("fill-opacity=\"0\""),
                            HasSubstr(">outlined: not tested, fewer than 3 splits, or seeds of one split<"),
                            Not(HasSubstr("solid: ")), Not(HasSubstr("faint: "))))
        << seeds;
  }
  EXPECT_THAT(drawn({"--softmax=near,noise", "--softmax_classes=3", "--out=softmax.svg"}, "softmax.svg"),
              AllOf(HasSubstr("mean softmax"), HasSubstr("MCP: near"), HasSubstr("MCP: noise"), HasSubstr("MaxLogit")));
  EXPECT_THAT(drawn({"--softmax=near", "--methods=mcp", "--out=one.svg"}, "one.svg"), Not(HasSubstr("MaxLogit")));
  EXPECT_THAT(drawn({"--curve=categories_mcp", "--out=categories.svg"}, "categories.svg"),
              AllOf(HasSubstr(">near<"), HasSubstr(">far<"), HasSubstr("known, right")));
  EXPECT_THAT(drawn({"--curve=density_mcp", "--out=density.svg"}, "density.svg"), HasSubstr("noise (far)"));
  EXPECT_THAT(drawn({"--curve=roc", "--width=page", "--out=roc.pdf"}, "roc.pdf"), StartsWith("%PDF"));

  const std::string dressed =
      drawn({"--curve=roc", "--title=Receivers", "--legend=none", "--out=dressed.svg"}, "dressed.svg");
  EXPECT_THAT(dressed, AllOf(HasSubstr(">Receivers<"), Not(HasSubstr(">ROC<")), Not(HasSubstr(">MCP<"))));
  const std::string right = drawn({"--curve=roc", "--title=none", "--legend=right", "--out=right.svg"}, "right.svg");
  EXPECT_THAT(right, AllOf(Not(HasSubstr(">ROC<")), HasSubstr(">MCP<")));

  fails("--improvement=arouc", "unknown figure 'arouc'; did you mean 'auroc'?");
  fails("--softmax=nera", "unknown set of unknown samples 'nera'; did you mean 'near'?");
  fails("--x=lambda", "request a study's figure with --x=FIELD and --y=METRIC");
  fails("--width=column", "request a study's figure with --x=FIELD and --y=METRIC");
  EXPECT_THAT(program.Run({"figure", "study.textproto", "--curve=roc", "--folder=f"}).err,
              HasSubstr("--folder: is for"));
  EXPECT_THAT(program.Run({"figure", "toy_softmax", "--out=toy.pdf"}).err, HasSubstr("--out: is for a study's figure"));
  EXPECT_EQ(program.Run({"figure", "study.textproto", "--curve=roc", "--improvement=auroc"}).exit_code, 2);
  EXPECT_EQ(program.Run({"figure", "study.textproto", "--softmax=near", "--softmax_classes=0"}).exit_code, 2);
  EXPECT_THAT(program.Run({"figure", "study.textproto", "--improvement=auroc", "--spread=sample"}).err,
              HasSubstr("--spread: applies only to --x with --y"));
  EXPECT_THAT(program.Run({"figure", "study.textproto", "--curve=roc", "--labels=title"}).err,
              HasSubstr("unknown label 'title'; did you mean 'titles'?"));
  EXPECT_THAT(program.Run({"figure", "study.textproto", "--curve=roc", "--legend=left"}).err,
              HasSubstr("--legend: unknown place 'left' (known: top, right, bottom, none)"));

  // A bundle gives all figures that need only records.
  program.MustRun({"records", "export", "--bundle=all.zip"});
  const auto of_bundle = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> words = {"figure", "all.zip"};
    words.insert(words.end(), flags.begin(), flags.end());
    return program.Run(words);
  };
  EXPECT_EQ(of_bundle({"--curve=roc"}).out, "all_roc.svg\n");
  EXPECT_THAT(program.Read("all_roc.svg"), HasSubstr(">MCP<"));
  EXPECT_EQ(of_bundle({"--improvement=auroc", "--baseline=max_logit"}).exit_code, 0);
  EXPECT_THAT(program.Read("all_improvement_auroc.svg"), HasSubstr("% of MaxLogit's"));
  EXPECT_THAT(of_bundle({"--improvement=auroc"}).err, HasSubstr("choose one with --baseline: max_logit, mcp"));
  EXPECT_THAT(of_bundle({"--improvement=auroc", "--baseline=max_logti"}).err,
              HasSubstr("unknown baseline 'max_logti'; did you mean 'max_logit'?"));
  EXPECT_THAT(of_bundle({"--softmax=near"}).err, HasSubstr("records don't have"));
  EXPECT_THAT(of_bundle({"--curve=roc", "--seeds=0"}).err, HasSubstr("--seeds: is for a study, not for a bundle"));
  const ProgramResult compared = program.MustRun({"compare", "all.zip", "--baseline=mcp", "--metrics=auroc"});
  EXPECT_THAT(compared.out, HasSubstr("a - mcp"));
}

// The program's messages about a study: failures, likely mistakes, the reasons for actions, and differences between two
// stores.

using ::testing::ContainsRegex;

// The near and far study with changes, and a second split of its task.
void WriteStudy(const OpensetProgram& program, const std::vector<std::pair<std::string, std::string>>& changes) {
  program.Write("tasks/near_far.textproto", absl::StrCat(kNearFarTask, "split { known: [0, 1, 2, 6] }\n"));
  std::string study = kNearFarStudy;
  for (const auto& [from, to] : changes) ASSERT_EQ(absl::StrReplaceAll({{from, to}}, &study), 1) << from;
  program.Write("study.textproto", study);
}

std::vector<TrialRecord> RecordsOf(const OpensetProgram& program) {
  std::vector<TrialRecord> records;
  for (const auto& [id, bytes] : program.Records()) EXPECT_TRUE(records.emplace_back().ParseFromString(bytes));
  return records;
}

void WriteRecord(const OpensetProgram& program, const std::string& store, const TrialRecord& record) {
  const std::string& id = record.trial_id();
  program.Write(store + "/version", program.Read("openset-store/version"));
  program.Write(absl::StrCat(store, "/records/", id.substr(0, 2), "/", id, ".rec"), EncodeRecord(record));
}

// Sets the AUROC of the pool, which comes first.
void SetAuroc(TrialRecord* record, double value) {
  for (MetricRecord& metric : *record->mutable_metric()) {
    if (metric.name() != "auroc") continue;
    metric.set_value(value);
    return;
  }
}

TEST(Said, FailuresByMethodSplitsAndSeed) {
  const OpensetProgram program;
  program.Write("methods/bad.textproto", "name: 'bad' base: 'softmax' training { optimizer { learning_rate: 1e20 } }");
  WriteStudy(program, {{"\"max_logit\"", "\"bad\""},
                       {"split: 0", "split: [0, 1]"},
                       {"seed: [0, 1]", "seed: 1"},
                       {"optimizer { learning_rate: 0.02 }", ""}});
  const ProgramResult run = program.Run({"run", "study.textproto"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("\n2 of 4 trials failed: bad, splits 0 and 1, seed 1.\n"));
}

TEST(Said, OneRunHasNoSpreadAndReevaluationsAreNamed) {
  const OpensetProgram program;
  WriteStudy(program, {{"seed: [0, 1]", "seed: 0"}});
  const ProgramResult run = program.MustRun({"run", "study.textproto"});
  EXPECT_THAT(run.out, AllOf(HasSubstr("\nOne run: no spread.\n"), Not(HasSubstr("±"))));
  program.Write("study.textproto", program.Read("study.textproto") + "metric { openauc {} }\n");
  const auto plan = nlohmann::json::parse(program.Run({"plan", "study.textproto", "--format=json"}).out);
  const ProgramResult explained = program.MustRun({"explain", plan["trials"][0]["id"], "study.textproto"});
  EXPECT_THAT(explained.out, ContainsRegex("  infer [0-9a-f]{12}: done\n"));
  EXPECT_THAT(explained.out, ContainsRegex("  evaluate [0-9a-f]{12}: will be evaluated: no stored result has exactly "
                                           "these metrics\n"));
}

// Each step sets the weights to 0, so that all predictions are one class, which exactly a quarter of the samples have.
TEST(Said, AHintNamesSplitAndSeed) {
  const OpensetProgram program;
  WriteStudy(program,
             {{"optimizer { learning_rate: 0.02 }", "optimizer { learning_rate: 0.01 sgd {} weight_decay: 99 }"},
              {"split: 0", "split: 1"},
              {"epochs: 1", "epochs: 2"}});
  const ProgramResult run = program.MustRun({"run", "study.textproto"});
  for (const int seed : {0, 1}) {
    EXPECT_THAT(run.err,
                HasSubstr(absl::StrCat("hint: mcp on near_far, split 1, seed ", seed,
                                       ": accuracy is 25.0 % on 200 known samples, no better than guessing ")));
  }
}

// The hint has the lowest trial of a row, and the mean that the table shows.
TEST(Said, AHintHasTheMeanOfTheTable) {
  const OpensetProgram program;
  WriteStudy(program, {});
  program.MustRun({"run", "study.textproto"});
  for (TrialRecord record : RecordsOf(program)) {
    if (record.trial().method().name() != "mcp") continue;
    SetAuroc(&record, record.trial().seed() == 1 ? 0.25 : 0.375);
    WriteRecord(program, "openset-store", record);
  }
  const ProgramResult report = program.MustRun({"report", "study.textproto"});
  EXPECT_THAT(report.err,
              ContainsRegex("hint: AUROC is below 50 %.* by mcp \\(25\\.0 % at split 0, seed 1; mean of the "
                            "table 31\\.2 %\\)"));
}

// Two stores have a record of the same trial, made with the kernels of two CPUs.
TEST(Said, DifferencesBetweenTwoLaboratories) {
  const OpensetProgram program;
  WriteStudy(program, {{"seed: [0, 1]", "seed: 0"}, {"[\"mcp\", \"max_logit\"]", "\"mcp\""}});
  program.MustRun({"run", "study.textproto"});
  TrialRecord record = program.AnyRecord();
  const auto at = [&](const std::string& host, const std::string& kernels, double auroc) {
    for (StageProvenance& stage : *record.mutable_provenance()->mutable_stage()) {
      stage.set_host(host);
      stage.set_cpu_capability(kernels);
    }
    SetAuroc(&record, auroc);
    return record;
  };
  WriteRecord(program, "openset-store", at("lab-a", "AVX2", 0.4737780));
  WriteRecord(program, "other", at("lab-b", "DEFAULT", 0.4737781));
  const ProgramResult merged = program.MustRun({"records", "merge", "other"});
  EXPECT_THAT(merged.out, HasSubstr("1 with other numbers"));
  const std::string both = "lab-a (AVX2) 0.4737780; lab-b (DEFAULT) 0.4737781";
  EXPECT_THAT(merged.out, HasSubstr(both));
  // A report by query says so too.
  EXPECT_THAT(program.Run({"report", "split=0", "--format=json"}).out,
              AllOf(HasSubstr(", split 0, seed 0: auroc: "), HasSubstr(both)));
  // The two records are compared, named once, twice, or by the other store.
  const std::string& id = record.trial_id();
  const std::vector<std::vector<std::string>> diffs = {{id}, {id, id}, {id, "other"}};
  for (std::vector<std::string> words : diffs) {
    words.insert(words.begin(), {"records", "diff"});
    const ProgramResult diff = program.MustRun(words);
    EXPECT_THAT(diff.out, AllOf(HasSubstr("measured on lab-a\nb  "), HasSubstr("measured on lab-b\n")));
    EXPECT_THAT(diff.out, HasSubstr("settings: the same\ndata: the same\n"));
    EXPECT_THAT(diff.out, HasSubstr("auroc: 0.473778; 0.4737781 (changed by +1e-07)"));
  }
  EXPECT_THAT(program.Run({"records", "diff", id, "--store=other"}).err, HasSubstr("has one record of trial " + id));
}

}  // namespace
}  // namespace openset
