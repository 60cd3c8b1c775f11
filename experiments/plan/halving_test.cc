#include "experiments/plan/halving.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "experiments/plan/cost.h"
#include "experiments/plan/planner.h"
#include "experiments/plan/search.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/testing/spec_sandbox.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Seven candidates, after 1, 3 and 9 epochs: all seven, three of them, two of these.
constexpr char kHalved[] = R"(
validation_per_class: 5
override { training { epochs: 9 } }
search {
  method: "plain"
  axis { path: "training.optimizer.learning_rate" value: ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"] }
  criterion { aurc {} }
  halving { rungs: [1, 3, 9] keep: 0.4 }
}
)";

class HalvingTest : public ::testing::Test {
 protected:
  HalvingTest() : store_(absl::StrCat(sandbox_.folder(), "/store")) {
    sandbox_.Write("data/tasks/task.textproto",
                   "name: 'task' data_set: 'digits' external { data_set: 'digits' class_id: 4 } "
                   "split { known: [0, 1, 2] unknown: 3 }");
  }

  absl::StatusOr<TrialSearch> Search(const std::string& more) {
    absl::StatusOr<Experiment> experiment = sandbox_.Load(absl::StrCat(kMinimalSpec, more));
    if (!experiment.ok()) return experiment.status();
    trials_ = *Expand(*experiment);
    absl::StatusOr<std::vector<TrialSearch>> searches = ExpandSearches(*experiment, trials_);
    if (!searches.ok()) return searches.status();
    return (*searches)[0];
  }

  // Stores a record with the candidate's AURC at the rung; smaller is better.
  void Record(const TrialSearch& search, size_t candidate, size_t rung, std::optional<double> value) {
    TrialRecord record;
    record.set_schema_version(kSchemaVersion);
    record.set_trial_id(TrialId(AtRung(search, candidate, rung)));
    record.mutable_trial();
    MetricRecord* metric = record.add_metric();
    metric->set_name("aurc");
    if (value.has_value()) metric->set_value(*value);
    if (!value.has_value()) metric->set_absent_reason("no known samples");
    ASSERT_TRUE(store_.CommitRecord(record).ok());
  }

  const SpecSandbox sandbox_;
  const Store store_;
  std::vector<Trial> trials_;
};

TEST(Halving, KeepsAShareRoundedUp) {
  EXPECT_EQ(KeptOf(27, 0.34), 10);
  EXPECT_EQ(KeptOf(10, 0.34), 4);
  EXPECT_EQ(KeptOf(30, 0.1), 3);
  EXPECT_EQ(KeptOf(4, 0.01), 1);
  EXPECT_EQ(KeptOf(1, 0.5), 1);
}

TEST_F(HalvingTest, ARungIsTheTrainingStopped) {
  const absl::StatusOr<TrialSearch> search = Search(kHalved);
  ASSERT_THAT(search, IsOk());
  EXPECT_THAT(search->rungs, ElementsAre(1, 3, 9));
  EXPECT_THAT(RungSizes(*search), ElementsAre(7, 3, 2));
  EXPECT_EQ(AtRung(*search, 4, 1).method().training().stop_after_epochs(), 3);
  EXPECT_EQ(AtRung(*search, 4, 1).method().training().epochs(), 9);
  // The last one is the complete training, which trials without a search share.
  EXPECT_EQ(TrialId(AtRung(*search, 4, 2)), TrialId(search->candidates[4]));
  EXPECT_EQ(MakeTrainAction(AtRung(*search, 0, 2)).SerializeAsString(),
            MakeTrainAction(trials_[0]).SerializeAsString());
}

TEST_F(HalvingTest, OnlyRecordsDecideWhichCandidatesContinue) {
  const absl::StatusOr<TrialSearch> search = Search(kHalved);
  ASSERT_THAT(search, IsOk());
  const std::vector<std::optional<double>> first = {0.5, 0.1, std::nullopt, 0.3, 0.2, 0.3, 0.9};
  for (size_t c = 0; c < first.size(); ++c) {
    absl::StatusOr<Rungs> rungs = ReadRungs(*search, store_);
    ASSERT_THAT(rungs, IsOk());
    EXPECT_EQ(rungs->reached.size(), 1);
    Record(*search, c, 0, first[c]);
  }
  absl::StatusOr<Rungs> rungs = ReadRungs(*search, store_);
  ASSERT_THAT(rungs, IsOk());
  ASSERT_EQ(rungs->reached.size(), 2);
  EXPECT_THAT(rungs->reached[1], ElementsAre(1, 3, 4));  // of the two with 0.3 the first of the grid
  EXPECT_FALSE(rungs->complete);

  Record(*search, 1, 1, 0.4);
  Record(*search, 3, 1, std::nullopt);
  Record(*search, 4, 1, 0.3);
  rungs = ReadRungs(*search, store_);
  EXPECT_THAT(rungs->reached[2], ElementsAre(1, 4));
  Record(*search, 4, 2, 0.2);
  EXPECT_FALSE(ReadRungs(*search, store_)->complete);
  Record(*search, 1, 2, 0.1);
  rungs = ReadRungs(*search, store_);
  EXPECT_TRUE(rungs->complete);
  EXPECT_EQ(rungs->log.chosen(), 1);
  EXPECT_EQ(rungs->log.candidate(0).rung_size(), 1);
  EXPECT_EQ(rungs->log.candidate(0).value(), 0.5);
  EXPECT_FALSE(rungs->log.candidate(0).rung(0).kept());
  const SearchCandidate& third = rungs->log.candidate(3);
  ASSERT_EQ(third.rung_size(), 2);
  EXPECT_EQ(third.rung(0).epochs(), 1);
  EXPECT_EQ(third.rung(0).value(), 0.3);
  EXPECT_TRUE(third.rung(0).kept());
  EXPECT_FALSE(third.rung(1).has_value());
  EXPECT_FALSE(third.has_value());
  EXPECT_EQ(third.trial_id(), TrialId(AtRung(*search, 3, 1)));

  const absl::StatusOr<std::optional<Trial>> tuned = TunedTrial(trials_[0], *search, store_);
  ASSERT_THAT(tuned, IsOk());
  ASSERT_TRUE(tuned->has_value());
  EXPECT_EQ((*tuned)->method().training().optimizer().learning_rate(), 0.2);
  EXPECT_EQ((*tuned)->method().training().stop_after_epochs(), 0);
  EXPECT_EQ((*tuned)->search()->candidate(6).axis(0).value(), "0.7");
}

TEST_F(HalvingTest, ThePlanGrowsByARungAtATimeAndEachGoesOnFromTheOneBefore) {
  const absl::StatusOr<TrialSearch> search = Search(kHalved);
  ASSERT_THAT(search, IsOk());
  Planner planner(store_, [](const Selection&) { return 1; });
  planner.AddTrial(trials_[0]);
  absl::StatusOr<ActionId> choice = planner.AddSearch(*search);
  ASSERT_THAT(choice, IsOk());
  planner.FindNeeded();
  const Plan& plan = planner.plan();
  EXPECT_EQ(plan.trials.size(), 1 + 7);
  EXPECT_THAT(planner.Choose(*choice), StatusIs(absl::StatusCode::kNotFound, HasSubstr("plain on task")));

  const auto train_of = [&plan](int trial) -> const Action& {
    return plan[plan[plan[plan.evaluations[trial]].inputs[0]].inputs[0]];
  };
  EXPECT_EQ(train_of(0).work, 3 * 9);
  EXPECT_EQ(train_of(1).work, 3 * 1);
  // The cost of the plan in addition to that of its current actions.
  const auto to_come = [&plan] {
    int64_t passes = CostOf(plan, Throughputs(), {}, /*needed_only=*/false).passes;
    for (const Action& action : plan.actions) passes -= action.work;
    return passes;
  };
  EXPECT_EQ(to_come(), 3 * (3 * (3 - 1) + 2 * (9 - 3)));
  for (size_t c = 0; c < 7; ++c) Record(*search, c, 0, 0.1 * static_cast<double>(c));
  absl::StatusOr<std::vector<ActionId>> added = planner.Choose(*choice);
  ASSERT_THAT(added, IsOk());
  EXPECT_EQ(plan.trials.size(), 1 + 7 + 3);
  EXPECT_TRUE(plan[*choice].is_done());
  choice = added->back();
  ASSERT_EQ(plan[*choice].kind, ActionKind::kChoose);
  for (int t = 8; t < 11; ++t) {
    const Action& train = train_of(t);
    ASSERT_NE(train.continued, kNoAction);
    EXPECT_EQ(plan[train.continued].key, train_of(t - 7).key);
    EXPECT_THAT(train.inputs, ElementsAre(train.continued));
    EXPECT_EQ(train.work, 3 * (3 - 1));
  }
  EXPECT_EQ(to_come(), 3 * 2 * (9 - 3));
  for (size_t c = 0; c < 3; ++c) Record(*search, c, 1, 0.5 - 0.1 * static_cast<double>(c));
  added = planner.Choose(*choice);
  ASSERT_THAT(added, IsOk());
  EXPECT_EQ(plan.trials.size(), 1 + 7 + 3 + 2);
  EXPECT_EQ(train_of(11).work, 3 * (9 - 3));
  EXPECT_EQ(to_come(), 0);
  EXPECT_EQ(train_of(11).continued, plan[plan[plan.evaluations[9]].inputs[0]].inputs[0]);
  choice = added->back();
  for (const size_t c : {1, 2}) Record(*search, c, 2, 0.1);
  added = planner.Choose(*choice);
  ASSERT_THAT(added, IsOk());
  ASSERT_EQ(plan.searches[0].tuned, 13);
  EXPECT_EQ(plan.trials[13].search()->chosen(), 1);

  // A new planner makes the same plan from the records.
  Planner again(store_, [](const Selection&) { return 1; });
  again.AddTrial(trials_[0]);
  choice = again.AddSearch(*search);
  ASSERT_THAT(choice, IsOk());
  EXPECT_EQ(again.plan().trials.size(), 13);
  EXPECT_EQ(again.plan().searches[0].rung, 2);
  again.FindNeeded();
  ASSERT_THAT(again.Choose(*choice), IsOk());
  EXPECT_EQ(again.plan().trial_id(13), plan.trial_id(13));
}

TEST_F(HalvingTest, ErrorsSayWhatIsWrong) {
  const auto error = [&](const std::string& halving,
                         const std::string& axis = "axis { path: 'training.batch_size' value: ['4', '8'] }") {
    return std::string(Search(absl::StrCat("validation_per_class: 5 search { method: 'plain' criterion { aurc {} } ",
                                           axis, " halving { ", halving, " } }"))
                           .status()
                           .message());
  };
  EXPECT_EQ(error("rungs: [1, 2]"), "");
  EXPECT_THAT(error("rungs: [2, 1]"), HasSubstr("search[0].halving.rungs[1]: must be more than the rung before"));
  EXPECT_THAT(error("rungs: [1, 3]"), HasSubstr("the last must be the epochs of the whole training; plain takes 2"));
  EXPECT_THAT(error("rungs: [1, 2]", "axis { path: 'training.epochs' value: ['2', '4'] }"), HasSubstr("plain takes 4"));
  EXPECT_THAT(error("keep: 0.5"), HasSubstr("rungs"));
  EXPECT_THAT(error("rungs: 2 keep: 1"), HasSubstr("search[0].halving.keep: must be below 1"));
}

}  // namespace
}  // namespace openset
