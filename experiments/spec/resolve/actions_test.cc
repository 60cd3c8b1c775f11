#include "experiments/spec/resolve/actions.h"

#include "core/testing/parsed.h"
#include "eval/scores/score.pb.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(MakeFitAction, TemperatureIsFittedOnValidationSamplesIfThereAreAny) {
  TrialSpec trial = Parsed<TrialSpec>(R"(
    method { score { temperature_scaled_softmax {} } }
    data { train { class_id: [1, 2] } validation_known { class_id: [1, 2] only_last_per_class: 5 } }
  )");
  EXPECT_EQ(MakeFitAction(trial).known().only_last_per_class(), 5);
  trial.mutable_data()->clear_validation_known();
  EXPECT_EQ(MakeFitAction(trial).known().only_last_per_class(), 0);
  EXPECT_EQ(MakeFitAction(trial).known().class_id_size(), 2);
  // Other scores are fitted on the samples that the model was trained on.
  trial.mutable_data()->mutable_validation_known()->set_only_last_per_class(5);
  trial.mutable_method()->mutable_score()->mutable_vim();
  EXPECT_EQ(MakeFitAction(trial).known().only_last_per_class(), 0);
  // A combination is fitted where a temperature in it is.
  CombineSpec* combine = trial.mutable_method()->mutable_score()->mutable_combine();
  combine->add_score()->mutable_energy();
  EXPECT_EQ(MakeFitAction(trial).known().only_last_per_class(), 0);
  combine->add_score()->mutable_temperature_scaled_softmax();
  EXPECT_EQ(MakeFitAction(trial).known().only_last_per_class(), 5);
}

}  // namespace
}  // namespace openset
