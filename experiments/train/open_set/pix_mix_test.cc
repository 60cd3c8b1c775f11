#include "experiments/train/open_set/pix_mix.h"

#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "experiments/train/open_set/images_of.h"

namespace openset {
namespace {

// A source that returns these images.
class Pictures : public OpenSetSource {
 public:
  explicit Pictures(absl::StatusOr<at::Tensor> images) : images_(std::move(images)) {}
  absl::Status Draw(const DrawContext& /*context*/) override { return images_.status(); }
  void Take(Staging* /*staging*/, Batch* batch) const override { batch->open->image = *images_; }
  OpenSet Make(const Context& /*context*/) override { return {}; }
  std::vector<int64_t> EpochState() const override { return {7}; }
  absl::Status ResumeEpoch(absl::Span<const int64_t> state) override {
    return state == absl::Span<const int64_t>({7}) ? absl::OkStatus() : absl::InvalidArgumentError("another");
  }

 private:
  const absl::StatusOr<at::Tensor> images_;
};

PixMixSpec Spec() { return ParsedWithDefaults<PixMixSpec>(""); }

at::Tensor Bytes(std::initializer_list<int> values, at::IntArrayRef shape) {
  return at::tensor(std::vector<int>(values), at::kInt).to(at::kByte).view(shape);
}

// Expectations: add() and multiply() of pixmix_utils.py with a get_ab() that returns these numbers (PyTorch 2.11,
// Pillow 13.0).
TEST(ApplyPixMix, EqualsTheReleasedCode) {
  const at::Tensor images = Bytes({0, 255, 100, 60, 200, 130, 10, 240, 20, 250, 30, 128}, {2, 3, 1, 2});
  const at::Tensor pictures = Bytes({50, 0, 150, 255, 250, 90, 0, 77, 128, 33, 255, 199}, {2, 3, 1, 2});
  const std::vector<PixMixDraw> draws = {
      {{}, {{{}, false, 0.8, 0.3}, {AugMixStep{AugMixOp::kSolarize, 128}, true, 1.2, -0.4}}},
      {AugMixStep{AugMixOp::kSolarize, 200}, {{{}, true, 0.9, 0.1}}}};
  const std::vector<double> expected = {1.0,      1.0,       0.4729176, 0.57703,   1.0,       0.4604253,
                                        1.01e-05, 0.0692773, 0.0944295, 0.0236801, 0.1457213, 0.5246071};
  EXPECT_THAT(ApplyPixMix(images, pictures, draws), TensorNear(at::tensor(expected).view({2, 3, 1, 2}), 1e-6));
  EXPECT_THAT(ApplyPixMix(images, pictures, {{}, {}}), TensorNear(images.to(at::kFloat) / 255, 1e-7));
}

// About half of 4,000 images are changed first, and the rounds are uniform from 0 to 4: each count is within 5 standard
// deviations (chance of failing below 1e-5).
TEST(DrawPixMix, IsHalfAndHalf) {
  RandomStream random(3, "draw");
  const std::vector<PixMixDraw> draws = DrawPixMix(Spec(), 4000, 32, 32, &random);
  int starts = 0, whole = 0;
  std::vector<int> rounds(5);
  for (const PixMixDraw& draw : draws) {
    starts += draw.start.has_value();
    ++rounds.at(draw.rounds.size());
    for (const PixMixRound& round : draw.rounds) {
      if (round.b < 0) {
        ++whole;
        EXPECT_TRUE(round.a >= 1 && round.a <= 2 && round.b >= -1);
      } else {
        EXPECT_TRUE(round.a >= 0 && round.a <= 1 && round.b <= 1);
      }
    }
  }
  EXPECT_NEAR(starts, 2000, 5 * 31.6);
  for (const int count : rounds) EXPECT_NEAR(count, 800, 5 * 25.3);
  EXPECT_NEAR(whole, 4000, 5 * 70);  // of 8,000 rounds, whose number varies too
}

TEST(PixMixedImages, ReplaceTheBatchAtItsScale) {
  const at::Tensor unit = at::arange(2 * 3 * 16, at::kFloat).view({2, 3, 4, 4}) / 255;
  const auto normalised = [](const at::Tensor& values) { return (values - 0.5) / 0.25; };
  const Batch batch{normalised(unit), at::tensor({4, 2}, at::kLong), {}};
  // One picture is used for all images.
  const auto source = MakePixMixedImages(Spec(), {4, 3, {0.5}, {0.25}}, at::kCPU,
                                         std::make_unique<Pictures>(normalised(1 - unit.narrow(0, 0, 1))));
  RandomStream random(1, "mix"), same(1, "mix");
  const at::Tensor mixed = ImagesOf(source, batch, &random).value();
  const std::vector<PixMixDraw> draws = DrawPixMix(Spec(), 2, 4, 4, &same);
  const at::Tensor bytes = (unit * 255).round().to(at::kByte);
  EXPECT_THAT(
      mixed,
      TensorNear(normalised(ApplyPixMix(bytes, (255 - bytes.narrow(0, 0, 1)).repeat({2, 1, 1, 1}), draws)), 1e-5));
  EXPECT_TRUE(source->ReplacesBatch());

  ModelOutput output;
  output.logits = at::ones({2, 5});
  const OpenSet open = source->Make({batch, output, output, {}, {}, {}});
  EXPECT_THAT(open.slot, TensorEq(at::arange(2)));
  EXPECT_THAT(open.partner, TensorEq(batch.label));
  EXPECT_THAT(open.share, TensorEq(at::ones({2})));
  EXPECT_THAT(source->EpochState(), ::testing::ElementsAre(7));
  EXPECT_FALSE(source->ResumeEpoch({8}).ok());
  const auto without = MakePixMixedImages(Spec(), {4, 3, {}, {}}, at::kCPU,
                                          std::make_unique<Pictures>(absl::NotFoundError("no picture")));
  EXPECT_THAT(ImagesOf(without, batch, &random), StatusIs(absl::StatusCode::kNotFound, "no picture"));
}

}  // namespace
}  // namespace openset
