#include "core/random.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "data/image_source.h"
#include "data/selection.h"
#include "experiments/train/open_set/images_of.h"
#include "experiments/train/open_set/open_set_members.h"

namespace openset {
namespace {

// Five images of one pixel, 0 to 4.
std::unique_ptr<OpenSetSource> FiveImages(double share, ExternalImagesSpec::ShareOf of = ExternalImagesSpec::BATCH,
                                          bool ends_epoch = false, const char* fields = "") {
  ImageSet set;
  set.channels = set.height = set.width = 1;
  SelectedSamples samples;
  for (int64_t i = 0; i < 5; ++i) {
    set.labels.push_back(0);
    set.pixels.push_back(static_cast<uint8_t>(i));
    samples.index.push_back(i);
    samples.label.push_back(0);
  }
  InputFormat format;
  format.size = format.channels = 1;
  auto spec = ParsedWithDefaults<ExternalImagesSpec>(fields);
  spec.set_share(share);
  spec.set_share_of(of);
  spec.set_ends_epoch(ends_epoch);
  OpenSetSetting setting;
  setting.batch_size = 4;
  setting.external_images = [&] {
    return PipelinedImages{*Batcher::Make(MakeMemorySource(set, "train"), samples, 1, at::kCPU),
                           *Pipeline::Make({}, format, at::kCPU)};
  };
  return *Make(spec, setting);
}

Batch BatchOf(int64_t size) {
  Batch batch;
  batch.label = at::zeros({size}, at::kLong);
  return batch;
}

// Returns the numbers of the images.
std::vector<int> Numbers(const at::Tensor& images) {
  std::vector<int> numbers;
  for (int64_t i = 0; i < images.size(0); ++i) numbers.push_back(static_cast<int>(images[i].item<float>() * 255 + 0.5));
  return numbers;
}

TEST(ExternalImages, UsesEveryImageOnceBeforeAnyTwice) {
  const auto source = FiveImages(1.5);
  RandomStream random(1, "external");
  source->StartEpoch(&random);
  std::vector<int> numbers;
  for (const int64_t size : {2, 1, 3}) {  // 3, 2 (rounded up), 5 (rounded up) images
    const std::vector<int> more = Numbers(ImagesOf(source, BatchOf(size), &random).value());
    EXPECT_EQ(more.size(), size == 2 ? 3 : size == 1 ? 2 : 5);
    numbers.insert(numbers.end(), more.begin(), more.end());
  }
  for (const int round : {0, 1}) {
    EXPECT_THAT(std::vector<int>(numbers.begin() + 5 * round, numbers.begin() + 5 * (round + 1)),
                UnorderedElementsAre(0, 1, 2, 3, 4));
  }
  // More images than there are.
  EXPECT_EQ(ImagesOf(source, BatchOf(8), &random).value().size(0), 12);
}

// zip(loaders[0], loaders[1]) in the unified benchmark's methods/oe/train.py: 492,500 images in batches of 512 are 962
// steps, the last of them short.
TEST(ExternalImages, CanEndTheEpoch) {
  const auto source = FiveImages(1, ExternalImagesSpec::BATCH, /*ends_epoch=*/true);
  EXPECT_EQ(source->MostSteps(4), 2);
  EXPECT_EQ(source->MostSteps(5), 1);
  EXPECT_GT(FiveImages(1)->MostSteps(4), 1'000'000);
  RandomStream random(1, "external");
  for (int epoch = 0; epoch < 2; ++epoch) {
    source->StartEpoch(&random);
    std::vector<int> numbers;
    for (const int64_t count : {4, 1}) {
      const std::vector<int> more = Numbers(ImagesOf(source, BatchOf(4), &random).value());
      EXPECT_EQ(more.size(), count);
      numbers.insert(numbers.end(), more.begin(), more.end());
    }
    EXPECT_THAT(numbers, UnorderedElementsAre(0, 1, 2, 3, 4));
  }
}

// Released code draws from a separate loader: 2 * 4 images also for a last batch of 1 (oe_batch_size in
// CIFAR/oe_scratch.py and CIFAR/train.py; 2*args.batch_size in the unified benchmark's train.py).
TEST(ExternalImages, CanUseTheFullBatchSizeForAShortBatch) {
  RandomStream random(1, "external");
  const auto source = FiveImages(2, ExternalImagesSpec::FULL_BATCH);
  for (const int64_t size : {4, 1}) EXPECT_EQ(ImagesOf(source, BatchOf(size), &random).value().size(0), 8) << size;
  EXPECT_EQ(ImagesOf(FiveImages(2), BatchOf(1), &random).value().size(0), 2);
}

// The rest of an epoch's order is dropped, so that a training can resume.
TEST(ExternalImages, EachEpochStartsAnew) {
  const auto used = FiveImages(1);
  RandomStream before(1, "before");
  used->StartEpoch(&before);
  ImagesOf(used, BatchOf(3), &before).value();
  const auto fresh = FiveImages(1);
  RandomStream a(2, "external"), b(2, "external");
  used->StartEpoch(&a);
  fresh->StartEpoch(&b);
  EXPECT_EQ(Numbers(ImagesOf(used, BatchOf(4), &a).value()), Numbers(ImagesOf(fresh, BatchOf(4), &b).value()));
}

// Steps of 4, 4 and 2 of the 5 images: within the first order, across its end, and at the end of the second.
TEST(ExternalImages, ResumesAnEpochBetweenSteps) {
  for (const int taken : {0, 1, 2, 3}) {
    const auto source = FiveImages(1), resumed = FiveImages(1);
    RandomStream random(1, "external"), again(1, "external");
    source->StartEpoch(&random);
    resumed->StartEpoch(&again);
    const int64_t sizes[] = {4, 4, 2, 3, 5};
    for (int s = 0; s < taken; ++s) ImagesOf(source, BatchOf(sizes[s]), &random).value();
    ASSERT_THAT(resumed->ResumeEpoch(source->EpochState()), IsOk());
    EXPECT_EQ(resumed->EpochState(), source->EpochState());
    again.set_state(random.state());
    for (int s = taken; s < 5; ++s) {
      EXPECT_EQ(Numbers(ImagesOf(resumed, BatchOf(sizes[s]), &again).value()),
                Numbers(ImagesOf(source, BatchOf(sizes[s]), &random).value()));
    }
  }
}

TEST(ExternalImages, RefusesAnInvalidState) {
  const auto source = FiveImages(1);
  RandomStream random(1, "external");
  source->StartEpoch(&random);
  const std::vector<int64_t> good = source->EpochState();
  ASSERT_EQ(good.size(), 5);
  std::vector<int64_t> before = good, behind = good;
  before.back() = -1;
  behind.back() = 6;
  const std::vector<std::vector<int64_t>> refused = {{}, {1, 2, 3, 4}, {0, 0, 0, 0, 1}, before, behind};
  for (const std::vector<int64_t>& bad : refused) {
    EXPECT_THAT(source->ResumeEpoch(bad), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_EQ(source->EpochState(), good);
}

TEST(ExternalImages, TheOpenSetIsTheModelsOutput) {
  const auto source = FiveImages(1);
  const ModelOutput known{at::ones({2, 3}), at::ones({2, 4}), {}, {}};
  const ModelOutput extra{at::ones({2, 3}), 2 * at::ones({2, 4}), {}, {}};
  const Batch batch = BatchOf(2);
  const OpenSet open = source->Make({batch, known, extra, {}, {}, {}});
  EXPECT_THAT(open.output.logits, TensorEq(extra.logits));
  EXPECT_THAT(open.weight, TensorEq(at::ones({2})));
}

// OpenMix: the mixtures are images of the step, one for each image of the batch.
TEST(ExternalImages, MixturesCanPassBesideTheBatch) {
  const auto source = FiveImages(1, ExternalImagesSpec::BATCH, /*ends_epoch=*/false, "mix { alpha: 10 }");
  const auto beside =
      FiveImages(1, ExternalImagesSpec::BATCH, /*ends_epoch=*/false, "mix { alpha: 10 } mix_beside_batch: true");
  Batch batch = BatchOf(3), other = BatchOf(3);
  batch.image = other.image = at::tensor({10.0f, 20.0f, 30.0f}).view({3, 1, 1, 1});
  for (const auto& [one, of] : {std::pair{&source, &batch}, {&beside, &other}}) {
    RandomStream random(1, "external");
    (*one)->StartEpoch(&random);
    ASSERT_THAT(DrawOpenSet(one->get(), &random, of), IsOk());
  }
  EXPECT_FALSE(batch.open->image.defined());
  ASSERT_TRUE(other.open->image.defined());
  EXPECT_THAT(other.open->image, TensorEq(batch.open->tensor[0]));
  const double share = other.open->number[0];
  const at::Tensor external = (other.open->image - share * other.image) / (1 - share) * 255;  // of 0, 1, 2, 3, 4
  EXPECT_THAT(external, TensorNear(external.round(), 1e-2));
  EXPECT_GE(external.min().item<double>(), -1e-2);
  EXPECT_LE(external.max().item<double>(), 4 + 1e-2);

  const ModelOutput extra{{}, at::ones({3, 4}), {}, {}};
  const OpenSet open = beside->Make({other, {}, extra, {}, {}, {}});
  EXPECT_THAT(open.output.logits, TensorEq(extra.logits));
  EXPECT_THAT(open.slot, TensorEq(at::arange(3)));
  EXPECT_THAT(open.partner, TensorEq(at::full({3}, -1, at::kLong)));
  EXPECT_THAT(open.share, TensorNear(at::full({3}, share), 1e-6));
}

}  // namespace
}  // namespace openset
