// Stops trainings of each kind between two steps and continues them.
#include <set>
#include <string>
#include <vector>

#include "core/testing/status_matchers.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/open_set.pb.h"
#include "experiments/train/testing/training_scene.h"
#include "experiments/train/training_run.h"
#include "models/checkpoint.h"

namespace openset {
namespace {

struct Kind {
  const char* name;
  const char* method;
};

// Each part with a state between two steps: random streams, orders, optimisers, schedules.
constexpr Kind kKinds[] = {
    {"dropout, augmentation, mixtures, a history of each sample", TrainingScene::kEverything},
    {"views, noise, Adam, a rate that changes with each step", R"(
      model { osrci_cnn { feature_dim: 8 dropout: 0.5 } head { linear {} } }
      augmentation { random_crop { padding: 2 } }
      views { count: 2 augmentation { aug_mix {} } }
      open_set { noise_images {} }
      loss {
        term { cross_entropy {} }
        term { lambda: 12 jsd_consistency { extra_views: 2 } }
        term { lambda: 0.5 outlier_exposure {} }
      }
      training {
        epochs: 3 batch_size: 5
        optimizer { learning_rate: 0.01 adam {} }
        schedule { cosine_restarts { cycle_epochs: 2 warmup_epochs: 1 stepping: ITERATION } }
      })"},
    {"external images, shuffled anew twice a step; some steps only, and no short batch", R"(
      model { osrci_cnn { feature_dim: 8 } head { linear {} } }
      augmentation { random_resized_crop {} }
      augmentation { rand_augment { op_list: DIGITS_13 } }
      open_set { external_images { share: 2 } }
      loss { term { cross_entropy {} } term { lambda: 0.5 outlier_exposure {} } }
      training {
        epochs: 3 batch_size: 5 drop_last: true max_steps: 5
        optimizer { learning_rate: 0.01 sgd { momentum: 0.9 nesterov: true } }
        schedule { step { milestone: 1 } }
      })"},
    {"a generator that learns, passes without it, parameters of a loss, batch norms", R"(
      model { vgg32 { width: 2 norm_sets: 2 } head { reciprocal_point { dot_product: true } } }
      augmentation { horizontal_flip {} }
      open_set {
        confusing_images { noise_dim: 4 width: 2 optimizer { learning_rate: 2e-4 adam { beta1: 0.5 } } }
        plain_passes: 1
      }
      loss { term { lambda: 0.1 arpl {} } term { lambda: 0.1 confusing_samples { entropy: GUARDED } } }
      training {
        epochs: 2 batch_size: 5
        optimizer { learning_rate: 0.01 sgd { momentum: 0.9 } }
        schedule { constant {} }
      })"},
    {"mixed images instead of the batch, a centre for each class, a rule of a term's own", R"(
      model { osrci_cnn { feature_dim: 8 } head { linear {} extra_outputs: 1 } }
      open_set { mixed_images { mix { kind: CUTMIX } } }
      loss {
        term { mixed_cross_entropy {} }
        term { centre {} }
        term { confidence_branch {} }
        term { cider { projection_dim: 4 extra_views: 0 } }
      }
      training {
        epochs: 2 batch_size: 5
        optimizer { learning_rate: 0.01 sgd { momentum: 0.9 } }
        schedule { constant {} }
      })"},
    {"queues of features", R"(
      model { osrci_cnn { feature_dim: 8 } head { linear {} } }
      open_set { virtual_outliers { memory: 3 draws: 10 } }
      loss { term { cross_entropy {} } term { outlier_energy {} } }
      training {
        epochs: 2 batch_size: 5
        optimizer { learning_rate: 0.01 sgd {} }
        schedule { constant {} }
      })"},
    {"maps that are mixed between two stages", R"(
      model { osrci_cnn { feature_dim: 8 } head { linear {} extra_outputs: 1 } }
      open_set { stage_mixup {} }
      loss { term { cross_entropy {} } term { placeholder {} } term { energy_constraint {} } }
      training {
        epochs: 2 batch_size: 5
        optimizer { learning_rate: 0.01 sgd {} }
        schedule { constant {} }
      })"},
    {"pictures that are mixed into the batch", R"(
      model { osrci_cnn { feature_dim: 8 } head { linear {} } }
      open_set { external_images { share: 1 pix_mix {} } }
      loss { term { mixed_cross_entropy {} } }
      training {
        epochs: 2 batch_size: 5
        optimizer { learning_rate: 0.01 sgd {} }
        schedule { constant {} }
      })"},
    {"sharpness-aware steps with dropout, and a mean of weights", R"(
      model { vgg32 { width: 2 dropout: 0.5 } head { linear {} } }
      augmentation { horizontal_flip {} }
      loss { term { cross_entropy {} } term { crl_ranking {} } }
      training {
        epochs: 4 batch_size: 5
        optimizer { learning_rate: 0.01 sgd { momentum: 0.9 } sam {} }
        schedule { cosine_restarts { cycle_epochs: 2 restarts: false } }
        swa { start: 0.5 anneal_epochs: 2 }
      })"},
    {"overlays, drawn at random", R"(
      model { osrci_cnn { feature_dim: 8 } head { linear {} } }
      open_set { overlay_images { pairs: RANDOM } }
      loss { term { cross_entropy {} } term { lambda: 0.5 outlier_exposure {} } }
      training {
        epochs: 2 batch_size: 5
        optimizer { learning_rate: 0.01 sgd {} }
        schedule { constant {} }
      })"},
};

TrainAction ActionOf(const Kind& kind, const TrainingScene& scene) {
  TrainAction action = scene.Action(kind.method);
  if (!action.open_set().has_external_images()) return action;
  *action.mutable_external() = action.data();  // 4 images of one class
  action.mutable_external()->mutable_class_id()->Truncate(1);
  return action;
}

// Stopped after every step in turn.
TEST(ResumedTraining, AResumedRunEndsWithTheBitsOfAnUndisturbedOne) {
  const TrainingScene scene;
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    const TrainAction action = ActionOf(kind, scene);
    const auto undisturbed = MakeRun(action, scene.Context());
    struct Saved {
      std::vector<EpochSummary> epochs;
      TensorMap state;
    };
    std::vector<Saved> saved;
    while (!undisturbed->done()) {
      ASSERT_THAT(undisturbed->Step(), IsOk());
      saved.push_back({undisturbed->epochs(), StateCopy(*undisturbed)});
    }
    ASSERT_GE(saved.size(), 5);
    for (size_t s = 0; s < saved.size(); ++s) {
      SCOPED_TRACE(testing::Message() << "after step " << s + 1);
      const auto resumed = MakeRun(action, scene.Context());
      ASSERT_THAT(resumed->Resume(saved[s].epochs, saved[s].state), IsOk());
      EXPECT_EQ(resumed->steps(), s + 1);
      ExpectSameState(StateCopy(*resumed), saved[s].state);
      while (!resumed->done()) ASSERT_THAT(resumed->FinishEpoch(), IsOk());
      EXPECT_EQ(resumed->images_seen(), undisturbed->images_seen());
      ExpectSameState(StateCopy(*resumed), saved.back().state);
      ASSERT_EQ(resumed->epochs().size(), undisturbed->epochs().size());
      for (size_t e = 0; e < resumed->epochs().size(); ++e) {
        EXPECT_EQ(resumed->epochs()[e].SerializeAsString(), undisturbed->epochs()[e].SerializeAsString());
      }
    }
  }
}

// Add each new source here: a resumed training may otherwise forget its state between two steps
// (OpenSetSource::EpochState()).
TEST(ResumedTraining, EveryOpenSetSourceIsAmongTheKinds) {
  const TrainingScene scene;
  std::set<std::string> sources;
  for (const Kind& kind : kKinds) {
    const TrainAction action = scene.Action(kind.method);
    const int source = action.open_set().kind_case();
    if (source == OpenSetSpec::KIND_NOT_SET) continue;
    sources.insert(OpenSetSpec::descriptor()->FindFieldByNumber(source)->name());
  }
  std::set<std::string> all;
  const auto* kinds = OpenSetSpec::descriptor()->FindOneofByName("kind");
  for (int f = 0; f < kinds->field_count(); ++f) all.insert(kinds->field(f)->name());
  EXPECT_EQ(sources, all);
}

// Therefore states of earlier versions, which stopped only between epochs, are complete.
TEST(ResumedTraining, BetweenEpochsTheStateHasNoEpoch) {
  const TrainingScene scene;
  const TrainAction action = scene.Action();
  const auto run = MakeRun(action, scene.Context());
  const size_t between = run->State().size();
  ASSERT_THAT(run->Step(), IsOk());
  EXPECT_EQ(run->State().size(), between + 5);
  ASSERT_THAT(run->FinishEpoch(), IsOk());
  EXPECT_EQ(run->State().size(), between);
}

TEST(ResumedTraining, RefusesForeignStatesWithoutChanges) {
  const TrainingScene scene;
  const TrainAction action = ActionOf(kKinds[2], scene);  // 2 steps an epoch
  const auto undisturbed = MakeRun(action, scene.Context());
  ASSERT_THAT(undisturbed->FinishEpoch(), IsOk());
  ASSERT_THAT(undisturbed->Step(), IsOk());
  const TensorMap good = StateCopy(*undisturbed);
  const std::vector<EpochSummary> epochs = undisturbed->epochs();
  const auto with = [&good](const char* name, const at::Tensor& tensor) {
    TensorMap state = good;
    state[name] = tensor;
    return state;
  };
  const auto without = [&good](const char* name) {
    TensorMap state = good;
    EXPECT_EQ(state.erase(name), 1) << name;
    return state;
  };
  const std::vector<TensorMap> bad = {
      with("model.head.weight", at::zeros({1})),
      with("more", at::zeros({1})),
      with("epoch.steps", at::zeros({1}, at::kLong)),
      with("epoch.steps", at::full({1}, 2, at::kLong)),
      with("epoch.steps", at::ones({1})),
      with("epoch.steps", at::ones({2}, at::kLong)),
      with("epoch.open", at::zeros({4}, at::kLong)),
      with("epoch.augment", at::ones({3}, at::kLong)),
      with("epoch.generator", at::zeros_like(good.at("epoch.generator"))),
      with("epoch.source", at::full({5}, 9, at::kLong)),
      without("model.head.weight"),
      without("epoch.sums"),
      without("epoch.steps"),
      without("epoch.source"),
      without("epoch.open"),
  };
  const auto run = MakeRun(action, scene.Context());
  const TensorMap initial = StateCopy(*run);
  for (size_t b = 0; b < bad.size(); ++b) {
    EXPECT_THAT(run->Resume(epochs, bad[b]), StatusIs(absl::StatusCode::kInvalidArgument)) << b;
    EXPECT_EQ(run->steps(), 0);
    EXPECT_TRUE(run->epochs().empty());
    ExpectSameState(StateCopy(*run), initial);
  }
  // Only one step of the third epoch is made, and no epoch follows it.
  EXPECT_THAT(run->Resume({EpochSummary(), EpochSummary(), EpochSummary()}, good),
              IsInvalidArgument("no epoch is under way"));
  while (!run->done()) ASSERT_THAT(run->Step(), IsOk());
  while (!undisturbed->done()) ASSERT_THAT(undisturbed->Step(), IsOk());
  ExpectSameState(StateCopy(*run), StateCopy(*undisturbed));
}

}  // namespace
}  // namespace openset
