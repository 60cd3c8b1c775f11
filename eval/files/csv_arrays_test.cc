#include "eval/files/csv_arrays.h"

#include <cmath>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;

TEST(ParseCsvArrays, Columns) {
  const absl::StatusOr<NpzArrays> arrays = ParseCsvArrays(
      "id,label,logit_0,logit_1,prediction,unknown_score,group,num_classes\n"
      "x,0,1.5,-inf,0,-1e300,,2\n"
      "y,-1,2,3,1,inf,near,2\n"
      "z,-1,0,0.5,1,0.1,far,2\n");
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  EXPECT_EQ(arrays->size(), 7);  // id is none
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

TEST(ParseCsvArrays, Refuses) {
  const auto error = [](absl::string_view text) { return std::string(ParseCsvArrays(text).status().message()); };
  EXPECT_EQ(error("label\n"), "there are no samples");
  EXPECT_EQ(error(""), "there are no samples");
  EXPECT_EQ(error("label\n1\nx\n"), "line 3: column 'label': 'x' is not a whole number");
  EXPECT_EQ(error("label\n1.0\n"), "line 2: column 'label': '1.0' is not a whole number");
  EXPECT_EQ(error("label,unknown_score\n1,\n"), "line 2: column 'unknown_score': '' is not a number");
  EXPECT_EQ(error("label,label\n1,1\n"), "line 1: there are two columns 'label'");
  EXPECT_EQ(error("logit_0,logit_2\n1,1\n"),
            "line 1: column 'logit_2' is out of order; logit_0, logit_1, ... must follow each other");
  EXPECT_EQ(error("num_classes\n1\n2\n"), "column 'num_classes' holds different numbers");
}

}  // namespace
}  // namespace openset
