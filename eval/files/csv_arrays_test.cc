#include "eval/files/csv_arrays.h"

#include <limits>

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(ParseCsvArrays, Columns) {
  ASSERT_OK_AND_ASSIGN(const CsvArrays table,
                       ParseCsvArrays("id,label,logit_0,logit_1,prediction,unknown_score,group,num_classes\n"
                                      "x,0,1.5,-inf,0,-1e300,,2\n"
                                      "y,-1,2,3,1,inf,near,2\n"
                                      "z,-1,0,0.5,1,0.1,far,2\n"));
  EXPECT_THAT(table.columns,
              ElementsAre("id", "label", "logit_0", "logit_1", "prediction", "unknown_score", "group", "num_classes"));
  EXPECT_THAT(table.class_names, IsEmpty());
  const NpzArrays* const arrays = &table.arrays;
  EXPECT_EQ(arrays->size(), 7);  // id is ignored
  const float minus_infinity = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(arrays->at("logits").shape, ElementsAre(3, 2));
  EXPECT_THAT(*ToFloat(arrays->at("logits")), ElementsAre(1.5f, minus_infinity, 2, 3, 0, 0.5f));
  EXPECT_THAT(*ToInt64(arrays->at("label")), ElementsAre(0, -1, -1));
  EXPECT_THAT(*ToInt64(arrays->at("prediction")), ElementsAre(0, 1, 1));
  EXPECT_THAT(*ToDouble(arrays->at("unknown_score")),
              ElementsAre(-1e300, std::numeric_limits<double>::infinity(), 0.1));
  EXPECT_THAT(*ToInt64(arrays->at("group")), ElementsAre(-1, 0, 1));
  EXPECT_THAT(*ToTexts(arrays->at("group_names")), ElementsAre("near", "far"));
  EXPECT_THAT(*ToInt64(arrays->at("num_classes")), ElementsAre(2));
}

// df.to_csv("f.csv"): an index without a name, columns in any case, labels with missing values as floats.
TEST(ParseCsvArrays, AsPandasWritesThem) {
  ASSERT_OK_AND_ASSIGN(const CsvArrays table, ParseCsvArrays(",Unnamed: 0,Label,Unknown Score,PREDICTION,num-classes\n"
                                                             "0,7,3.0,0.5,1.0,4.0\n"
                                                             "1,8,,-2.5,0.0,4.0\n"
                                                             "2,9,Unknown,1e-3,2.0,4.0\n"
                                                             "3,9,nan,1,2.0,4\n"
                                                             "4,9,<NA>,2,2.0,4\n"
                                                             "5,9,-1.0,3,2.0,4\n"));
  EXPECT_THAT(*ToInt64(table.arrays.at("label")), ElementsAre(3, -1, -1, -1, -1, -1));
  EXPECT_THAT(*ToInt64(table.arrays.at("prediction")), ElementsAre(1, 0, 2, 2, 2, 2));
  EXPECT_THAT(*ToDouble(table.arrays.at("unknown_score")), ElementsAre(0.5, -2.5, 1e-3, 1, 2, 3));
  EXPECT_THAT(*ToInt64(table.arrays.at("num_classes")), ElementsAre(4));
  EXPECT_THAT(table.columns, ElementsAre("", "Unnamed: 0", "Label", "Unknown Score", "PREDICTION", "num-classes"));
}

TEST(ParseCsvArrays, Clusters) {
  ASSERT_OK_AND_ASSIGN(const auto table, ParseCsvArrays("label,unknown_score,Cluster\n0,1, p7 \n-1,2,p7\n0,3,9\n"));
  EXPECT_THAT(*ToTexts(table.arrays.at("cluster")), ElementsAre("p7", "p7", "9"));
  EXPECT_THAT(ParseCsvArrays("label,unknown_score,cluster\n0,1,\n").status().message(),
              HasSubstr("line 2: column 'cluster': is blank"));
}

TEST(ParseCsvArrays, NamesOfClasses) {
  ASSERT_OK_AND_ASSIGN(
      const CsvArrays table,
      ParseCsvArrays("label;prediction;unknown_score\n dog;cat;1\n;cat;2\ncat;emu;3\nunknown;dog;4\n-1;dog;5\n"));
  EXPECT_THAT(table.class_names, ElementsAre("dog", "cat", "emu"));
  EXPECT_THAT(*ToInt64(table.arrays.at("label")), ElementsAre(0, -1, 1, -1, -1));
  EXPECT_THAT(*ToInt64(table.arrays.at("prediction")), ElementsAre(1, 1, 2, 0, 0));
}

// The names of logit columns are names of classes, with their case. One alone is a column like any other.
TEST(ParseCsvArrays, LogitsOfNamedClasses) {
  ASSERT_OK_AND_ASSIGN(const CsvArrays table, ParseCsvArrays("label\tLogit_dog\tlogit_cat\ncat\t1\t2\n\t3\t4\n"));
  EXPECT_THAT(table.class_names, ElementsAre("dog", "cat"));
  EXPECT_THAT(*ToInt64(table.arrays.at("label")), ElementsAre(1, -1));
  EXPECT_THAT(*ToFloat(table.arrays.at("logits")), ElementsAre(1, 2, 3, 4));
  // Unknown samples only: no label names a class, but the names in the logits' columns are still the classes' names.
  EXPECT_THAT(ParseCsvArrays("label,logit_dog,logit_cat\n-1,1,2\n")->class_names, ElementsAre("dog", "cat"));
  EXPECT_EQ(ParseCsvArrays("label,logit_max\n0,x\n")->arrays.count("logits"), 0);
  EXPECT_THAT(ParseCsvArrays("label,logit_Dog,logit_dog,logit_a b,Logit_a_b\ndog,1,2,3,4\n")->class_names,
              ElementsAre("Dog", "dog", "a b", "a_b"));
}

TEST(ParseCsvArrays, LinesOfRows) {
  EXPECT_THAT(ParseCsvArrays("label\n0\n1\n")->lines, IsEmpty());
  EXPECT_THAT(ParseCsvArrays("label,note\n0,a\n0,\"b\nc\"\n1,d\n1,e\n")->lines, ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(ParseCsvArrays("sep=,\nlabel\n0\n1\n")->lines, ElementsAre(3, 4));
}

TEST(LooksUnknown, KnowsTheUsualNames) {
  for (const char* name : {"UNK", "<unk>", "OOD", "Out-of-Distribution", "novel", "None", "N/A", "null", " Unseen "}) {
    EXPECT_TRUE(LooksUnknown(name)) << name;
  }
  for (const char* name : {"", "cat", "other", "open door", "none of them", "<>"})
    EXPECT_FALSE(LooksUnknown(name)) << name;
}

TEST(ParseCsvArrays, Refuses) {
  const auto error = [](absl::string_view text) { return std::string(ParseCsvArrays(text).status().message()); };
  EXPECT_EQ(error("label\n"), "there are no samples: no line follows the names of the columns");
  EXPECT_EQ(error(""),
            "there are no samples: the first line names the columns ('label,prediction,unknown_score'), and each line "
            "below is a sample");
  EXPECT_EQ(error("label\n1\nx\n"), "line 3: column 'label': 'x' is not a whole number");
  EXPECT_EQ(error("label\n1.5\n"), "line 2: column 'label': '1.5' is not a whole number");
  EXPECT_EQ(error("label\ninf\n"), "line 2: column 'label': 'inf' is not a whole number");
  EXPECT_EQ(error("label\n1e300\n"), "line 2: column 'label': '1e300' is not a whole number");
  EXPECT_EQ(error("label\ncat\n3\n"),
            "line 3: column 'label': '3' is a number, and cells before it are names of classes");
  EXPECT_EQ(
      error("label,prediction\n0,\n"),
      "line 2: column 'prediction': '' is not a prediction: predictions are known classes, also for unknown samples");
  EXPECT_EQ(
      error("label,Pred\n0,unknown\n"),
      "line 2: column 'Pred': 'unknown' is not a prediction: predictions are known classes, also for unknown samples");
  EXPECT_EQ(error("label;unknown_score\n1;0,5\n"),
            "line 2: column 'unknown_score': '0,5' is not a number; decimals are written with a point");
  EXPECT_EQ(error("label,logit_0,logit_1\ncat,1,2\n"),
            "labels are names of classes ('cat'), and logit_0, logit_1, ... don't say whose they are: call these "
            "columns logit_NAME, or number the labels as the logits are");
  EXPECT_EQ(error("label,logit_dog,logit_cat\nemu,1,2\n"),
            "line 2: column 'label': unknown class 'emu' (known: dog, cat), by the logits");
  EXPECT_EQ(error("label,unknown_score\nTrue,1\nFalse,2\n"),
            "column 'label' holds True and False; it must hold the classes of known samples, and -1, nothing or "
            "'unknown' for unknown ones");
  EXPECT_EQ(error("label,unknown_score\n1,\n"), "line 2: column 'unknown_score': '' is not a number");
  EXPECT_EQ(error("Label,label\n1,1\n"), "line 1: there are two columns 'label'");
  EXPECT_EQ(error("logit_0,logit_2\n1,1\n"),
            "line 1: column 'logit_2' is out of order; logit_0, logit_1, ... must follow each other");
  EXPECT_EQ(error("num_classes\n1\n2\n"), "column 'num_classes' holds different numbers");
  EXPECT_EQ(
      error("label,logit_0,logit_max\n0,1,x\n"),
      "line 1: column 'logit_max' has no number, and other logits have: number it too (num_classes says which are "
      "known classes), or give it a name that doesn't begin with logit_");
  EXPECT_EQ(error("label,logit_max,logit_0\n0,1,x\n"), error("label,logit_0,logit_max\n0,1,x\n"));
  EXPECT_EQ(
      error("label,logit_dog,logit_cat\n0,1,2\n"),
      "labels are numbers, and the columns of logits name classes ('logit_dog'): call them logit_0, logit_1, ... in "
      "the order of the labels, or write the labels as names; give other columns names that don't begin with "
      "logit_");
  EXPECT_EQ(error("label,logit_dog,logit_dog\ndog,1,2\n"), "line 1: there are two columns 'logit_dog'");
  EXPECT_EQ(error("label,Pred,prediction\n0,0,0\n"),
            "line 1: 'pred' and 'prediction' are two columns of predictions: keep one");
  EXPECT_EQ(error("label\n3\nOOD\n"),
            "line 3: column 'label': 'OOD' is not a whole number; if 'OOD' stands for unknown samples, write -1, "
            "'unknown' or nothing");
  EXPECT_EQ(error("label\nOOD\n3\n"),
            "line 3: column 'label': '3' is a number, and cells before it are names of classes; if 'OOD' stands for "
            "unknown samples, write -1, 'unknown' or nothing");
}

}  // namespace
}  // namespace openset
