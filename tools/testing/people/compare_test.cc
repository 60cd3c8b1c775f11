// Tables of results and files of scores that people compared.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "tools/testing/people/situation.h"

namespace openset {
namespace {

// results.csv with these lines.
std::function<void(const OpensetProgram&)> Results(const std::vector<std::string>& lines) {
  return [lines](const OpensetProgram& program) {
    program.Write("results.csv", absl::StrCat(absl::StrJoin(lines, "\n"), "\n"));
  };
}

// A row for each of two methods and five splits: a has 0.80 ... 0.84 and b `more` than that.
std::vector<std::string> FiveSplits(absl::string_view header, double more, double factor) {
  std::vector<std::string> lines = {std::string(header)};
  for (int split = 0; split < 5; ++split) {
    const double value = 0.8 + 0.01 * split;
    lines.push_back(absl::StrCat("a,cifar,", split, ",0,", factor * value));
    lines.push_back(absl::StrCat("b,cifar,", split, ",0,", factor * (value + more)));
  }
  return lines;
}

// Five methods that have the same order on ten tasks, with one run each (Demsar's table).
std::vector<std::string> TenTasks() {
  std::vector<std::string> lines = {"method,task,split,seed,auroc"};
  for (int task = 0; task < 10; ++task) {
    for (int method = 0; method < 5; ++method) {
      lines.push_back(absl::StrCat(std::string(1, static_cast<char>('A' + method)), ",t", task, ",0,0,",
                                   0.5 + 0.08 * method + 0.001 * task));
    }
  }
  return lines;
}

const std::vector<std::string> kCompareResults = {"compare", "results.csv"};

const std::vector<Situation> kComparisons = {
    // Ten points in each of five splits. Of the 2^5 signs of five equal differences, 2 are as extreme: p = 0.0625.
    Answers("TheSameDifferenceInEverySplit", "scipy/scipy.org#172",
            Results(FiveSplits("method,task,split,seed,auroc", 0.1, 1)), kCompareResults,
            {"not tested: same difference in 5 splits", "-10.00", "0.0625", "no spread for a t test"},
            {"no detectable difference", "inf", "nan"}),
    Answers("TheSameDifferenceInJson", "scipy/scipy.org#172",
            Results(FiveSplits("method,task,split,seed,auroc", 0.1, 1)), {"compare", "results.csv", "--format=json"},
            {"\"cohen_dz\": null", "\"p\": null", "\"low\": null", "\"tested\": false", "\"wilcoxon_p\": 0.0625"},
            {"inf", "nan"}),
    Answers(
        "RoundedToThreeDecimals", "scipy/scipy.org#172",
        Results({"method,split,auroc", "a,0,0.812", "a,1,0.834", "a,2,0.801", "b,0,0.813", "b,1,0.835", "b,2,0.802"}),
        kCompareResults, {"not tested: same difference in 3 splits", "-0.10", "0.2500"}, {"no detectable difference"}),
    Answers("EqualInEveryRun", "scipy/scipy.org#172", Results(FiveSplits("method,task,split,seed,auroc", 0, 1)),
            kCompareResults, {"equal in every run", "0.00"}, {"nan", "no detectable difference"}),
    Refuses(
        "Percent", "scipy/scipy.org#172", Results(FiveSplits("method,task,split,seed,AUROC", 0.1, 100)),
        kCompareResults,
        {"results.csv: auroc is a share, so it lies in 0 .. 1, and 10 of 10 values don't: 80 for a on cifar, split 0, "
         "seed 0; are these percent? Divide the column by 100"}),
    // Mean ranks 1 ... 5; Nemenyi's critical difference for 5 methods and 10 tasks is 2.728 sqrt(5 * 6 / 60) = 1.93.
    Answers(
        "ManyTasksWithARunEach", "hfawaz/cd-diagram#1", Results(TenTasks()), kCompareResults,
        {"Kendall's W 1.00", "critical\n  difference of mean ranks 1.93",
         "left out: auroc: 100 pairs of methods and tasks (A and B on t0, A and B on t1, A and B on t2, ...): two runs",
         "assumes: tasks are independent"},
        {"assumes: ;", "A and B on t3"}),
    Refuses("OneRunEach", "hfawaz/cd-diagram#5", Results({"method,auroc", "a,0.8", "b,0.9"}), kCompareResults,
            {"results.csv: nothing can be compared: auroc: a and b: two runs are needed, and they have one in common"}),
    Answers("RunsWithoutAPartner", "hfawaz/cd-diagram#5",
            Results({"method,task,split,seed,auroc", "a,c,0,0,0.80", "b,c,0,0,0.7", "a,c,1,0,0.81", "b,c,1,0,0.72",
                     "a,c,2,0,0.82", "b,c,2,0,0.76", "a,c,3,0,0.9", "b,c,4,0,0.9"}),
            kCompareResults,
            {"left out: auroc: a and b on c: 2 runs without a partner (the same split and seed of the other method)"}),
    Answers("TwoSplits", "hfawaz/cd-diagram#5",
            Results({"method,split,auroc", "a,0,0.8", "a,1,0.81", "b,0,0.7", "b,1,0.7101"}), kCompareResults,
            {"not tested: fewer than 3 splits (2)"}, {"is better", "no detectable difference"}),
    Refuses("OneRunTwice", "hfawaz/cd-diagram#5",
            Results({"method,task,split,seed,auroc", "a,c,0,0,0.8", "a,c,0,0,0.81", "b,c,0,0,0.7"}), kCompareResults,
            {"results.csv: line 3: there is a value of 'auroc' for a, c, split 0, seed 0 already"}),
    Refuses("AFileAndItself", "scipy/scipy.org#172",
            [](const OpensetProgram& program) {
              program.Write("a.csv", "label,unknown_score\n0,0.1\n0,0.2\n-1,0.15\n-1,0.9\n");
            },
            {"compare", "a.csv", "./a.csv"},
            {"./a.csv: is the same file as a.csv; a method can't be compared with itself"}),
    Answers("ACopyOfAFile", "scipy/scipy.org#172",
            [](const OpensetProgram& program) {
              program.Write("a.csv", "label,unknown_score\n0,0.1\n0,0.2\n-1,0.15\n-1,0.9\n");
              program.Write("b.csv", "label;unknown_score\n0;0.10\n0;0.20\n-1;0.150\n-1;0.9\n");
            },
            {"compare", "a.csv", "b.csv", "--metrics=auroc", "--replicates=50"},
            {"hint: a and b have the same scores and predictions for every sample: is one a copy of the other?"}),
    Refuses("NothingToCompareOnSamples", "scipy/scipy.org#172",
            [](const OpensetProgram& program) {
              program.Write("a.csv", "label,unknown_score\n0,0.1\n0,0.2\n");
              program.Write("b.csv", "label,unknown_score\n0,0.1\n0,0.3\n");
            },
            {"compare", "a.csv", "b.csv", "--metrics=auroc", "--replicates=50"},
            {"a and b: nothing can be compared: auroc: no unknown samples"}),
    // The mean of -0.0139, -0.0282, -0.0163 and -0.0151 is -0.0184.
    Answers("ExportedRuns", "wandb/wandb#4501",
            Results({"\"Name\",\"State\",\"method\",\"task\",\"split\",\"seed\",\"auroc\",\"auroc__MIN\"",
                     "\"r0\",\"finished\",\"msp\",\"cifar10\",\"0\",\"0\",\"0.8065\",\"\"",
                     "\"r1\",\"finished\",\"energy\",\"cifar10\",\"0\",\"0\",\"0.8204\",\"\"",
                     "\"r2\",\"finished\",\"msp\",\"cifar10\",\"1\",\"0\",\"0.8002\",\"\"",
                     "\"r3\",\"finished\",\"energy\",\"cifar10\",\"1\",\"0\",\"0.8284\",\"\"",
                     "\"r4\",\"finished\",\"msp\",\"cifar10\",\"2\",\"0\",\"0.8059\",\"\"",
                     "\"r5\",\"finished\",\"energy\",\"cifar10\",\"2\",\"0\",\"0.8222\",\"\"",
                     "\"r6\",\"finished\",\"msp\",\"cifar10\",\"3\",\"0\",\"0.8075\",\"\"",
                     "\"r7\",\"finished\",\"energy\",\"cifar10\",\"3\",\"0\",\"0.8226\",\"\"",
                     "\"r8\",\"crashed\",\"energy\",\"cifar10\",\"4\",\"0\",\"\",\"\""}),
            kCompareResults,
            {"energy is better", "-1.84",
             "hint: ignored, because they are neither metrics nor name a run: Name, State, "
             "auroc__MIN",
             "hint: without a value of any metric: line 10"}),
    Refuses(
        "ExportedRunsWithoutAMethod", "wandb/wandb#4501", Results({"Name,State,auroc", "r0,finished,0.8"}),
        kCompareResults,
        {"line 1: there is no column 'method' (there are Name, State, auroc): give this name to the column that says "
         "which "
         "method a row is of"}),
    // FPR is better if it is smaller: a has 10 points more of it and of AUROC.
    Answers("UsualNamesOfMetrics", "wandb/wandb#5349",
            Results({"Method,Task,Split,Seed,AUROC,fpr95", "a,c,0.0,0.0,0.7,0.5", "b,c,0.0,0.0,0.6,0.4",
                     "a,c,1.0,0.0,0.7,0.5", "b,c,1.0,0.0,0.61,0.39", "a,c,2.0,0.0,0.7,0.5", "b,c,2.0,0.0,0.59,0.41"}),
            {"compare", "results.csv", "--format=csv"},
            {"auroc,c,a,b,3,3,0.0999999", "a is better,share,AUROC", "fpr_at_95tpr,c,a,b,3,3,", "b is better,share,"}),
    Answers("LeftOutOfCsv", "hfawaz/cd-diagram#5",
            Results({"method,split,auroc", "a,0,0.8", "a,1,0.81", "a,2,0.82", "b,0,0.7", "b,1,0.72", "b,2,0.71",
                     "b,3,0.7"}),
            {"compare", "results.csv", "--format=csv"},
            {"auroc,,a,b,3,3,", "hint: left out: auroc: a and b: 1 run without a partner"}),
    Refuses("OtherColumnNames", "wandb/wandb#5349",
            Results({"method,dataset,fold,auroc", "a,c,0,0.8", "a,c,1,0.9", "b,c,0,0.7", "b,c,1,0.8"}), kCompareResults,
            {"results.csv: line 3: there is a value of 'auroc' for a already", "there is no 'task' and no 'split'",
             "(there are dataset, fold)"}),
    Refuses("MetricsAsRows", "gary23ai/ARPL#2", Results({",0,1,2", "TNR,34.0,30.6,22.6", "AUROC,86.9,85.6,84.3"}),
            kCompareResults, {"results.csv: line 1: there is no column 'method'"}),
    Refuses("MeansWithTheirSpread", "gary23ai/ARPL#2", Results({"method,split,auroc", "a,0,86.9 ± 0.3"}),
            kCompareResults, {"line 2: column 'auroc': '86.9 ± 0.3' is not a number"}),
};

INSTANTIATE_TEST_SUITE_P(Comparisons, PeopleTest, ::testing::ValuesIn(kComparisons), NameOfSituation);

// What is printed as JSON is JSON.
TEST(Compare, JsonCanBeParsed) {
  const OpensetProgram program("json");
  Results(FiveSplits("method,task,split,seed,auroc", 0.1, 1))(program);
  const ProgramResult result = program.Run({"compare", "results.csv", "--format=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json json = nlohmann::json::parse(result.out);
  ASSERT_EQ(json.at("pairs").size(), 1);
  EXPECT_NEAR(json.at("pairs")[0].at("mean_difference"), -0.1, 1e-12);
  EXPECT_TRUE(json.at("pairs")[0].at("p_holm").is_null());
}

// The first score ranks all samples right; the second gives a known one the unknown one's score.
TEST(Compare, MapsCosts) {
  const OpensetProgram program("map");
  program.Write("a.csv", "label,unknown_score\n0,0.1\n0,0.2\n-1,0.9\n");
  program.Write("b.csv", "label,unknown_score\n0,0.1\n0,0.9\n-1,0.9\n");
  Results(FiveSplits("method,task,split,seed,auroc", 0.1, 1))(program);
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    arguments.insert(arguments.end(), {"--cost_map", "--replicates=50"});
    return program.Run(arguments);
  };
  const ProgramResult map = run({"a.csv", "b.csv"});
  EXPECT_EQ(map.exit_code, 0) << map.err;
  for (const char* part : {"A: a", "B: b", "the method of the least expected cost", "A is best in ", "--format=csv"}) {
    EXPECT_THAT(map.out, ::testing::HasSubstr(part));
  }
  const ProgramResult csv = run({"a.csv", "b.csv", "--format=csv", "--metrics=expected_cost { error_cost: 0 }"});
  EXPECT_THAT(csv.out, ::testing::HasSubstr("\n0.5,1,b,0.25,"));  // accepts the unknown one, or rejects a known one
  for (const auto& [arguments, error] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"a.csv", "b.csv", "--metrics=auroc"}, "--metrics: must be expected_cost alone for --cost_map"},
           {{"a.csv", "b.csv", "--metrics=expected_cost { prevalence: 0.1 }"},
            "--metrics: leave out prevalence and unknown_cost, which --cost_map varies"},
           {{"a.csv", "b.csv", "--format=sentence"}, "--cost_map: can't be written as sentences"},
           {{"results.csv"}, "--cost_map: compares scores on the same samples"}}) {
    const ProgramResult refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 2) << error;
    EXPECT_THAT(refused.err, ::testing::HasSubstr(error));
  }
}

}  // namespace
}  // namespace openset
