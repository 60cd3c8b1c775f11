#include "experiments/plan/search.h"

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "eval/scores/score.pb.h"
#include "experiments/plan/cost.h"
#include "experiments/plan/planner.h"
#include "experiments/spec/optimizer.pb.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/testing/spec_sandbox.h"

namespace openset {
namespace {

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
  EXPECT_EQ(CountSurvivors(27, 0.34), 10);
  EXPECT_EQ(CountSurvivors(10, 0.34), 4);
  EXPECT_EQ(CountSurvivors(30, 0.1), 3);
  EXPECT_EQ(CountSurvivors(4, 0.01), 1);
  EXPECT_EQ(CountSurvivors(1, 0.5), 1);
}

TEST_F(HalvingTest, ARungIsTheTrainingStopped) {
  ASSERT_OK_AND_ASSIGN(const TrialSearch search, Search(kHalved));
  EXPECT_THAT(search.rungs, ElementsAre(1, 3, 9));
  EXPECT_THAT(RungSizes(search), ElementsAre(7, 3, 2));
  EXPECT_EQ(AtRung(search, 4, 1).method().training().stop_after_epochs(), 3);
  EXPECT_EQ(AtRung(search, 4, 1).method().training().epochs(), 9);
  // The last one is the complete training, which trials without a search share.
  EXPECT_EQ(TrialId(AtRung(search, 4, 2)), TrialId(search.candidates[4]));
  EXPECT_EQ(MakeTraining(AtRung(search, 0, 2)).train().SerializeAsString(),
            MakeTraining(trials_[0]).train().SerializeAsString());
}

TEST_F(HalvingTest, OnlyRecordsDecideWhichCandidatesContinue) {
  ASSERT_OK_AND_ASSIGN(const TrialSearch search, Search(kHalved));
  const std::vector<std::optional<double>> first = {0.5, 0.1, std::nullopt, 0.3, 0.2, 0.3, 0.9};
  for (size_t c = 0; c < first.size(); ++c) {
    ASSERT_OK_AND_ASSIGN(Rungs rungs, ReadRungs(search, store_));
    EXPECT_EQ(rungs.reached.size(), 1);
    Record(search, c, 0, first[c]);
  }
  absl::StatusOr<Rungs> rungs = ReadRungs(search, store_);
  ASSERT_THAT(rungs, IsOk());
  ASSERT_EQ(rungs->reached.size(), 2);
  EXPECT_THAT(rungs->reached[1], ElementsAre(1, 3, 4));  // of the two with 0.3 the first of the grid
  EXPECT_FALSE(rungs->complete);

  Record(search, 1, 1, 0.4);
  Record(search, 3, 1, std::nullopt);
  Record(search, 4, 1, 0.3);
  rungs = ReadRungs(search, store_);
  EXPECT_THAT(rungs->reached[2], ElementsAre(1, 4));
  Record(search, 4, 2, 0.2);
  EXPECT_FALSE(ReadRungs(search, store_)->complete);
  Record(search, 1, 2, 0.1);
  rungs = ReadRungs(search, store_);
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
  EXPECT_EQ(third.trial_id(), TrialId(AtRung(search, 3, 1)));

  ASSERT_OK_AND_ASSIGN(const std::optional<Trial> tuned, TunedTrial(trials_[0], search, store_));
  ASSERT_TRUE(tuned.has_value());
  EXPECT_EQ(tuned->method().training().optimizer().learning_rate(), 0.2);
  EXPECT_EQ(tuned->method().training().stop_after_epochs(), 0);
  EXPECT_EQ(tuned->search()->candidate(6).axis(0).value(), "0.7");
}

TEST_F(HalvingTest, ThePlanGrowsByARungAtATimeAndEachGoesOnFromTheOneBefore) {
  ASSERT_OK_AND_ASSIGN(const TrialSearch search, Search(kHalved));
  Planner planner(store_, [](const Selection&) { return 1; });
  planner.AddTrial(trials_[0]);
  absl::StatusOr<ActionId> choice = planner.AddSearch(search);
  ASSERT_THAT(choice, IsOk());
  planner.FindNeeded();
  const Plan& plan = planner.plan();
  EXPECT_EQ(plan.trials.size(), 1 + 7);
  EXPECT_THAT(planner.Choose(*choice), IsNotFound("plain on task"));

  const auto train_of = [&plan](int trial) -> const Action& {
    return plan[plan[plan[plan.evaluations[trial]].inputs[0]].inputs[0]];
  };
  EXPECT_EQ(train_of(0).work, 3 * 9);
  EXPECT_EQ(train_of(1).work, 3 * 1);
  // The cost of the plan in addition to its current actions' cost.
  const auto to_come = [&plan] {
    int64_t passes = CostOf(plan, Throughputs(), {}, /*needed_only=*/false).passes;
    for (const Action& action : plan.actions) passes -= action.work;
    return passes;
  };
  EXPECT_EQ(to_come(), 3 * (3 * (3 - 1) + 2 * (9 - 3)));
  for (size_t c = 0; c < 7; ++c) Record(search, c, 0, 0.1 * static_cast<double>(c));
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
  for (size_t c = 0; c < 3; ++c) Record(search, c, 1, 0.5 - 0.1 * static_cast<double>(c));
  added = planner.Choose(*choice);
  ASSERT_THAT(added, IsOk());
  EXPECT_EQ(plan.trials.size(), 1 + 7 + 3 + 2);
  EXPECT_EQ(train_of(11).work, 3 * (9 - 3));
  EXPECT_EQ(to_come(), 0);
  EXPECT_EQ(train_of(11).continued, plan[plan[plan.evaluations[9]].inputs[0]].inputs[0]);
  choice = added->back();
  for (const size_t c : {1, 2}) Record(search, c, 2, 0.1);
  added = planner.Choose(*choice);
  ASSERT_THAT(added, IsOk());
  ASSERT_EQ(plan.searches[0].tuned, 13);
  EXPECT_EQ(plan.trials[13].search()->chosen(), 1);

  // A new planner makes the same plan from the records.
  Planner again(store_, [](const Selection&) { return 1; });
  again.AddTrial(trials_[0]);
  choice = again.AddSearch(search);
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

// Class 3 of the digits is unknown in the test, and class 4 is external.
constexpr char kExternalTask[] = R"(
name: "task"
data_set: "digits"
external { data_set: "digits" class_id: 4 }
split { known: [0, 1, 2] unknown: 3 }
)";

constexpr char kSearch[] = R"(
validation_per_class: 5
override { score { temperature_scaled_softmax {} } }
search {
  method: "plain"
  axis { path: "score.temperature_scaled_softmax.temperature" value: ["1", "10"] }
  axis { path: "training.epochs" value: ["1", "2", "3"] }
  criterion { aurc {} }
}
)";

class SearchTest : public ::testing::Test {
 protected:
  SearchTest() : store_(absl::StrCat(sandbox_.folder(), "/store")) {
    sandbox_.Write("data/tasks/task.textproto", kExternalTask);
  }

  absl::StatusOr<std::vector<TrialSearch>> Searches(const std::string& more) {
    absl::StatusOr<Experiment> experiment = sandbox_.Load(absl::StrCat(kMinimalSpec, more));
    if (!experiment.ok()) return experiment.status();
    absl::StatusOr<std::vector<Trial>> trials = Expand(*experiment);
    if (!trials.ok()) return trials.status();
    trials_ = *std::move(trials);
    return ExpandSearches(*experiment, trials_, max_candidates_);
  }

  // Stores a record with this AURC of the candidate.
  void Record(const Trial& candidate, std::optional<double> value) {
    TrialRecord record;
    record.set_schema_version(kSchemaVersion);
    record.set_trial_id(TrialId(candidate));
    *record.mutable_trial() = candidate.Spec();
    MetricRecord* metric = record.add_metric();
    metric->set_name("aurc");
    if (value.has_value()) metric->set_value(*value);
    if (!value.has_value()) metric->set_absent_reason("no known samples");
    ASSERT_TRUE(store_.CommitRecord(record).ok());
  }

  SpecSandbox sandbox_;
  Store store_;
  std::vector<Trial> trials_;
  int64_t max_candidates_ = 1000;
};

TEST_F(SearchTest, MakesTheGridForEachTrial) {
  ASSERT_OK_AND_ASSIGN(const std::vector<TrialSearch> searches,
                       Searches(absl::StrCat(kSearch, "method: 'pairs' seed: 1")));
  ASSERT_EQ(trials_.size(), 4);
  ASSERT_EQ(searches.size(), 2);  // of method plain, seeds 0 and 1
  EXPECT_EQ(searches[1].trial, 1);
  const std::vector<Trial>& candidates = searches[1].candidates;
  ASSERT_EQ(candidates.size(), 6);
  EXPECT_EQ(candidates[4].seed(), 1);
  EXPECT_EQ(candidates[4].method().score().temperature_scaled_softmax().temperature(), 10);
  EXPECT_EQ(candidates[4].method().training().epochs(), 2);
  EXPECT_EQ(Describe(candidates[4]), "plain on task, split 0, seed 1, temperature 10, epochs 2");
  ASSERT_EQ(candidates[4].metric().size(), 1);
  EXPECT_TRUE(candidates[4].metric()[0].has_aurc());
}

// Candidates are evaluated on the last 5 training samples of each known class, and on class 4 of the external images'
// test part.
TEST_F(SearchTest, NoCandidateReachesATestSample) {
  ASSERT_OK_AND_ASSIGN(const std::vector<TrialSearch> searches, Searches(kSearch));
  const Plan plan = MakePlan(searches[0].candidates, store_, [](const Selection&) { return 1; });
  EXPECT_EQ(plan.Count(ActionKind::kTrain), 3);
  for (const Action& action : plan.actions) {
    if (action.kind == ActionKind::kTrain) {
      const TrainAction train = plan.RequestOf(action).action().train();
      EXPECT_EQ(train.data().part(), "train");
      EXPECT_EQ(train.data().without_last_per_class(), 5);
    }
    if (action.kind != ActionKind::kInfer) continue;
    const InferAction infer = plan.RequestOf(action).action().infer();
    EXPECT_EQ(infer.known().part(), "train");
    EXPECT_EQ(infer.known().only_last_per_class(), 5);
    ASSERT_EQ(infer.unknown_size(), 1);
    EXPECT_EQ(infer.unknown(0).name(), "external");
    EXPECT_THAT(infer.unknown(0).selection().class_id(), ElementsAre(4));
  }
  // The trial itself trains on the same samples, so that the default and the tuned trial differ only in the values.
  EXPECT_EQ(trials_[0].data().train().without_last_per_class(), 5);
  EXPECT_EQ(MakeTraining(trials_[0]).train().SerializeAsString(),
            MakeTraining(searches[0].candidates[1]).train().SerializeAsString());
}

TEST_F(SearchTest, TheBestCandidateMakesTheTunedTrial) {
  ASSERT_OK_AND_ASSIGN(const std::vector<TrialSearch> searches, Searches(kSearch));
  const std::vector<Trial>& candidates = searches[0].candidates;
  const std::vector<std::optional<double>> values = {0.3, 0.2, std::nullopt, 0.1, 0.5, 0.1};
  for (size_t c = 0; c < candidates.size(); ++c) {
    ASSERT_OK_AND_ASSIGN(const std::optional<Trial> tuned, TunedTrial(trials_[0], searches[0], store_));
    EXPECT_FALSE(tuned.has_value());
    Record(candidates[c], values[c]);
  }
  ASSERT_OK_AND_ASSIGN(const std::optional<Trial> result, TunedTrial(trials_[0], searches[0], store_));
  ASSERT_TRUE(result.has_value());
  const TrialSpec tuned = (*result).Spec();
  EXPECT_EQ(tuned.method().name(), "plain (tuned)");
  EXPECT_EQ(tuned.method().score().temperature_scaled_softmax().temperature(), 10);
  EXPECT_EQ(tuned.method().training().epochs(), 1);  // the first of the two best
  EXPECT_EQ(tuned.search().chosen(), 3);
  ASSERT_EQ(tuned.search().candidate_size(), 6);
  EXPECT_FALSE(tuned.search().candidate(2).has_value());
  EXPECT_EQ(tuned.search().candidate(3).value(), 0.1);
  EXPECT_EQ(tuned.search().candidate(3).trial_id(), TrialId(candidates[3]));
  EXPECT_EQ(tuned.search().candidate(3).axis(0).name(), "temperature");
  // It is tested on the trial's test data. The log is not part of its id.
  EXPECT_EQ(tuned.data().SerializeAsString(), trials_[0].data().SerializeAsString());
  TrialSpec without_log = tuned;
  without_log.clear_search();
  EXPECT_EQ(TrialId(without_log), TrialId(tuned));
}

// The tuned trial is added to the plan: its training is the chosen candidate's; its inference and record are new.
TEST_F(SearchTest, TheChoiceIsANodeThatAddsTheTunedTrial) {
  ASSERT_OK_AND_ASSIGN(std::vector<TrialSearch> searches, Searches(kSearch));
  Planner planner(store_, [](const Selection&) { return 1; });
  const std::vector<Trial> candidates = searches[0].candidates;
  planner.AddTrial(trials_[0]);
  const ActionId choose = *planner.AddSearch(searches[0]);
  const Plan& plan = planner.plan();
  EXPECT_THAT(planner.FindNeeded(), Contains(choose));
  EXPECT_EQ(plan[choose].kind, ActionKind::kChoose);
  EXPECT_EQ(plan[choose].inputs.size(), 6);
  EXPECT_THAT(plan[choose].trials, ElementsAre(0));
  EXPECT_THAT(planner.Choose(choose), IsNotFound("plain on task"));

  const std::vector<double> values = {0.3, 0.2, 0.5, 0.1, 0.5, 0.2};
  for (size_t c = 0; c < candidates.size(); ++c) Record(candidates[c], values[c]);
  const ActionId training = plan[plan[plan.evaluations[4]].inputs[0]].inputs[0];
  std::filesystem::create_directories(store_.CheckpointFolder(plan[training].key));
  const size_t before = plan.actions.size();
  ASSERT_OK_AND_ASSIGN(const std::vector<ActionId> added, planner.Choose(choose));
  EXPECT_TRUE(plan[choose].is_done());
  ASSERT_EQ(plan.searches[0].tuned, 7);
  const Trial& tuned = plan.trials[7];
  EXPECT_EQ(Describe(tuned), "plain (tuned) on task, split 0, seed 0");
  EXPECT_EQ(tuned.search()->chosen(), 3);
  // An inference on the test images and an evaluation; the training exists.
  ASSERT_EQ(plan.actions.size(), before + 2);
  const Action& last = plan[plan.evaluations[7]];
  EXPECT_EQ(last.key, TrialId(tuned));
  EXPECT_EQ(plan[last.inputs[0]].inputs, std::vector<ActionId>{training});
  EXPECT_TRUE(plan[training].is_done());
  for (const ActionId id : added) EXPECT_TRUE(plan[id].is_needed());
  EXPECT_THAT(added, Contains(plan.evaluations[7]));
  EXPECT_THAT(added, Not(Contains(training)));
}

TEST_F(SearchTest, AnUndefinedCriterionIsAnError) {
  ASSERT_OK_AND_ASSIGN(const std::vector<TrialSearch> searches, Searches(kSearch));
  for (const Trial& candidate : searches[0].candidates) Record(candidate, std::nullopt);
  EXPECT_THAT(TunedTrial(trials_[0], searches[0], store_),
              IsFailedPrecondition("plain on task: aurc is undefined for all candidates: no known samples"));
}

// Without external images, the validation data have known samples only.
TEST_F(SearchTest, ACriterionThatNeedsUnknownSamplesIsUndefinedWithoutThem) {
  const auto undefined = [&](const std::string& criterion) {
    const auto searches =
        Searches(absl::StrCat("validation_per_class: 5 search { method: 'plain' axis { path: 'training.epochs' value: "
                              "['1', '2'] } criterion { ",
                              criterion, " } }"));
    EXPECT_TRUE(searches.ok()) << searches.status();
    return std::string((*searches)[0].undefined.message());
  };
  EXPECT_EQ(undefined("auroc {}"), "");  // class 4 is external
  sandbox_.Write("data/tasks/task.textproto", "name: 'task' data_set: 'digits' split { known: [0, 1, 2] unknown: 3 }");
  for (const char* criterion : {"auroc {}", "oscr {}", "fpr_at_95tpr {}", "openauc {}"}) {
    EXPECT_THAT(undefined(criterion), HasSubstr("search[0].criterion: ")) << criterion;
    EXPECT_THAT(undefined(criterion),
                HasSubstr(" needs unknown samples, and the validation data of task 'task' has none"))
        << criterion;
  }
  for (const char* criterion : {"aurc {}", "accuracy {}", "ece {}"}) {
    EXPECT_EQ(undefined(criterion), "") << criterion;
  }
}

// Its test samples are the validation samples, and it has no others.
TEST_F(SearchTest, ACandidateIsMeasuredDuringTrainingOnTheSamplesOfTheSearch) {
  ASSERT_OK_AND_ASSIGN(
      const auto searches,
      Searches("validation_per_class: 5 override { training { evaluate_every { epochs: 1 } } } "
               "search { method: 'plain' axis { path: 'training.epochs' value: ['2', '3'] } criterion { aurc {} } }"));
  const EpochEvaluation evaluation = MakeTraining(searches[0].candidates[0]).train().evaluation();
  EXPECT_EQ(evaluation.known().part(), "train");
  EXPECT_EQ(evaluation.known().only_last_per_class(), 5);
  ASSERT_EQ(evaluation.unknown_size(), 1);
  EXPECT_THAT(evaluation.unknown(0).selection().class_id(), ElementsAre(4));
}

TEST_F(SearchTest, ErrorsSayWhatIsWrong) {
  const auto error = [&](const std::string& search, const std::string& validation = "validation_per_class: 5 ") {
    return std::string(Searches(validation + "search { " + search + " }").status().message());
  };
  const std::string axis = "axis { path: 'training.epochs' value: ['1', '2'] } ";
  EXPECT_THAT(error("method: 'plain' criterion { aurc {} } " + axis, ""),
              HasSubstr("search[0]: chooses on validation data: set validation_per_class"));
  EXPECT_THAT(error("method: 'plan' criterion { aurc {} } " + axis), HasSubstr("search[0].method[0]: unknown method"));
  EXPECT_THAT(error("method: ['plain', 'plain'] criterion { aurc {} } " + axis),
              HasSubstr("search[0].method[1]: plain is in two searches"));
  EXPECT_THAT(error("method: 'plain' criterion { known_unknown_ratio {} } " + axis),
              HasSubstr("search[0].criterion: must be a metric for which higher or lower"));
  EXPECT_THAT(error("method: 'plain' criterion { aurc {} } axis { path: 'training.epoch' value: '1' }"),
              HasSubstr("search[0].axis[0]: plain: "));
  EXPECT_THAT(error("method: 'plain' criterion { aurc {} } axis { path: 'training.epochs' value: '0' }"),
              HasSubstr("search[0].axis[0]: plain: training.epochs: must be at least 1"));
  max_candidates_ = 1;
  EXPECT_THAT(error("method: 'plain' criterion { aurc {} } " + axis),
              HasSubstr("search[0]: 2 candidates per trial exceed the limit of 1 in all"));
}

}  // namespace
}  // namespace openset
