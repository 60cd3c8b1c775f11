#include "experiments/report/examples/example_data.h"

#include <cstdint>
#include <string>

#include "core/testing/parsed.h"
#include "experiments/spec/method.pb.h"
#include "experiments/store/details.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// Only classes of the trial are looked up, even if a record has others.
TEST(ExamplesJson, LabelsBeyondTheClassesAreUnknown) {
  const TrialSpec trial = Parsed<TrialSpec>("data { test_known { data_set: 'animals' class_id: [1, 0] } }");
  for (const int64_t label : {-1000000000, -1, 2, 1000000000}) {
    TrialRecord record;
    Mistake* mistake = record.mutable_details()->add_mistake();
    mistake->set_kind(Mistake::WRONG_CLASS);
    mistake->set_class_id(label);
    mistake->set_predicted_label(static_cast<int32_t>(label));
    const nlohmann::ordered_json json = ExamplesJson({{"m", &trial, &record}}, {});
    EXPECT_EQ(json[0]["mistakes"][0][3], "unknown") << label;
  }
}

TEST(ExamplesJson, NamesClassesAndHoldsTheTables) {
  const TrialSpec trial = Parsed<TrialSpec>(R"(task: "t" split: 1 seed: 2 method { name: "m" }
      data { test_known { data_set: "animals" class_id: [1, 0] }
             test_unknown { name: "unknown" selection { data_set: "digits" class_id: [7] } } })");
  const TrialRecord record = Parsed<TrialRecord>(R"(trial_id: "id" details {
      decisions { rule: "r" threshold: 0.5
        known { class_id: 1 samples: 4 right: 3 rejected: 2 right_rejected: 1 } known { class_id: 0 }
        unknown { class_id: 7 samples: 5 rejected: 4 } confusion { actual: -1 predicted: 0 samples: 1 } }
      mistake { kind: UNKNOWN_TAKEN_FOR_KNOWN row: 3 unknown_score: -2 class_id: 7 predicted_label: 0 }
      mistake { kind: KNOWN_TAKEN_FOR_UNKNOWN row: 1 unknown_score: 2 class_id: 0 } })");
  ExampleContext context;
  context.class_names["animals"] = {"cat", "dog"};
  context.sheets["id"] = "png";
  const std::vector<ExampleTrial> examples = {{"m", &trial, &record}};
  const nlohmann::ordered_json json = ExamplesJson(examples, context);
  ASSERT_EQ(json.size(), 1);
  EXPECT_EQ(json[0]["known"][0].dump(), R"(["dog",4,3,2,1])");
  EXPECT_EQ(json[0]["unknown"].dump(), R"([["class 7","",5,4]])");
  EXPECT_EQ(json[0]["confusion"].dump(), "[[-1,0,1]]");
  EXPECT_EQ(json[0]["mistakes"].dump(), R"([[2,"class 7","","dog",-2.0],[1,"cat","","unknown",2.0]])");
  EXPECT_EQ(json[0]["sheet"], "data:image/png;base64,cG5n");
  EXPECT_EQ(ExamplesJson(examples, context, 10).size(), 0);
}

}  // namespace
}  // namespace openset
