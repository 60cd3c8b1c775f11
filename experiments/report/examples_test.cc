#include "experiments/report/examples.h"

#include "absl/strings/str_cat.h"
#include "core/files/runfiles.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/trial.pb.h"

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

// Older records also list samples on the right side of the threshold.
TEST(MistakesOf, AreOnTheWrongSideOfTheThreshold) {
  const TrialRecord record = Parsed<TrialRecord>(R"(details {
      decisions { threshold: 0.5 known { samples: 9 right: 6 rejected: 3 right_rejected: 1 }
                  unknown { samples: 5 rejected: 4 } }
      mistake { kind: KNOWN_TAKEN_FOR_UNKNOWN row: 0 unknown_score: 0.6 predicted_label: 0 }
      mistake { kind: KNOWN_TAKEN_FOR_UNKNOWN row: 1 unknown_score: 0.5 predicted_label: 0 }
      mistake { kind: KNOWN_TAKEN_FOR_UNKNOWN row: 2 unknown_score: 0.1 }
      mistake { kind: UNKNOWN_TAKEN_FOR_KNOWN row: 3 unknown_score: 0.5 predicted_label: 0 }
      mistake { kind: UNKNOWN_TAKEN_FOR_KNOWN row: 4 unknown_score: 0.6 predicted_label: 0 }
      mistake { kind: WRONG_CLASS row: 5 unknown_score: 0.2 predicted_label: 0 }
      mistake { kind: WRONG_CLASS row: 6 unknown_score: 0.7 predicted_label: 0 } })");
  std::vector<int64_t> rows;
  for (const Mistake& mistake : MistakesOf(record)) rows.push_back(mistake.row());
  EXPECT_THAT(rows, ElementsAre(0, 2, 3, 5));              // 2 was predicted to be unknown
  EXPECT_THAT(NumMistakes(record), ElementsAre(3, 1, 1));  // the last: 6 are accepted, 5 of them right
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
  EXPECT_EQ(json[0]["num_mistakes"].dump(), "[2,1,0]");
  EXPECT_EQ(json[0]["mistakes"].dump(), R"([[2,"class 7","","dog",-2.0],[1,"cat","","unknown",2.0]])");
  context.samples["id"] = {"/data/7/3.png"};  // of the first; the second is not known
  EXPECT_EQ(ExamplesJson(examples, context)[0]["mistakes"].dump(),
            R"([[2,"class 7","","dog",-2.0,"/data/7/3.png"],[1,"cat","","unknown",2.0]])");
  EXPECT_EQ(json[0]["sheet"], "data:image/png;base64,cG5n");
  EXPECT_EQ(ExamplesJson(examples, context, 10).size(), 0);
}

// Generated images.
constexpr char kTrial[] = R"(data {
    test_known { data_set: "gaussian_noise" part: "test" class_id: 0 limit_per_class: 3 }
    test_unknown { name: "a" selection { data_set: "gaussian_noise" part: "test" class_id: 0 limit_per_class: 2 } } })";

absl::StatusOr<std::string> Sheet(const std::string& mistakes) {
  const TrialSpec trial = Parsed<TrialSpec>(kTrial);
  const TrialRecord record = Parsed<TrialRecord>("details { " + mistakes + " }");
  const Catalog catalog = Catalog::Open(RunfilesFolder().value() + "/openset/data/catalog").value();
  OpenParts parts;
  return MistakeSheet(trial, record, catalog, {}, &parts);
}

uint32_t BigEndian(const std::string& bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<uint8_t>(bytes[at + i]);
  return number;
}

TEST(MistakeSheet, HasARowForEachKind) {
  ASSERT_OK_AND_ASSIGN(const std::string png, Sheet("mistake { kind: KNOWN_TAKEN_FOR_UNKNOWN row: 2 } "
                                                    "mistake { kind: KNOWN_TAKEN_FOR_UNKNOWN row: 0 } "
                                                    "mistake { kind: UNKNOWN_TAKEN_FOR_KNOWN row: 4 }"));
  EXPECT_THAT(png, StartsWith("\x89PNG"));
  EXPECT_EQ(BigEndian(png, 16), 6 + 2 * (56 + 2) + 2);  // the width in the header: two tiles
  EXPECT_EQ(BigEndian(png, 20), 2 * (56 + 2) + 2);
}

TEST(MistakenSamples, AreNamedByPartAndPlace) {
  const TrialSpec trial = Parsed<TrialSpec>(kTrial);
  const TrialRecord record = Parsed<TrialRecord>(
      "details { mistake { kind: WRONG_CLASS row: 2 } mistake { kind: UNKNOWN_TAKEN_FOR_KNOWN row: 4 } }");
  const Catalog catalog = Catalog::Open(RunfilesFolder().value() + "/openset/data/catalog").value();
  OpenParts parts;
  EXPECT_THAT(*MistakenSamples(trial, record, catalog, {}, &parts),
              ElementsAre("gaussian_noise: test 2", "gaussian_noise: test 1"));
  EXPECT_EQ(TestSamples::Open(trial.data(), catalog, {}, &parts)->size(), 5);
}

TEST(MistakeSheet, IsEmptyWithoutMistakes) { EXPECT_EQ(Sheet("").value(), ""); }

TEST(MistakeSheet, ReportsAMissingSample) {
  for (const char* row : {"5", "-1", "1000000000", "-1000000000", "9223372036854775807", "-9223372036854775808"}) {
    const absl::Status status = Sheet(absl::StrCat("mistake { kind: WRONG_CLASS row: ", row, " }")).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << row;
    EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat("the test has no sample ", row)));
  }
}

}  // namespace
}  // namespace openset
