#include "experiments/train/training_run.h"

#include <atomic>

#include "core/files/files.h"
#include "core/tensor/testing/draw_open_set.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "data/catalog.h"
#include "data/image_source.h"
#include "experiments/spec/optimizer.pb.h"
#include "experiments/train/open_set_source.h"
#include "experiments/train/testing/training_scene.h"
#include "models/model.pb.h"

namespace openset {
namespace {

// 12 images whose pixels are their index, each read again for each batch.
class Numbers : public ImageSource {
 public:
  explicit Numbers(std::atomic<int64_t>* read) : read_(read) { index_.label.assign(12, 0); }
  const SampleIndex& index() const override { return index_; }
  ImageShape shape() const override { return {1, 16, 16}; }
  absl::StatusOr<std::vector<Image>> Read(absl::Span<const int64_t> samples) const override {
    *read_ += static_cast<int64_t>(samples.size());
    std::vector<Image> images;
    for (const int64_t sample : samples) {
      images.push_back({1, 16, 16, std::vector<uint8_t>(256, static_cast<uint8_t>(sample))});
    }
    return images;
  }

 private:
  std::atomic<int64_t>* const read_;
  SampleIndex index_;
};

class NumbersCache : public ImageCache {
 public:
  NumbersCache() : ImageCache(Catalog({}), {}) {}
  absl::StatusOr<Batcher> MakeBatcher(const Selection&, int channels, at::Device device) override {
    SelectedSamples samples;
    for (int64_t s = 0; s < 12; ++s) {
      samples.index.push_back(s);
      samples.label.push_back(0);
    }
    return Batcher::Make(std::make_shared<Numbers>(&read), std::move(samples), channels, device, /*resident_bytes=*/0);
  }

  std::atomic<int64_t> read = 0;
};

// Draws two numbers for each batch, the first of which counts the batches of the epoch.
class CountedDraws : public OpenSetSource {
 public:
  explicit CountedDraws(int64_t most_steps) : most_steps_(most_steps) {}
  void StartEpoch(RandomStream* /*random*/) override { drawn_ = 0; }
  absl::Status Draw(const DrawContext& context) override {
    if (context.label.size(0) == 1) return absl::NotFoundError("cannot open sea.png");
    *context.number = {static_cast<double>(drawn_++), context.random->Uniform()};
    return absl::OkStatus();
  }
  OpenSet Make(const Context& /*context*/) override { return {}; }
  int64_t MostSteps(int64_t /*batch_size*/) const override { return most_steps_; }
  std::vector<int64_t> EpochState() const override { return {drawn_}; }
  absl::Status ResumeEpoch(absl::Span<const int64_t> state) override {
    if (state.size() != 1) return absl::InvalidArgumentError("no count");
    drawn_ = state[0];
    return absl::OkStatus();
  }

 private:
  const int64_t most_steps_;
  int64_t drawn_ = 0;
};

// zip() of two loaders, of which the other one has two batches.
TEST(TrainingData, APassMayEndBeforeItsSamplesDo) {
  const TrainingScene scene;
  const TrainAction action = scene.Action();
  NumbersCache images;
  ActionContext context = scene.Context();
  context.images = &images;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<TrainingData> data, TrainingData::Make(action, context));
  data->UseOpenSet(std::make_shared<CountedDraws>(2));
  EXPECT_EQ(data->batches_per_pass(), 2);
  data->StartEpoch(0);
  EXPECT_EQ(data->left(), 2);
  data->UseOpenSet(std::make_shared<CountedDraws>(7));
  EXPECT_EQ(data->batches_per_pass(), 3);
}

// Two passes of 5, 5 and 2 images, stopped after each batch: the crops, flips and draws of the open set that follow are
// the same, and what was seen is not read again. Only the first pass has an open set.
TEST(TrainingData, AnEpochResumesAfterItsLastBatch) {
  const TrainingScene scene;
  const TrainAction action = scene.Action();
  NumbersCache images;
  ActionContext context = scene.Context();
  context.images = &images;
  const auto make = [&] {
    absl::StatusOr<std::unique_ptr<TrainingData>> data = TrainingData::Make(action, context);
    EXPECT_THAT(data, IsOk());
    (*data)->UseOpenSet(std::make_shared<CountedDraws>(3));
    return *std::move(data);
  };
  const auto next = [](TrainingData* data) {
    if (data->left() == 0) data->StartPass();
    const absl::StatusOr<Batch> batch = data->Next();
    EXPECT_THAT(batch, IsOk());
    return *batch;
  };
  const auto undisturbed = make();
  ASSERT_EQ(undisturbed->batches_per_pass(), 3);
  std::vector<Batch> batches;
  std::vector<BatchStream::State> state;
  undisturbed->StartEpoch(7);
  for (int b = 0; b < 6; ++b) {
    state.push_back(undisturbed->state());
    EXPECT_THAT(state.back().source, testing::ElementsAre(std::min(b, 3)));
    batches.push_back(next(undisturbed.get()));
    ASSERT_EQ(batches.back().open.has_value(), b < 3);
  }
  for (int given = 0; given < 6; ++given) {
    const auto resumed = make();
    images.read = 0;
    ASSERT_THAT(resumed->ResumeEpoch(7, given, state[given]), IsOk());
    int64_t left = 0;
    for (int b = given; b < 6; ++b) {
      const Batch batch = next(resumed.get());
      EXPECT_THAT(batch.image, TensorEq(batches[b].image)) << given << " " << b;
      EXPECT_THAT(batch.sample, TensorEq(batches[b].sample)) << given << " " << b;
      EXPECT_EQ(batch.open.has_value(), b < 3);
      if (batch.open.has_value()) {
        EXPECT_EQ(batch.open->number, batches[b].open->number) << given << " " << b;
      }
      left += batch.label.size(0);
    }
    EXPECT_EQ(images.read, left);
  }
  BatchStream::State no_source = state[1];
  no_source.source.clear();
  EXPECT_THAT(make()->ResumeEpoch(7, 1, no_source), StatusIs(absl::StatusCode::kInvalidArgument, "no count"));
}

// Batches of 11 and 1 images.
TEST(TrainingData, TheSourcesErrorsEndTheStream) {
  const TrainingScene scene;
  const TrainAction action = scene.Action("training { batch_size: 11 }");
  NumbersCache images;
  ActionContext context = scene.Context();
  context.images = &images;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<TrainingData> data, TrainingData::Make(action, context));
  data->UseOpenSet(std::make_shared<CountedDraws>(2));
  data->StartEpoch(0);
  EXPECT_THAT(data->Next(), IsOk());
  EXPECT_THAT(data->Next(), StatusIs(absl::StatusCode::kNotFound, "cannot open sea.png"));
}

class TrainingStateTest : public ::testing::Test {
 protected:
  TrainingStateTest() {
    path_ = JoinPath(::testing::TempDir(), ::testing::UnitTest::GetInstance()->current_test_info()->name());
    summary_.add_epoch()->set_loss(0.25);
    saved_ = {{"weight", at::arange(6, at::kFloat).view({2, 3})}, {"steps", at::full({1}, 7, at::kLong)}};
    EXPECT_THAT(SaveTrainingState(saved_, summary_, "key", path_), IsOk());
  }

  std::string path_;
  TrainSummary summary_;
  NamedTensors saved_;
};

TEST_F(TrainingStateTest, RoundTrips) {
  ASSERT_OK_AND_ASSIGN(const SavedTraining saved, LoadTrainingState(path_, "key"));
  EXPECT_EQ(saved.summary.SerializeAsString(), summary_.SerializeAsString());
  ASSERT_EQ(saved.tensors.size(), saved_.size());
  for (const auto& [name, tensor] : saved_) EXPECT_TRUE(at::equal(saved.tensors.at(name), tensor)) << name;
}

TEST_F(TrainingStateTest, OfAnotherTrainingIsRefused) {
  EXPECT_THAT(LoadTrainingState(path_, "other"), IsInvalidArgument("another training"));
}

TEST_F(TrainingStateTest, OtherTensorsAreNamed) {
  const TensorMap saved = LoadTrainingState(path_, "key")->tensors;
  NamedTensors like = {{"weight", at::zeros({2, 3})}, {"steps", at::zeros({1}, at::kLong)}};
  EXPECT_THAT(CheckTensors(saved, like), IsOk());
  EXPECT_THAT(CheckTensors(saved, {like[0]}), IsInvalidArgument("holds other tensors"));
  for (const at::Tensor& other : {at::zeros({2}, at::kLong), at::zeros({1})}) {  // of another shape, of another dtype
    like[1].second = other;
    EXPECT_THAT(CheckTensors(saved, like), IsInvalidArgument("'steps'"));
  }
  like[1] = {"step", at::zeros({1}, at::kLong)};
  EXPECT_THAT(CheckTensors(saved, like), IsInvalidArgument("'step'"));
}

TEST_F(TrainingStateTest, ATruncatedFileIsRefused) {
  const std::string bytes = ReadFile(path_).value();
  for (size_t size : {size_t{0}, size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
    ASSERT_THAT(WriteFileAtomically(path_, bytes.substr(0, size)), IsOk());
    EXPECT_FALSE(LoadTrainingState(path_, "key").ok()) << size;
  }
}

TEST_F(TrainingStateTest, AFlippedBitIsRefused) {
  const std::string bytes = ReadFile(path_).value();
  int refused = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    ASSERT_THAT(WriteFileAtomically(path_, damaged), IsOk());
    const absl::StatusOr<SavedTraining> saved = LoadTrainingState(path_, "key");
    refused += !saved.ok();
    if (!saved.ok()) continue;
    // An unnoticed flip changes neither a tensor nor the summary: it is in the header's white space.
    EXPECT_EQ(saved->summary.SerializeAsString(), summary_.SerializeAsString()) << at;
    EXPECT_THAT(CheckTensors(saved->tensors, saved_), IsOk());
    for (const auto& [name, tensor] : saved_) EXPECT_TRUE(::at::equal(saved->tensors.at(name), tensor)) << at;
  }
  EXPECT_GT(refused, bytes.size() / 2);
}

TEST_F(TrainingStateTest, AMissingFileIsNotFound) {
  EXPECT_THAT(LoadTrainingState(path_ + ".none", "key"), StatusIs(absl::StatusCode::kNotFound));
}

// Recomputes a step: the gradient of the cross entropy by LibTorch, SGD with momentum and weight decay by its formula.
TEST(TrainingRun, TwoStepsByHand) {
  const TrainingScene scene;
  const TrainAction action = scene.Action(R"(
      model { osrci_cnn { dropout: 0 } head { linear {} } }
      loss { term { cross_entropy {} } }
      training {
        epochs: 2 batch_size: 12
        optimizer { learning_rate: 0.1 weight_decay: 0.01 sgd { momentum: 0.9 } }
        schedule { step { milestone: 1 factor: 0.5 } }
      })");
  const auto run = MakeRun(action, scene.Context());
  const std::shared_ptr<Model> reference = MakeRun(action, scene.Context())->model();  // the same initial values
  Model& model = *reference;
  const at::Tensor image = scene.TrainingImages(), label = scene.TrainingLabels();  // all are one batch
  std::vector<at::Tensor> momentum;
  for (const at::Tensor& parameter : model.parameters()) momentum.push_back(at::zeros_like(parameter));
  EXPECT_EQ(run->max_steps(), 2);
  EXPECT_FALSE(run->done());
  for (int step = 0; step < 2; ++step) {
    const double rate = step == 0 ? 0.1 : 0.05;
    model.zero_grad();
    const at::Tensor loss = at::cross_entropy_loss(model.Forward(image).logits, label);
    loss.backward();
    {
      const c10::NoGradGuard no_grad;
      for (size_t p = 0; p < momentum.size(); ++p) {
        at::Tensor parameter = model.parameters()[p];
        momentum[p] = 0.9 * momentum[p] + parameter.grad() + 0.01 * parameter;
        parameter.sub_(rate * momentum[p]);
      }
    }
    ASSERT_THAT(run->Step(), IsOk());
    EXPECT_TRUE(run->between_epochs());
    EXPECT_EQ(run->steps(), step + 1);
    EXPECT_EQ(run->images_seen(), 12 * (step + 1));
    ASSERT_EQ(run->epochs().size(), step + 1);
    EXPECT_NEAR(run->epochs()[step].loss(), loss.item<double>(), 1e-6);
    EXPECT_NEAR(run->epochs()[step].term(0), loss.item<double>(), 1e-6);
    EXPECT_EQ(run->epochs()[step].learning_rate(), rate);
    const auto parameters = run->model()->named_parameters();
    for (const auto& parameter : model.named_parameters()) {
      EXPECT_THAT(parameters[parameter.key()], TensorNear(parameter.value(), 1e-6)) << parameter.key();
    }
  }
  EXPECT_TRUE(run->done());
}

TEST(TrainingRun, CurvesHoldLambda) {
  const TrainingScene scene;
  const std::string rest = R"(
      model { osrci_cnn { dropout: 0 } head { linear {} } }
      training {
        epochs: 1 batch_size: 4 optimizer { learning_rate: 1e-9 sgd {} } schedule { constant {} }
      })";
  const auto curve = [&](const std::string& terms) {
    const TrainAction action = scene.Action(rest + "open_set { feature_mixup {} } loss {" + terms + "}");
    const auto run = MakeRun(action, scene.Context());
    EXPECT_THAT(run->FinishEpoch(), IsOk());
    return run->epochs()[0];
  };
  const EpochSummary one = curve("term { cross_entropy {} } term { open_auc { include_misclassified: true } }");
  const EpochSummary half =
      curve("term { lambda: 2 cross_entropy {} } term { lambda: 0.5 open_auc { include_misclassified: true } }");
  EXPECT_NEAR(half.term(0), 2 * one.term(0), 1e-5);
  EXPECT_NEAR(half.term(1), 0.5 * one.term(1), 1e-5);
  EXPECT_NEAR(half.loss(), half.term(0) + half.term(1), 1e-5);
}

// Neither run depends on the other's draws or on LibTorch's default generator.
TEST(TrainingRun, RunsInTurnGiveTheBitsOfOneAfterTheOther) {
  const TrainingScene scene;
  TrainAction actions[] = {scene.Action(), scene.Action()};
  actions[1].set_seed(1);
  TensorMap expected[2];
  for (int r = 0; r < 2; ++r) {
    const auto run = MakeRun(actions[r], scene.Context());
    while (!run->done()) ASSERT_THAT(run->Step(), IsOk());
    expected[r] = StateCopy(*run);
  }
  at::manual_seed(5);
  const at::Tensor untouched = at::rand({2});
  at::manual_seed(5);
  const std::unique_ptr<TrainingRun> runs[] = {MakeRun(actions[0], scene.Context()),
                                               MakeRun(actions[1], scene.Context())};
  while (!runs[0]->done() || !runs[1]->done()) {
    for (const auto& run : runs) {
      if (run->done()) continue;
      ASSERT_THAT(run->Step(), IsOk());
    }
  }
  EXPECT_THAT(at::rand({2}), TensorEq(untouched));
  for (int r = 0; r < 2; ++r) ExpectSameState(StateCopy(*runs[r]), expected[r]);
  EXPECT_THAT(expected[0].at("model.head.weight"), Not(TensorEq(expected[1].at("model.head.weight"))));
}

TEST(TrainingRun, StopsAtMaxSteps) {
  const TrainingScene scene;
  TrainAction action = scene.Action();
  const auto whole = MakeRun(action, scene.Context());
  const int64_t all = whole->max_steps();
  ASSERT_GT(all, 5);
  action.mutable_training()->set_max_steps(5);
  const auto run = MakeRun(action, scene.Context());
  EXPECT_EQ(run->max_steps(), 5);
  while (!run->done()) ASSERT_THAT(run->Step(), IsOk());
  EXPECT_EQ(run->steps(), 5);
  EXPECT_TRUE(run->between_epochs());
}

TEST(TrainingRun, AScheduleThatStepsEachIterationReachesTheFloorWithTheLastStep) {
  const TrainingScene scene;
  const TrainAction action = scene.Action(R"(
      model { osrci_cnn { dropout: 0 } head { linear {} } }
      loss { term { cross_entropy {} } }
      training {
        epochs: 1 batch_size: 6
        optimizer { learning_rate: 0.1 sgd {} }
        schedule { cosine_restarts { cycle_epochs: 1 stepping: BEFORE_ITERATION } }
      })");
  const auto run = MakeRun(action, scene.Context());
  ASSERT_EQ(run->max_steps(), 2);
  const at::Tensor initial = run->model()->named_parameters()["head.weight"].detach().clone();
  ASSERT_THAT(run->Step(), IsOk());
  const at::Tensor first = run->model()->named_parameters()["head.weight"].detach().clone();
  EXPECT_THAT(first, Not(TensorEq(initial)));
  ASSERT_THAT(run->Step(), IsOk());  // at rate 0
  EXPECT_THAT(run->model()->named_parameters()["head.weight"], TensorEq(first));
  EXPECT_DOUBLE_EQ(run->epochs()[0].learning_rate(), 0.05);  // cos of half a cycle is 0
}

TEST(TrainingRun, DivergenceIsAnError) {
  const TrainingScene scene;
  TrainAction action = scene.Action();
  action.mutable_training()->mutable_optimizer()->set_learning_rate(1e30);
  const auto run = MakeRun(action, scene.Context());
  absl::Status status;
  while (status.ok() && !run->done()) status = run->FinishEpoch();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted, HasSubstr("diverged")));
}

// Memorises noise images. Guessing has a loss of log 3 = 1.1.
TEST(TrainingRun, LearnsInBfloat16WithF32Losses) {
  const TrainingScene scene;
  TrainAction action = scene.Action(R"(
      model { osrci_cnn { dropout: 0 } head { linear {} } }
      open_set { feature_mixup {} }
      loss { term { cross_entropy {} } term { lambda: 0.1 open_auc {} } }
      training {
        epochs: 20 batch_size: 12
        optimizer { learning_rate: 0.01 adam {} } schedule { constant {} }
      })");
  action.mutable_execution()->set_precision(ExecutionSpec::BF16);
  const auto run = MakeRun(action, scene.Context());
  while (!run->done()) ASSERT_THAT(run->FinishEpoch(), IsOk());
  EXPECT_LT(run->epochs().back().term(0), 0.5 * run->epochs().front().term(0));
  for (const auto& [name, tensor] : run->State()) {
    EXPECT_TRUE(!tensor.is_floating_point() || tensor.scalar_type() == at::kFloat) << name;
  }
  // The values of terms are f32, also those on the open set.
  auto source = MakeOpenSetSource(action, scene.Context(), run->model()->feature_dim());
  ASSERT_THAT(source, IsOk());
  const std::shared_ptr<OpenSetSource> shared = *std::move(source);
  Objective objective(action, at::kCPU, 12, run->model(), shared);
  RandomStream random(0, "open_set");
  Batch batch{scene.TrainingImages(), scene.TrainingLabels(), at::arange(12)};
  ASSERT_THAT(DrawOpenSet(shared.get(), &random, &batch), IsOk());
  EXPECT_EQ(objective.Compute(batch).objective.scalar_type(), at::kFloat);
  // bfloat16 keeps 8 bits: the first loss is near that in f32, and not the same.
  action.mutable_execution()->set_precision(ExecutionSpec::FP32);
  const auto exact = MakeRun(action, scene.Context());
  ASSERT_THAT(exact->FinishEpoch(), IsOk());
  EXPECT_NEAR(run->epochs()[0].term(0), exact->epochs()[0].term(0), 0.05);
  EXPECT_NE(run->epochs()[0].term(0), exact->epochs()[0].term(0));
}

// Recomputes a step: the gradients at w and at w + e by LibTorch, and the running statistics after one pass or two.
TEST(TrainingRun, ASharpnessAwareStepByHand) {
  const TrainingScene scene;
  for (const bool both : {false, true}) {
    const TrainAction action = scene.Action(std::string(R"(
      model { vgg32 { width: 2 dropout: 0 } head { linear {} } }
      loss { term { cross_entropy {} } }
      training {
        epochs: 1 batch_size: 12
        optimizer { learning_rate: 0.1 sgd {} sam { rho: 0.2 statistics_of_both_passes: )") +
                                            (both ? "true" : "false") + "} } schedule { constant {} } }");
    const auto run = MakeRun(action, scene.Context());
    const std::shared_ptr<Model> reference = MakeRun(action, scene.Context())->model();
    Model& model = *reference;
    model.train(true);
    const at::Tensor image = scene.TrainingImages(), label = scene.TrainingLabels();
    const auto gradients = [&] {
      model.zero_grad();
      const at::Tensor loss = at::cross_entropy_loss(model.Forward(image).logits, label);
      loss.backward();
      return loss.item<double>();
    };
    const double loss = gradients();
    std::vector<at::Tensor> before;
    {
      const c10::NoGradGuard no_grad;
      at::Tensor squares = at::zeros({});
      for (const at::Tensor& parameter : model.parameters()) squares += parameter.grad().square().sum();
      for (at::Tensor parameter : model.parameters()) {
        before.push_back(parameter.clone());
        parameter.add_(0.2 * parameter.grad() / squares.sqrt());
      }
    }
    TensorMap once;
    for (const auto& buffer : model.named_buffers()) once[buffer.key()] = buffer.value().clone();
    gradients();
    ASSERT_THAT(run->Step(), IsOk());
    EXPECT_NEAR(run->epochs()[0].loss(), loss, 1e-6);  // the first pass's
    const auto parameters = run->model()->named_parameters(), buffers = run->model()->named_buffers();
    const auto expected = model.named_parameters();
    for (size_t p = 0; p < before.size(); ++p) {
      EXPECT_THAT(parameters[expected[p].key()], TensorNear(before[p] - 0.1 * expected[p].value().grad(), 1e-5));
    }
    ASSERT_FALSE(once.empty());
    for (const auto& buffer : model.named_buffers()) {
      EXPECT_THAT(buffers[buffer.key()], TensorNear(both ? buffer.value() : once.at(buffer.key()), 1e-5))
          << buffer.key();
    }
  }
}

constexpr char kAveraged[] = R"(
      model { vgg32 { width: 2 dropout: 0.5 } head { linear {} } }
      augmentation { horizontal_flip {} }
      open_set { noise_images {} }
      loss { term { cross_entropy {} } term { lambda: 0.5 outlier_exposure {} } }
      training {
        epochs: 4 batch_size: 5
        optimizer { learning_rate: 0.05 sgd { momentum: 0.9 } }
        schedule { constant {} }
        swa { start: 0.5 }
      })";

bool Never() { return false; }

TEST(TrainingRun, EndsWithTheMeanOfTheLastEpochs) {
  const TrainingScene scene;
  const TrainAction action = scene.Action(kAveraged);
  const auto run = MakeRun(action, scene.Context());
  std::vector<TensorMap> after;  // the weights after each epoch
  while (!run->done()) {
    ASSERT_THAT(run->FinishEpoch(), IsOk());
    after.emplace_back();
    for (const auto& weight : run->model()->named_parameters()) {
      after.back()[weight.key()] = weight.value().detach().clone();
    }
    EXPECT_EQ(run->averaged_epochs(), std::max<int64_t>(0, static_cast<int64_t>(after.size()) - 2));
  }
  const TensorMap last = StateCopy(*run);
  ASSERT_THAT(run->Finish(&Never), IsOk());
  for (const auto& weight : run->model()->named_parameters()) {
    EXPECT_THAT(weight.value().detach(), TensorNear((after[2].at(weight.key()) + after[3].at(weight.key())) / 2, 1e-6));
  }
  // Each batch norm has the means over 3 batches (5, 5 and 2 images) that have passed through the mean weights.
  TensorMap statistics;
  for (const auto& buffer : run->model()->named_buffers()) statistics[buffer.key()] = buffer.value().clone();
  for (const auto& [name, tensor] : statistics) {
    if (tensor.scalar_type() == at::kLong) {
      EXPECT_EQ(tensor.item<int64_t>(), 3) << name;
    } else {
      EXPECT_THAT(tensor, Not(TensorEq(last.at("model." + name)))) << name;
    }
  }
  // Again, and from the state after the last step or after the end: the same bits.
  const TensorMap finished = StateCopy(*run);
  ASSERT_THAT(run->Finish(&Never), IsOk());
  ExpectSameState(StateCopy(*run), finished);
  for (const TensorMap* state : {&last, &finished}) {
    const auto resumed = MakeRun(action, scene.Context());
    ASSERT_THAT(resumed->Resume(run->epochs(), *state), IsOk());
    ASSERT_THAT(resumed->Finish(&Never), IsOk());
    ExpectSameState(StateCopy(*resumed), finished);
  }
}

// The first batch norm sees images and the mean weights only, so that its statistics can be recomputed.
TEST(TrainingRun, MeasuresBatchNormsOfTheMeanWeights) {
  const TrainingScene scene;
  TrainAction action = scene.Action(kAveraged);
  action.clear_augmentation();
  action.mutable_model()->mutable_vgg32()->set_dropout(0);  // there is one before the first convolution
  action.mutable_training()->set_batch_size(12);
  const auto run = MakeRun(action, scene.Context());
  while (!run->done()) ASSERT_THAT(run->FinishEpoch(), IsOk());
  ASSERT_THAT(run->Finish(&Never), IsOk());
  const auto weights = run->model()->named_parameters();
  std::string first;  // its name without ".running_mean"
  for (const auto& buffer : run->model()->named_buffers()) {
    if (first.empty()) first = buffer.key().substr(0, buffer.key().rfind('.'));
  }
  std::string convolution;
  for (const auto& weight : weights) {
    if (convolution.empty() && weight.value().dim() == 4) convolution = weight.key();
  }
  const c10::NoGradGuard no_grad;
  const at::Tensor x = at::conv2d(scene.TrainingImages(), weights[convolution], {}, {1, 1}, {1, 1});
  const auto buffers = run->model()->named_buffers();
  EXPECT_THAT(buffers[first + ".running_mean"], TensorNear(x.mean({0, 2, 3}), 1e-5));
  EXPECT_THAT(buffers[first + ".running_var"], TensorNear(x.var({0, 2, 3}), 1e-5));
}

TEST(TrainingRun, CanStopWhileItMeasuresBatchNorms) {
  const TrainingScene scene;
  const TrainAction action = scene.Action(kAveraged);
  const auto run = MakeRun(action, scene.Context());
  while (!run->done()) ASSERT_THAT(run->FinishEpoch(), IsOk());
  int asked = 0;
  EXPECT_THAT(run->Finish([&] { return ++asked == 2; }), StatusIs(absl::StatusCode::kCancelled, HasSubstr("is saved")));
  EXPECT_EQ(asked, 2);
}

TEST(TrainingRun, WithoutAveragedEpochsTheLastWeightsRemain) {
  const TrainingScene scene;
  TrainAction action = scene.Action(kAveraged);
  action.mutable_training()->set_max_steps(3);
  const auto run = MakeRun(action, scene.Context());
  while (!run->done()) ASSERT_THAT(run->FinishEpoch(), IsOk());
  const TensorMap last = StateCopy(*run);
  ASSERT_THAT(run->Finish(&Never), IsOk());
  EXPECT_EQ(run->averaged_epochs(), 0);
  ExpectSameState(StateCopy(*run), last);
}

}  // namespace
}  // namespace openset
