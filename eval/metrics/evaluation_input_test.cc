#include "eval/metrics/evaluation_input.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Data {
  std::vector<double> score = {0.1, std::numeric_limits<double>::infinity(), -0.5};
  std::vector<int32_t> prediction = {1, 0, 0};
  std::vector<int32_t> label = {1, -1, 1};
  std::vector<int32_t> group;
  std::vector<float> logits;
  int32_t num_classes = 2;
  int32_t num_outputs = 0;

  absl::StatusOr<EvaluationInput> Create() const {
    return EvaluationInput::Create({score, prediction, label, num_classes, group, logits, num_outputs});
  }
  std::string Error() const {
    const absl::Status status = Create().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }
};

TEST(EvaluationInput, CountsKnownAndUnknownSamplesAndGroups) {
  Data data;
  data.group = {-7, 2, 9};  // groups of known samples are not read
  const EvaluationInput input = data.Create().value();
  EXPECT_EQ(input.num_samples(), 3);
  EXPECT_EQ(input.num_known(), 2);
  EXPECT_EQ(input.num_unknown(), 1);
  EXPECT_EQ(input.num_groups(), 3);
  EXPECT_TRUE(input.IsCorrect(0));
  EXPECT_TRUE(input.IsUnknown(1));
  EXPECT_FALSE(input.IsCorrect(1));
  EXPECT_FALSE(input.IsCorrect(2));
}

// A prediction of "unknown" is wrong for the classifier, also for unknown samples.
TEST(EvaluationInput, TakesPredictionsOfTheUnknown) {
  Data data;
  data.prediction = {2, 2, 1};
  const EvaluationInput input = data.Create().value();
  EXPECT_FALSE(input.IsCorrect(0));
  EXPECT_FALSE(input.IsCorrect(1));
  EXPECT_TRUE(input.IsCorrect(2));
  data.prediction[1] = 3;
  EXPECT_THAT(data.Error(), HasSubstr("prediction is 3 in row 1; it must lie in 0 .. 1, or be 2 for unknown"));
}

TEST(EvaluationInput, PredictionsMayBeMissing) {
  Data data;
  data.prediction.clear();
  const EvaluationInput input = data.Create().value();
  EXPECT_FALSE(input.has_predictions());
  EXPECT_EQ(input.num_known(), 2);
  data.logits = {0, 1, 2, 3, 4, 5};
  data.num_outputs = 2;
  EXPECT_EQ(data.Error(), "there are logits, but no predictions");
}

TEST(EvaluationInput, NamesTheArrayAndTheRowThatIsWrong) {
  Data data;
  data.score[2] = std::nan("");
  EXPECT_EQ(data.Error(), "unknown_score is NaN in row 2");
  data = Data();
  data.label[1] = -2;
  EXPECT_THAT(data.Error(), HasSubstr("label is -2 in row 1"));
  data.label[1] = 2;
  EXPECT_THAT(data.Error(), HasSubstr("label is 2 in row 1; it must lie in 0 .. 1"));
  data = Data();
  data.prediction[0] = -1;
  EXPECT_THAT(data.Error(), HasSubstr("prediction is -1 in row 0"));
  data.prediction[0] = 3;
  EXPECT_THAT(data.Error(), HasSubstr("prediction is 3 in row 0"));
  data = Data();
  data.group = {0, -1, 0};
  EXPECT_THAT(data.Error(), HasSubstr("group is -1 for the unknown sample in row 1"));
  data.group = {0, 2147483647, 0};
  EXPECT_THAT(data.Error(), HasSubstr("group is 2147483647 for the unknown sample in row 1; it must lie in 0 .. "));
  data = Data();
  data.num_outputs = 2;
  data.logits = {0, 1, 2, 3, 4, kNan};
  EXPECT_EQ(data.Error(), "logits are nan in row 2, output 1");
  data.logits[2] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(data.Error(), "logits are inf in row 1, output 0");
  data.logits[2] = -std::numeric_limits<float>::infinity();
  data.logits[5] = 0;
  EXPECT_TRUE(data.Create().ok());
  data.logits[3] = data.logits[2];
  EXPECT_EQ(data.Error(), "all logits are -inf in row 1");
}

TEST(EvaluationInput, RefusesShapesThatDisagree) {
  EXPECT_EQ(EvaluationInput::Create({}).status().message(), "there are no samples");
  Data data;
  data.score.pop_back();
  EXPECT_EQ(data.Error(), "unknown_score has 2 samples, label has 3");
  data = Data();
  data.prediction.push_back(0);
  EXPECT_EQ(data.Error(), "prediction has 4 samples, label has 3");
  data = Data();
  data.group = {0};
  EXPECT_EQ(data.Error(), "group has 1 samples, label has 3");
  data = Data();
  data.num_classes = 0;
  EXPECT_THAT(data.Error(), HasSubstr("num_classes must be at least 1"));
  data = Data();
  data.logits = {1, 2, 3};
  data.num_outputs = 1;
  EXPECT_EQ(data.Error(), "logits have 1 outputs for 2 classes");
  data.num_outputs = 2;
  EXPECT_THAT(data.Error(), HasSubstr("logits have 3 values"));
}

}  // namespace
}  // namespace openset
