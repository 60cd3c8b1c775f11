#include "eval/report/run_table.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

std::string Write(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string ErrorOf(const std::string& path) { return std::string(ReadRunTable(path).status().message()); }

TEST(ReadRunTable, Csv) {
  ASSERT_OK_AND_ASSIGN(
      const RunTable table,
      ReadRunTable(Write("a.csv", "method,task,split,seed,auroc,ece\nb,t,0,1,0.5,\na,t,0,1,0.25,0.125\n")));
  EXPECT_THAT(table.methods, ElementsAre("b", "a"));
  EXPECT_THAT(table.tasks, ElementsAre("t"));
  EXPECT_THAT(table.metrics, ElementsAre("auroc", "ece"));
  EXPECT_EQ(table.value.at("auroc").at("b").at("t").at({"0", "1"}), 0.5);
  EXPECT_EQ(table.value.at("ece").count("b"), 0);
  const absl::StatusOr<RunTable> levels =
      ReadRunTable(Write("c.csv", "method,task,unknown_classes,auroc\na,t,2,0.5\na,t,4,0.25\n"));
  EXPECT_THAT(levels->tasks, ElementsAre("t, 2 unknown classes", "t, 4 unknown classes"));
  EXPECT_EQ(levels->block.at("t, 2 unknown classes"), "t");
  EXPECT_EQ(ReadRunTable(Write("b.csv", "method,auroc\na,0.5\n"))->value.at("auroc").at("a").at("").size(), 1);
}

// df.to_csv(): an index, whole floats, columns in any case, and another separator.
TEST(ReadRunTable, AsPandasWritesThem) {
  ASSERT_OK_AND_ASSIGN(
      const RunTable table,
      ReadRunTable(Write("pandas.csv",
                         ";Unnamed: 0;Method;Split;seed;AUROC\n0;5;a;0.0;1;0.5\n1;6;b;;1;0.25\n2;7;b;0.0;1;0.75\n")));
  EXPECT_THAT(table.methods, ElementsAre("a", "b"));
  EXPECT_THAT(table.metrics, ElementsAre("auroc"));
  EXPECT_THAT(table.ignored, IsEmpty());
  EXPECT_EQ(table.value.at("auroc").at("a").at("").at({"0", "1"}), 0.5);
  EXPECT_EQ(table.value.at("auroc").at("b").at("").at({"0", "1"}), 0.75);
  EXPECT_THAT(ReadRunTable(Write("tidy_index.csv", ",method,metric,value\n0,m,auroc,0.5\n1,b,auroc,0.25\n"))->methods,
              ElementsAre("m", "b"));
}

// Usual names and any case of metrics; other columns, also of text, are ignored by name. A level keeps its spelling.
TEST(ReadRunTable, FindsMetricsByUsualNames) {
  ASSERT_OK_AND_ASSIGN(
      const RunTable table,
      ReadRunTable(Write(
          "usual.csv",
          "Name,host,method,split,epochs,FPR95,Acc,fpr_at_0.80tpr,AUC-ROC\nr1,n1,a,0,5,0.5,0.75,0.25,0.875\nr2,n2,b,0,"
          "5,0.4,0.7,0.2,0.8\nr3,n3,b,1,5,,,,\n")));
  EXPECT_THAT(table.metrics, ElementsAre("fpr_at_95tpr", "accuracy", "fpr_at_0.80tpr", "auroc"));
  EXPECT_EQ(table.value.at("fpr_at_95tpr").at("a").at("").at({"0", ""}), 0.5);
  EXPECT_THAT(table.ignored, ElementsAre("Name", "host", "epochs"));
  EXPECT_THAT(table.empty, ElementsAre("line 4"));
  const absl::StatusOr<RunTable> tidy =
      ReadRunTable(Write("usual_tidy.csv", "method,metric,value\na,AUROC,0.5\na,time,7\n"));
  EXPECT_THAT(tidy->metrics, ElementsAre("auroc"));
  EXPECT_THAT(tidy->ignored, ElementsAre("time"));
  EXPECT_THAT(ErrorOf(Write("both.csv", "method,auroc,AUC\na,1,1\n")),
              HasSubstr("both.csv: line 1: the columns 'auroc' and 'AUC' are both auroc"));
  EXPECT_THAT(ErrorOf(Write("twice.csv", "method,Method,auroc\na,b,1\n")), HasSubstr("are both method"));
  EXPECT_THAT(ErrorOf(Write("none.csv", "method,dataset,auroq\na,c,1\n")),
              HasSubstr("none.csv: line 1: no column is a metric (there are method, dataset, auroq): unknown metric "
                        "'auroq'; did you mean 'auroc'?"));
}

// A study's own name of a metric doesn't say what it is, even if it is a usual name of another one.
TEST(ReadRunTable, IgnoresOwnNamesInReports) {
  const char* cell = R"({"method": "m", "task": "t", "unknown_classes": 4, "values": [0.5], "splits": [0], "seeds": [0],
      "metric": ")";
  ASSERT_OK_AND_ASSIGN(
      const RunTable table,
      ReadRunTable(Write("own.json", absl::StrCat("{\"cells\": [", cell, "auroc\"}, ", cell, "fpr95\"}]}"))));
  EXPECT_THAT(table.metrics, ElementsAre("auroc"));
  EXPECT_THAT(table.ignored, ElementsAre("fpr95"));
}

TEST(ReadRunTable, NamesTheColumnsThatTellRunsApart) {
  EXPECT_THAT(ErrorOf(Write("folds.csv", "method,dataset,fold,auroc\na,c,0,1\na,c,1,1\n")),
              HasSubstr("line 3: there is a value of 'auroc' for a already; a method's runs are told apart by the "
                        "columns 'task', 'split' and 'seed', and there is no 'task' and no 'split' and no 'seed' "
                        "(there are dataset, fold)"));
  EXPECT_THAT(ErrorOf(Write("lambda.csv", "method,task,split,seed,lambda,auroc\na,c,0,0,1,1\na,c,0,0,2,1\n")),
              HasSubstr("for a, c, split 0, seed 0 already; these columns don't tell runs apart: lambda"));
  EXPECT_THAT(ErrorOf(Write("crashed.csv", "method,auroc\n,1\n")), HasSubstr("line 2: column 'method' is empty"));
}

TEST(ReadRunTable, TidyCsv) {
  ASSERT_OK_AND_ASSIGN(
      const RunTable table,
      ReadRunTable(
          Write("tidy.csv",
                "trial,method,task,split,seed,known_classes,unknown_classes,openness,lambda,group,known_samples,"
                "unknown_samples,known_per_unknown,metric,value,unit,better,low,high\n"
                "x,m,t,0,1,6,4,0.2,0.1,pool,6,8,0.75,auroc,0.5,share,higher,,\n"
                "x,m,t,0,1,6,4,0.2,0.1,pool,6,8,0.75,ece,,share,lower,,\n"
                "y,b,t,0,1,6,4,0.2,,pool,6,8,0.75,auroc,0.25,share,higher,0.2,0.3\n")));
  EXPECT_THAT(table.methods, ElementsAre("m, lambda 0.1", "b"));
  EXPECT_THAT(table.metrics, ElementsAre("auroc"));
  EXPECT_EQ(table.value.at("auroc").at("m, lambda 0.1").at("t, 4 unknown classes").at({"0", "1"}), 0.5);
  EXPECT_THAT(ErrorOf(Write("tidy_bad.csv", "method,metric,value\nm,auroc,high\n")),
              HasSubstr("line 2: column 'value': 'high' is not a number"));
}

TEST(ReadRunTable, Report) {
  ASSERT_OK_AND_ASSIGN(const RunTable table, ReadRunTable(Write("a.json", R"({"cells": [{"method": "m", "task": "t",
      "axis": {"lambda": "0.1"}, "unknown_classes": 4, "metric": "auroc", "values": [0.5, 0.25], "splits": [0, 0],
      "seeds": [0, 1]}]})")));
  EXPECT_EQ(table.value.at("auroc").at("m, lambda 0.1").at("t, 4 unknown classes").at({"0", "1"}), 0.25);
  EXPECT_EQ(table.block.at("t, 4 unknown classes"), "t");
  EXPECT_TRUE(table.display.empty());
}

// A study's own name, and settings that the name of a metric doesn't say.
TEST(ReadRunTable, ReportSaysWhatItsMetricsAre) {
  const auto cell = [](const std::string& metric, const std::string& label) {
    return absl::Substitute(
        R"({"method": "m", "task": "t", "unknown_classes": 4, "metric": "$0", "label": "of m", "column": "$1",
        "unit": "share", "display": {"factor": 100, "digits": 1, "unit": "%"}, "higher_is_better": false,
        "values": [0.5], "splits": [0], "seeds": [0]})",
        metric, label);
  };
  const std::string text = absl::StrCat("{\"cells\": [", cell("outer", "outer score (threshold of the method)"), ", ",
                                        cell("outer_95", "outer_95"), "]}");
  ASSERT_OK_AND_ASSIGN(const RunTable table, ReadRunTable(Write("named.json", text)));
  EXPECT_THAT(table.metrics, ElementsAre("outer", "outer_95"));
  EXPECT_TRUE(table.ignored.empty());
  EXPECT_EQ(LabelWithUnit(table.display.at("outer")), "outer score (threshold of the method), %");
  EXPECT_EQ(Shown(0.5, table.display.at("outer_95")), "50.0");
  EXPECT_EQ(table.display.at("outer_95").higher_is_better, false);
}

// The pool unless another group is named; a file without groups is of the pool.
TEST(ReadRunTable, OneGroupOfUnknownSamples) {
  const std::string csv = Write("groups.csv", "method,group,auroc\na,,0.5\na,svhn,0.25\nb,pool,0.75\n");
  const std::string json = Write("groups.json", R"({"cells": [
      {"method": "a", "task": "t", "unknown_classes": 1, "group": "pool", "metric": "auroc", "values": [0.5],
       "splits": [0], "seeds": [0]},
      {"method": "a", "task": "t", "unknown_classes": 1, "group": "svhn", "metric": "auroc", "values": [0.25],
       "splits": [0], "seeds": [0]}]})");
  for (const std::string& path : {csv, json}) {
    EXPECT_THAT(ReadRunTable(path)->groups, ElementsAre("pool", "svhn"));
    EXPECT_EQ(ReadRunTable(path)->value.at("auroc").at("a").begin()->second.begin()->second, 0.5);
    EXPECT_EQ(ReadRunTable(path, "svhn")->value.at("auroc").at("a").begin()->second.begin()->second, 0.25);
    EXPECT_THAT(std::string(ReadRunTable(path, "svnh").status().message()),
                HasSubstr("unknown group 'svnh'; did you mean 'svhn'?"));
  }
  EXPECT_THAT(ReadRunTable(csv, "svhn")->methods, ElementsAre("a"));
}

TEST(ReadRunTable, Refuses) {
  EXPECT_THAT(ErrorOf("nowhere.csv"), HasSubstr("nowhere.csv"));
  EXPECT_THAT(ErrorOf("a.npz"), HasSubstr("to compare scores on the same samples give two files"));
  EXPECT_THAT(ErrorOf(Write("b.csv", "task,auroc\nt,1\n")), HasSubstr("b.csv: line 1: there is no column 'method'"));
  EXPECT_THAT(ErrorOf(Write("b.csv", "method\na\n")), HasSubstr("b.csv: there are no results"));
  EXPECT_THAT(ErrorOf(Write("b.csv", "method,auroc\na,nan\n")), HasSubstr("b.csv: line 2: 'auroc' is nan"));
  EXPECT_THAT(ErrorOf(Write("b.json", "{")), HasSubstr("b.json: not in the format of `openset report --format=json`"));
  EXPECT_THAT(ErrorOf(Write("b.json", R"({"cells": [{"values": 1}]})")), HasSubstr("b.json: "));
  EXPECT_THAT(ErrorOf(Write("b.json", R"({"cells": [{"method": "m", "task": "t", "unknown_classes": 1, "metric": "x",
      "values": [1, 2], "splits": [1], "seeds": [1]}]})")),
              HasSubstr("b.json: "));
}

}  // namespace
}  // namespace openset
