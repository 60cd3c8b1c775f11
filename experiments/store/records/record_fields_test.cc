#include "experiments/store/records/record_fields.h"

#include "core/testing/status_matchers.h"
#include "experiments/store/testing/records.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TrialRecord Example() {
  TrialRecord record = TestRecord(TestKey("abcd"), "openauc", 3, 0.91);
  AxisValue* axis = record.mutable_trial()->add_axis();
  axis->set_name("lambda");
  axis->set_value("0.10");
  MetricRecord* undefined = record.add_metric();
  undefined->set_name("aurc");
  undefined->set_absent_reason("no errors");
  MetricRecord* of_set = record.add_metric();
  of_set->set_name("auroc");
  of_set->set_value(0.5);
  of_set->mutable_group()->set_kind(MetricGroup::NEAR_MEAN);
  return record;
}

TEST(RecordFields, HaveNames) {
  const RecordFields fields = FieldsOf(Example());
  std::vector<std::string> names;
  for (const auto& [name, value] : fields) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("trial", "method", "task", "split", "seed", "lambda", "openauc", "mean_of_near.auroc",
                                 "unknown_classes", "openness", "device", "host", "commit"));
  EXPECT_EQ(*Find(fields, "lambda"), "0.10");
  EXPECT_EQ(Find(fields, "aurc"), nullptr);
  TrialRecord rung = Example();
  rung.mutable_trial()->mutable_method()->mutable_training()->set_stop_after_epochs(3);
  EXPECT_EQ(*Find(FieldsOf(rung), "stop_after_epochs"), "3");
}

TEST(RecordQuery, ComparesNumbersByValueAndTextsAsTheyAre) {
  const RecordFields fields = FieldsOf(Example());
  for (const auto& [text, matches] :
       std::vector<std::pair<const char*, bool>>{{"", true},
                                                 {"method=openauc and openauc>0.9", true},
                                                 {"method = openauc and openauc > 0.95", false},
                                                 {"method=mcp or seed=3", true},
                                                 {"method=mcp and seed=3 or seed=4", false},
                                                 {"seed=4 or method=openauc and seed>=3", true},
                                                 {"lambda=0.1", true},
                                                 {"lambda!=0.1", false},
                                                 {"lambda<0.11", true},
                                                 {"seed<=3", true},
                                                 {"seed<3", false},
                                                 {"task~as", true},
                                                 {"task='task'", true},
                                                 {"task=\"and or\"", false},
                                                 {"trial=abcd", true},
                                                 {"aurc<1", false},
                                                 {"aurc!=1", false},
                                                 {"mean_of_near.auroc=0.5", true},
                                                 {"method<n", false},
                                                 {"method<p", true},
                                                 {"method>1", false},
                                                 {"openauc>=nan", false},
                                                 {"openauc<high", false},
                                                 {"method=openaucandseed=3", false}}) {
    const absl::StatusOr<RecordQuery> query = RecordQuery::Parse(text);
    if (std::string(text) == "method=openaucandseed=3") {
      EXPECT_THAT(query.status(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is not a comparison")));
      continue;
    }
    ASSERT_THAT(query, IsOk()) << text;
    EXPECT_EQ(query->Matches(fields), matches) << text;
  }
}

TEST(RecordQuery, NamesWhatItCannotParse) {
  for (const char* text : {"openauc", "=1", "method=", "a=1 and", "a=1 or  or b=2", "a!1"}) {
    EXPECT_THAT(RecordQuery::Parse(text).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is not a comparison")))
        << text;
  }
  EXPECT_THAT(CheckNames({"openauk"}, {FieldsOf(Example())}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("did you mean 'openauc'?")));
  EXPECT_THAT(CheckNames({"seed", "openauc"}, {FieldsOf(Example())}), IsOk());
  EXPECT_THAT(CheckNames({"anything"}, {}), IsOk());
}

TEST(RecordQuery, AcceptsSynonymsOfNames) {
  TrialRecord record = Example();
  record.mutable_trial()->mutable_method()->set_name("mcp");
  const std::vector<RecordFields> records = {FieldsOf(record)};
  for (const auto& [text, matches] : std::vector<std::pair<const char*, bool>>{
           {"method=MSP", true}, {"method!=MSP", false}, {"Open-AUC>0.9", true}, {"method=softmax", false}}) {
    RecordQuery query = *RecordQuery::Parse(text);
    ASSERT_THAT(query.Resolve(records), IsOk()) << text;
    EXPECT_EQ(query.Matches(records[0]), matches) << text;
  }
}

TEST(RecordQuery, IsCheckedAgainstTheRecords) {
  const std::vector<RecordFields> records = {FieldsOf(Example())};
  for (const char* text : {"openauc>0.5 and method=openauc", "method>o", "openauc=high", "method!=1", ""})
    EXPECT_THAT(RecordQuery::Parse(text)->Resolve(records), IsOk()) << text;
  for (const auto& [text, problem] : std::vector<std::pair<const char*, const char*>>{
           {"openauk>0.5", "did you mean 'openauc'?"},
           {"method=mcp or openauc>high", "'openauc>high': openauc is a number, but 'high' is not"},
           {"openauc<=nan", "'openauc<=nan': openauc is a number, but 'nan' is not"},
           {"method<3", "'method<3': method is a text; compare it by =, != or ~"}}) {
    RecordQuery query = *RecordQuery::Parse(text);
    EXPECT_THAT(query.Resolve(records), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(problem))) << text;
    EXPECT_THAT(query.Resolve({}), IsOk()) << text;
  }
}

TEST(RecordFields, NumbersComeBeforeTextsAndAbsentOnesLast) {
  const std::string two = "2", ten = "10", text = "a";
  EXPECT_TRUE(Before(&two, &ten));
  EXPECT_FALSE(Before(&ten, &two));
  EXPECT_TRUE(Before(&ten, &text));
  EXPECT_TRUE(Before(&text, nullptr));
  EXPECT_FALSE(Before(nullptr, &text));
}

}  // namespace
}  // namespace openset
