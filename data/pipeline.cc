#include "data/pipeline.h"

#include <sys/mman.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/in_parallel.h"
#include "core/logging.h"
#include "core/status_macros.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace openset {
namespace {

#if defined(__x86_64__)

#define OPENSET_AVX2 __attribute__((target("avx2")))

constexpr int64_t kBlock = 8;

OPENSET_AVX2 inline __m128i Load(const uint8_t* bytes) {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes));
}

// The table's values for eight bytes, whose channels' rows begin at `row`.
OPENSET_AVX2 inline __m256 Values(const float* table, __m256i row, __m128i eight) {
  return _mm256_i32gather_ps(table, _mm256_add_epi32(row, _mm256_cvtepu8_epi32(eight)), sizeof(float));
}

// Converts all full blocks, and returns their number of pixels.
OPENSET_AVX2 int64_t LookUpBlocks(const uint8_t* planes, int64_t pixels, const float* table, float* values) {
  // The positions from which the 24 bytes r0 g0 b0 r1 ... b7 come, in r0 g0 r1 g1 ... g7 and in b0 ... b7.
  const __m128i low_of_two = _mm_setr_epi8(0, 1, -1, 2, 3, -1, 4, 5, -1, 6, 7, -1, 8, 9, -1, 10);
  const __m128i low_of_blue = _mm_setr_epi8(-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1);
  const __m128i high_of_two = _mm_setr_epi8(11, -1, 12, 13, -1, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m128i high_of_blue = _mm_setr_epi8(-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i first_rows = _mm256_setr_epi32(0, 256, 512, 0, 256, 512, 0, 256);
  const __m256i second_rows = _mm256_setr_epi32(512, 0, 256, 512, 0, 256, 512, 0);
  const __m256i third_rows = _mm256_setr_epi32(256, 512, 0, 256, 512, 0, 256, 512);
  int64_t p = 0;
  for (; p + kBlock <= pixels; p += kBlock, values += 3 * kBlock) {
    const __m128i two = _mm_unpacklo_epi8(Load(planes + p), Load(planes + pixels + p));
    const __m128i blue = Load(planes + 2 * pixels + p);
    const __m128i low = _mm_or_si128(_mm_shuffle_epi8(two, low_of_two), _mm_shuffle_epi8(blue, low_of_blue));
    const __m128i high = _mm_or_si128(_mm_shuffle_epi8(two, high_of_two), _mm_shuffle_epi8(blue, high_of_blue));
    _mm256_storeu_ps(values, Values(table, first_rows, low));
    _mm256_storeu_ps(values + kBlock, Values(table, second_rows, _mm_srli_si128(low, 8)));
    _mm256_storeu_ps(values + 2 * kBlock, Values(table, third_rows, high));
  }
  return p;
}

#undef OPENSET_AVX2

#endif

}  // namespace

void LookUpColours(const uint8_t* planes, int64_t pixels, const float* table, float* values) {
  int64_t p = 0;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) p = LookUpBlocks(planes, pixels, table, values);
#endif
  for (; p < pixels; ++p) {
    for (int64_t c = 0; c < 3; ++c) values[3 * p + c] = table[256 * c + planes[c * pixels + p]];
  }
}

namespace {

// f32 [channels or 1, 1, 1]; undefined if there are no values.
absl::StatusOr<at::Tensor> ChannelValues(absl::string_view name, const std::vector<double>& values, int channels,
                                         at::Device device) {
  if (values.empty()) return at::Tensor();
  if (values.size() != 1 && values.size() != channels) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": must have one value, or one for each of the ", channels,
                                                   " channels (has ", values.size(), ")"));
  }
  return at::tensor(values, at::kFloat).reshape({-1, 1, 1}).to(device);
}

absl::Status CheckFractionsAreLast(const std::vector<std::unique_ptr<const Augmentation>>& augmentations,
                                   absl::string_view path) {
  for (size_t i = 0; i + 1 < augmentations.size(); ++i) {
    if (!augmentations[i]->gives_fractions()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        path, "[", i, "]: leaves its images unrounded (rounding: NONE), so that no augmentation may follow"));
  }
  return absl::OkStatus();
}

// Requests pages of 2 MB, where the system has them, for memory that has not been written to. Allocating 38 MB (64
// images of 224 x 224) in pages of 4 kB takes longer than filling them. Blocks below 32 MB may be reused by the
// allocator.
void AskForLargePages(const at::Tensor& fresh) {
  constexpr uintptr_t kPage = 2 << 20, kLeast = 32 << 20;
  if (fresh.nbytes() < kLeast) return;
  const auto begin = reinterpret_cast<uintptr_t>(fresh.mutable_data_ptr());
  const uintptr_t first = (begin + kPage - 1) / kPage * kPage, end = (begin + fresh.nbytes()) / kPage * kPage;
  madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);  // failure is harmless
}

// Draws for augmentations that are applied in order. Returns the size of their results.
PixelSize DrawAll(absl::Span<const std::unique_ptr<const Augmentation>> augmentations, int64_t count, PixelSize size,
                  RandomStream* random, Staging* staging) {
  for (const auto& augmentation : augmentations) {
    augmentation->Draw(count, size, random, staging);
    size = augmentation->SizeAfter(size);
  }
  return size;
}

}  // namespace

absl::StatusOr<Pipeline> Pipeline::Make(std::vector<std::unique_ptr<const Augmentation>> augmentations,
                                        const InputFormat& format, at::Device device) {
  Pipeline pipeline;
  if (format.is_features) {
    if (!augmentations.empty()) return absl::InvalidArgumentError("augmentation: is for images, not for features");
    pipeline.is_features_ = true;
    pipeline.image_sizes_ = {1, 1, format.size};
    return pipeline;
  }
  OPENSET_ASSIGN_OR_RETURN(pipeline.mean_, ChannelValues("mean", format.mean, format.channels, device));
  OPENSET_ASSIGN_OR_RETURN(pipeline.std_, ChannelValues("std", format.std, format.channels, device));
  pipeline.image_sizes_ = {format.channels, format.size, format.size};
  pipeline.layout_ = format.layout;
  if (device.is_cpu() && format.layout == at::MemoryFormat::ChannelsLast) {
    pipeline.table_ = pipeline.Normalised(at::arange(256, at::kFloat).expand({format.channels, 1, 256})).contiguous();
  }
  OPENSET_RETURN_IF_ERROR(CheckFractionsAreLast(augmentations, "augmentation"));
  SizeEffect last_effect = SizeEffect::kKeeps;
  for (size_t i = 0; i < augmentations.size(); ++i) {
    const SizeEffect effect = augmentations[i]->size_effect();
    if (effect != SizeEffect::kKeeps) last_effect = effect;
    if (effect == SizeEffect::kFixes && pipeline.first_ == 0) pipeline.first_ = i + 1;
  }
  if (last_effect == SizeEffect::kChanges) {
    return absl::InvalidArgumentError(
        "augmentation: the last one that changes sizes leaves images of different sizes; put center_crop, "
        "random_resized_crop or resize after it");
  }
  if (last_effect == SizeEffect::kKeeps) pipeline.first_resize_.emplace(format.size);
  pipeline.augmentations_ = std::move(augmentations);
  return pipeline;
}

absl::Status Pipeline::AddViews(int count, std::vector<std::unique_ptr<const Augmentation>> augmentations,
                                bool from_resized) {
  OPENSET_RETURN_IF_ERROR(CheckFractionsAreLast(augmentations, "views.augmentation"));
  if (!from_resized && !augmentations_.empty() && augmentations_.back()->gives_fractions() && !augmentations.empty()) {
    return absl::InvalidArgumentError(
        "views.augmentation: needs 8-bit images, but those of augmentation are unrounded (rounding: NONE)");
  }
  views_ = count;
  views_from_resized_ = from_resized;
  view_augmentations_ = std::move(augmentations);
  return absl::OkStatus();
}

absl::Status Pipeline::CheckSize(PixelSize size) const {
  constexpr int64_t kMostPixels = int64_t{1} << 28;
  PixelSize now = size;
  const auto check = [&](const Augmentation& augmentation) {
    const int64_t pixels = augmentation.MostPixels(now);
    now = augmentation.SizeAfter(now);
    if (pixels <= kMostPixels) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("is ", size.width, " x ", size.height, " pixels, of which resizing or padding would make ", pixels,
                     ", more than ", kMostPixels, ": use a smaller side or padding, or leave out the image"));
  };
  if (first_resize_.has_value()) return check(*first_resize_);
  for (const auto& augmentation : absl::MakeConstSpan(augmentations_).first(first_)) {
    OPENSET_RETURN_IF_ERROR(check(*augmentation));
  }
  return absl::OkStatus();
}

at::Tensor Pipeline::Augment(Augmentations augmentations, const at::Tensor& given, Staging* staging) const {
  at::Tensor images = given.expand({-1, image_sizes_[0], -1, -1});
  for (const auto& augmentation : augmentations) images = augmentation->ApplyDrawn(images.contiguous(), staging);
  return images;
}

PixelSize Pipeline::DrawFirst(int64_t count, PixelSize size, RandomStream* random, Staging* staging) const {
  if (first_resize_.has_value()) return first_resize_->SizeAfter(size);
  return DrawAll(absl::MakeConstSpan(augmentations_).first(first_), count, size, random, staging);
}

at::Tensor Pipeline::ApplyFirstDrawn(const at::Tensor& images, Staging* staging) const {
  if (first_resize_.has_value()) return first_resize_->ApplyDrawn(images, staging);
  return Augment(absl::MakeConstSpan(augmentations_).first(first_), images, staging);
}

at::Tensor Pipeline::ApplyFirst(const at::Tensor& images, RandomStream* random) const {
  Staging staging;
  DrawFirst(images.size(0), {images.size(2), images.size(3)}, random, &staging);
  staging.MoveTo(images.device());
  return ApplyFirstDrawn(images, &staging);
}

at::Tensor Pipeline::Normalised(const at::Tensor& images) const {
  at::Tensor values = images / 255;
  if (mean_.defined()) values.sub_(mean_);
  if (std_.defined()) values.div_(std_);
  return values;
}

at::Tensor Pipeline::ToValues(const at::Tensor& images) const {
  if (is_features_) return images.contiguous().view(at::kFloat);
  CHECK(images.sizes().slice(1) == at::IntArrayRef(image_sizes_)) << "images of " << images.sizes();
  if (images.scalar_type() == at::kByte && table_.defined() && image_sizes_[0] == 3 && image_sizes_[1] > 1) {
    return LookedUp(images.contiguous());
  }
  // Three passes over contiguous channels are faster than one over channels-last.
  return Normalised(images.contiguous()).contiguous(layout_);
}

at::Tensor Pipeline::LookedUp(const at::Tensor& images) const {
  at::Tensor values = at::empty(images.sizes(), at::kFloat, at::MemoryFormat::ChannelsLast);
  AskForLargePages(values);
  const int64_t pixels = images.size(2) * images.size(3);
  const uint8_t* in = images.const_data_ptr<uint8_t>();
  const float* table = table_.const_data_ptr<float>();
  float* out = values.mutable_data_ptr<float>();
  // Images in a piece of work: enough to make starting a thread worthwhile.
  const int64_t piece = 1 + (1 << 20) / (3 * pixels);
  InParallelRanges(images.size(0), piece, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) LookUpColours(in + 3 * i * pixels, pixels, table, out + 3 * i * pixels);
  });
  return values;
}

at::Tensor Pipeline::Apply(const at::Tensor& images, RandomStream* random) const {
  Staging staging;
  const PixelSize size = DrawFirst(images.size(0), {images.size(2), images.size(3)}, random, &staging);
  DrawAll(Rest(), images.size(0), size, random, &staging);
  staging.MoveTo(images.device());
  return ToValues(Augment(Rest(), ApplyFirstDrawn(images, &staging), &staging));
}

void Pipeline::Draw(int64_t count, PixelSize size, RandomStream* random, Staging* staging) const {
  DrawRest(count, DrawFirst(count, size, random, staging), random, staging);
}

void Pipeline::DrawRest(int64_t count, PixelSize size, RandomStream* random, Staging* staging) const {
  const PixelSize after = DrawAll(Rest(), count, size, random, staging);
  const PixelSize start = views_from_resized_ ? size : after;
  for (int view = 0; view < views_; ++view) DrawAll(view_augmentations_, count, start, random, staging);
}

std::vector<at::Tensor> Pipeline::ApplyWithViews(const at::Tensor& images, Staging* staging) const {
  return ApplyRest(ApplyFirstDrawn(images, staging), staging);
}

std::vector<at::Tensor> Pipeline::ApplyRest(const at::Tensor& given, Staging* staging) const {
  const at::Tensor images = Augment(Rest(), given, staging);
  std::vector<at::Tensor> values = {ToValues(images)};
  for (int view = 0; view < views_; ++view) {
    values.push_back(ToValues(Augment(view_augmentations_, views_from_resized_ ? given : images, staging)));
  }
  return values;
}

}  // namespace openset
