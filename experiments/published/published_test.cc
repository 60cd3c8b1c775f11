// Compares the numbers of each file with a copy of the printed ones, and tests lookups.
#include "experiments/published/published.h"

#include <fstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/testing/status_matchers.h"
#include "eval/metrics/metric.pb.h"

namespace openset {
namespace {

std::string Folder() { return JoinPath(RunfilesFolder().value(), "openset/experiments/published"); }

PublishedTable Table(const std::string& name) {
  const absl::StatusOr<PublishedTable> table = ReadPublished(JoinPath(Folder(), absl::StrCat(name, ".textproto")));
  EXPECT_TRUE(table.ok()) << table.status();
  return table.value_or(PublishedTable());
}

class PublishedTest : public ::testing::TestWithParam<std::string> {};

// testdata/NAME.tsv: a comment, the labels of the columns, and a line for each row; cells are "99.2 ± 0.1" or empty.
TEST_P(PublishedTest, HasTheNumbersThatArePrinted) {
  const PublishedTable table = Table(GetParam());
  EXPECT_EQ(table.name(), GetParam());
  ASSERT_OK_AND_ASSIGN(const std::string printed,
                       ReadFile(JoinPath(Folder(), absl::StrCat("testdata/", GetParam(), ".tsv"))));
  const std::vector<std::string> lines = absl::StrSplit(printed, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 2 + table.row_size());
  const std::vector<std::string> labels = absl::StrSplit(lines[1], '\t');
  ASSERT_EQ(labels.size(), 1 + table.column_size());
  for (int c = 0; c < table.column_size(); ++c) EXPECT_EQ(table.column(c).label(), labels[1 + c]);
  for (int r = 0; r < table.row_size(); ++r) {
    const std::vector<std::string> texts = absl::StrSplit(lines[2 + r], '\t');
    ASSERT_EQ(texts.size(), labels.size());
    EXPECT_EQ(table.row(r).label(), texts[0]);
    for (int c = 0; c < table.column_size(); ++c) {
      const PublishedCell& cell = table.row(r).cell(c);
      const std::vector<std::string> parts = absl::StrSplit(texts[1 + c], " ± ", absl::SkipEmpty());
      const std::string where = absl::StrCat(texts[0], ", ", labels[1 + c]);
      ASSERT_EQ(cell.has_value(), !parts.empty()) << where;
      ASSERT_EQ(cell.has_std(), parts.size() == 2) << where;
      double number;
      if (cell.has_value()) {
        ASSERT_TRUE(absl::SimpleAtod(parts[0], &number)) << where;
        EXPECT_EQ(cell.value(), number) << where;
      }
      if (cell.has_std()) {
        ASSERT_TRUE(absl::SimpleAtod(parts[1], &number)) << where;
        EXPECT_EQ(cell.std(), number) << where;
      }
    }
  }
}

// Scaled shares are in [0, 1]; with a missing scale, they would not be.
TEST_P(PublishedTest, IsInTheMetricsUnits) {
  const PublishedTable table = Table(GetParam());
  for (const PublishedRow& row : table.row()) {
    for (int c = 0; c < row.cell_size(); ++c) {
      const double value = row.cell(c).value() * table.column(c).scale();
      EXPECT_GE(value, 0) << row.label();
      EXPECT_LE(value, 1) << row.label();
    }
  }
}

// Each row says which form of its method was run.
TEST_P(PublishedTest, EachRowSaysWhichFormWasRun) {
  const PublishedTable table = Table(GetParam());
  for (const PublishedRow& row : table.row()) EXPECT_FALSE(row.form().empty()) << row.label();
}

INSTANTIATE_TEST_SUITE_P(All, PublishedTest,
                         ::testing::Values("arpl_issue_2", "imbalance_table_1", "openauc_table_2", "openauc_table_4",
                                           "openauc_table_5", "openset_imagenet_notebook", "unified_benchmark_table_6",
                                           "unified_benchmark_table_7", "vaze_tinyimagenet_measured",
                                           "vaze_tinyimagenet_readme"),
                         [](const auto& info) { return info.param; });

// The log lists splits; its means are of numbers with more digits, so that both are rounded to 0.005.
TEST(Published, TheLogsMeansAreThoseOfItsSplits) {
  const PublishedTable table = Table("arpl_issue_2");
  for (const PublishedCell& cell : table.row(0).cell()) {
    double sum = 0;
    for (const PublishedSplit& split : cell.of_split()) sum += split.value();
    ASSERT_EQ(cell.of_split_size(), 5);
    EXPECT_NEAR(sum / 5, cell.value(), 0.0101);
  }
}

MetricSpec OpenAuc() {
  MetricSpec metric;
  metric.mutable_openauc();
  return metric;
}

TEST(FindPublished, ByTaskMethodMetricAndGroup) {
  const PublishedTable table = Table("openauc_table_2");
  const MetricSpec metric = OpenAuc();
  std::optional<PublishedPlace> place =
      FindPublished(table, {"cifar10", "openauc_supplement+vaze600", &metric, "pool", 6, 4});
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->cell->value(), 89.2);
  EXPECT_TRUE(place->is_same_method);
  EXPECT_TRUE(place->is_same_metric);
  EXPECT_EQ(SourceText(table), "Wang et al. 2022 (OpenAUC), Table 2");
  EXPECT_EQ(place->row->label(), "Ours");
  EXPECT_EQ(place->column->label(), "CIFAR10");
  EXPECT_FALSE(FindPublished(table, {"cifar100", "openauc_supplement", &metric, "pool", 6, 4}).has_value());
  EXPECT_FALSE(FindPublished(table, {"cifar10", "mcp", &metric, "pool", 6, 4}).has_value());
  EXPECT_FALSE(FindPublished(table, {"cifar10", "openauc_supplement", &metric, "near", 6, 4}).has_value());
  MetricSpec other;
  other.mutable_auroc();
  EXPECT_FALSE(FindPublished(table, {"cifar10", "openauc_supplement", &other, "pool", 6, 4}).has_value());
}

TEST(FindPublished, NamesOtherRecipesAndConventions) {
  MetricSpec metric = OpenAuc();
  metric.mutable_openauc()->set_mask(OpenAucMetricSpec::EPSILON_FLOAT);
  const PublishedTable table = Table("openauc_table_2");
  const std::optional<PublishedPlace> place =
      FindPublished(table, {"mnist", "ce_plus+crop_flip (tuned)", &metric, "pool", 6, 4});
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->cell->value(), 99.1);
  EXPECT_FALSE(place->is_same_method);
  EXPECT_FALSE(place->is_same_metric);
}

// 7 and 2 known classes with 8 unknown ones each.
TEST(FindPublished, ByTheLevelOfOpenness) {
  const PublishedTable table = Table("imbalance_table_1");
  MetricSpec metric;
  metric.mutable_inner()->set_denominator(BalancedScoreSpec::ALL);
  const std::string method = "overlay_softmax+faithful";
  EXPECT_EQ(FindPublished(table, {"imbalance_table_1", method, &metric, "pool", 7, 8})->cell->value(), 0.525);
  EXPECT_EQ(FindPublished(table, {"imbalance_table_1", method, &metric, "pool", 2, 8})->cell->value(), 0.821);
  EXPECT_FALSE(FindPublished(table, {"imbalance_table_1", method, &metric, "pool", 3, 8}).has_value());
}

// Ensemble's numbers on Food-32 are not in the text.
TEST(FindPublished, AMissingNumberIsMissing) {
  const PublishedTable table = Table("unified_benchmark_table_7");
  MetricSpec metric;
  metric.mutable_auroc()->set_tied(TiedPairRule::NOTHING);
  const auto of = [&](const std::string& group) {
    return FindPublished(table, {"imagenet_200_unified", "deep_ensemble+unified_imagenet", &metric, group, 200, 200});
  };
  EXPECT_FALSE(of("food101").has_value());
  ASSERT_TRUE(of("near").has_value());
  EXPECT_EQ(of("near")->cell->value(), 79.14);
}

absl::Status ReadText(const std::string& rows, const std::string& name = "t") {
  const std::string path = JoinPath(::testing::TempDir(), "table.textproto");
  std::ofstream(path) << "name: '" << name
                      << "' paper: 'p' table: '1'\n"
                         "column { label: 'a' task: 'a' metric { auroc {} } }\n"
                         "column { label: 'b' task: 'b' metric { auroc {} } }\n"
                      << rows;
  return ReadPublished(path).status();
}

TEST(ReadPublished, ErrorsNameThePositionInTheTable) {
  EXPECT_TRUE(ReadText("row { label: 'x' method: 'm' cell {} cell { value: 1 } }").ok());
  EXPECT_THAT(ReadText("row { label: 'x' cell { value: 1 } }").message(),
              HasSubstr("table.textproto:4: row[0]: has 1 cells for the table's 2 columns"));
  EXPECT_THAT(ReadText("row { label: 'x' cell {} cell { std: 1 } }").message(),
              HasSubstr(":4: row[0].cell[1]: has no value"));
  EXPECT_THAT(ReadText("row { label: 'x' method: 'm' cell {} cell {} }\nrow { label: 'y' method: 'm' cell {} cell {} }")
                  .message(),
              HasSubstr(":5: row[1].method: m is in two rows"));
  EXPECT_THAT(ReadText("").message(), HasSubstr("row"));
  EXPECT_THAT(ReadText("row { label: 'x' method: 'm' cell {} cell {} }", "../x").message(),
              HasSubstr("table.textproto:1: name: '../x' is not a valid name"));
}

}  // namespace
}  // namespace openset
