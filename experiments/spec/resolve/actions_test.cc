#include "experiments/spec/resolve/actions.h"

#include <set>

#include "core/testing/parsed.h"
#include "eval/scores/score.pb.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

Selection FitOf(const Trial& trial) { return MakeAction(trial, ActionKind::kInfer, ActionRole::kFit).infer().known(); }

TEST(FitSelection, TemperatureIsFittedOnValidationSamplesIfThereAreAny) {
  TrialSpec trial = Parsed<TrialSpec>(R"(
    method { score { temperature_scaled_softmax {} } }
    data { train { class_id: [1, 2] } validation_known { class_id: [1, 2] only_last_per_class: 5 } }
  )");
  EXPECT_EQ(FitOf(trial).only_last_per_class(), 5);
  trial.mutable_data()->clear_validation_known();
  EXPECT_EQ(FitOf(trial).only_last_per_class(), 0);
  EXPECT_EQ(FitOf(trial).class_id_size(), 2);
  // Other scores are fitted on the samples that the model was trained on.
  trial.mutable_data()->mutable_validation_known()->set_only_last_per_class(5);
  trial.mutable_method()->mutable_score()->mutable_vim();
  EXPECT_EQ(FitOf(trial).only_last_per_class(), 0);
  // A combination is fitted where a temperature in it is.
  CombineSpec* combine = trial.mutable_method()->mutable_score()->mutable_combine();
  combine->add_score()->mutable_energy();
  EXPECT_EQ(FitOf(trial).only_last_per_class(), 0);
  combine->add_score()->mutable_temperature_scaled_softmax();
  EXPECT_EQ(FitOf(trial).only_last_per_class(), 5);
}

// An ensemble of two members, each fine-tuned, with a fitted score.
Trial TwoMembers() {
  TrialSpec trial;
  trial.mutable_method()->mutable_pretraining()->mutable_training()->set_epochs(1);
  trial.mutable_method()->mutable_training()->set_epochs(1);
  trial.mutable_method()->mutable_inference()->mutable_ensemble()->set_members(2);
  trial.mutable_method()->mutable_score()->mutable_vim();
  trial.mutable_data()->mutable_train()->set_part("train");
  trial.mutable_data()->mutable_test_known()->set_part("test");
  trial.set_seed(3);
  return trial;
}

TEST(ActionsOf, NameTheirInputsByKeyInputsFirst) {
  const Trial trial = TwoMembers();
  ActionMaker maker;
  const std::vector<TrialAction> actions = maker.ActionsOf(trial);
  ASSERT_EQ(actions.size(), 7);
  const ActionRole roles[] = {ActionRole::kPretraining, ActionRole::kMain, ActionRole::kPretraining, ActionRole::kMain,
                              ActionRole::kMain,        ActionRole::kFit,  ActionRole::kMain};
  const absl::InlinedVector<int, 2> inputs[] = {{}, {0}, {}, {2}, {1, 3}, {1, 3}, {4, 5}};
  const ActionInput::Role named[] = {ActionInput::ROLE_UNSPECIFIED,
                                     ActionInput::START,
                                     ActionInput::ROLE_UNSPECIFIED,
                                     ActionInput::START,
                                     ActionInput::MODEL,
                                     ActionInput::MODEL,
                                     ActionInput::TEST};
  std::set<std::string> keys;
  for (int a = 0; a < 7; ++a) {
    SCOPED_TRACE(a);
    const TrialAction& action = actions[a];
    EXPECT_EQ(action.kind, a < 4 ? ActionKind::kTrain : a < 6 ? ActionKind::kInfer : ActionKind::kEvaluate);
    EXPECT_EQ(action.role, roles[a]);
    EXPECT_EQ(action.member, a == 2 || a == 3 ? 1 : 0);
    EXPECT_EQ(action.inputs, inputs[a]);
    EXPECT_EQ(ToHex(action.key), MessageDigest(*action.spec));
    keys.insert(ToHex(action.key));
    ASSERT_EQ(action.spec->input_size(), inputs[a].size());
    for (size_t i = 0; i < inputs[a].size(); ++i) {
      const ActionInput& input = action.spec->input(static_cast<int>(i));
      EXPECT_EQ(input.key(), ToHex(actions[inputs[a][i]].key));
      EXPECT_EQ(input.role(), a == 6 && i == 1 ? ActionInput::FIT : named[a]);
    }
  }
  EXPECT_EQ(keys.size(), 7);
  // Member m of seed s of an ensemble of two is the training of seed 2 s + m.
  EXPECT_EQ(actions[1].spec->train().seed(), 6);
  EXPECT_EQ(actions[3].spec->train().seed(), 7);
  EXPECT_EQ(TrialId(trial), ToHex(actions[6].key));
}

// One change of a training, however small, changes the keys of all that depends on it.
TEST(ActionsOf, AChangeChangesTheKeysOfWhatDependsOnIt) {
  const Trial trial = TwoMembers();
  TrialSpec other = trial.Spec();
  other.mutable_method()->mutable_pretraining()->mutable_training()->set_epochs(2);
  TrialSpec scored = trial.Spec();
  scored.mutable_method()->mutable_score()->mutable_knn();
  const Trial changed = other, rescored = scored;
  ActionMaker maker;
  const auto a = maker.ActionsOf(trial), b = maker.ActionsOf(changed), c = maker.ActionsOf(rescored);
  for (int i = 0; i < 7; ++i) {
    EXPECT_NE(a[i].key, b[i].key) << i;
    EXPECT_EQ(a[i].key == c[i].key, i < 6) << i;
  }
}

TEST(ActionsOf, AModelWithoutATrainingIsImported) {
  const Trial trial = TrialSpec();
  ActionMaker maker;
  const std::vector<TrialAction> actions = maker.ActionsOf(trial);
  ASSERT_EQ(actions.size(), 3);
  EXPECT_EQ(actions[0].role, ActionRole::kImport);
}

TEST(ActionsOf, OfManyTrialsAreTheSame) {
  std::vector<Trial> trials;
  for (int seed = 0; seed < 3000; ++seed) {
    TrialSpec trial = TwoMembers().Spec();
    trial.set_seed(seed / 2);
    trials.emplace_back(trial);
  }
  const std::vector<std::vector<TrialAction>> all = ActionsOfAll(trials, 1, trials.size() - 1);
  ASSERT_EQ(all.size(), trials.size() - 1);
  for (const size_t t : {0, 1, 1023, 1024, 2998}) EXPECT_EQ(ToHex(all[t].back().key), TrialId(trials[t + 1])) << t;
}

// With other candidates, or in another order, it is another choice.
TEST(ChoiceAmong, IsOfItsCandidatesInOrder) {
  EXPECT_EQ(MessageDigest(ChoiceAmong({"ab", "cd"})), MessageDigest(ChoiceAmong({"ab", "cd"})));
  EXPECT_NE(MessageDigest(ChoiceAmong({"ab", "cd"})), MessageDigest(ChoiceAmong({"cd", "ab"})));
}

}  // namespace
}  // namespace openset
