#include "data/inspect/duplicates.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "data/inspect/contact_sheet.h"

namespace openset {
namespace {

constexpr int kMaxBits = 3;
constexpr int kMaxLevels = 8;
constexpr int kMinContrast = 16;

Image Grey(const Image& image) {
  if (image.channels == 1) return image;
  const int64_t size = image.height * image.width;
  Image grey{1, image.height, image.width, std::vector<uint8_t>(size)};
  for (int64_t i = 0; i < size; ++i) {
    const int sum = 299 * image.pixels[i] + 587 * image.pixels[size + i] + 114 * image.pixels[2 * size + i];
    grey.pixels[i] = static_cast<uint8_t>((sum + 500) / 1000);
  }
  return grey;
}

bool IsFlat(const ImageFingerprint& image) {
  const auto [low, high] = std::minmax_element(image.grey.begin(), image.grey.end());
  return *high - *low < kMinContrast;
}

}  // namespace

ImageFingerprint FingerprintOf(const Image& image) {
  ImageFingerprint fingerprint;
  Sha256 sum;
  sum.Update(absl::StrCat(image.channels, " ", image.height, " ", image.width, " "));
  sum.Update(absl::string_view(reinterpret_cast<const char*>(image.pixels.data()), image.pixels.size()));
  fingerprint.digest = sum.Finish();
  const Image grey = Grey(image);
  const Image wide = Scale(grey, 8, 9);
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) {
      const bool darker = wide.pixels[9 * y + x] < wide.pixels[9 * y + x + 1];
      fingerprint.difference |= uint64_t{darker} << (8 * y + x);
    }
  }
  const Image small = Scale(grey, 8, 8);
  std::copy(small.pixels.begin(), small.pixels.end(), fingerprint.grey.begin());
  return fingerprint;
}

bool AreNear(const ImageFingerprint& a, const ImageFingerprint& b) {
  if (__builtin_popcountll(a.difference ^ b.difference) > kMaxBits) return false;
  int levels = 0;
  for (int i = 0; i < 64; ++i) levels += std::abs(a.grey[i] - b.grey[i]);
  return levels <= 64 * kMaxLevels && !IsFlat(a) && !IsFlat(b);
}

std::vector<DuplicatePair> FindDuplicates(const std::vector<DuplicateSample>& samples, bool near) {
  std::map<Sha256::Digest, size_t> first_of;
  // Earlier samples by each quarter of the hash. No two of them are exact duplicates.
  std::unordered_map<uint64_t, std::vector<size_t>> quarter[4];
  std::vector<DuplicatePair> pairs;
  for (size_t i = 0; i < samples.size(); ++i) {
    const ImageFingerprint& image = samples[i].fingerprint;
    const auto [entry, is_new] = first_of.emplace(image.digest, i);
    if (!is_new) {
      pairs.push_back({entry->second, i, true});
      continue;
    }
    if (!near || IsFlat(image)) continue;
    size_t found = i;
    for (int q = 0; q < 4; ++q) {
      for (const size_t other : quarter[q][image.difference >> (16 * q) & 0xffff]) {
        if (other < found && AreNear(samples[other].fingerprint, image)) found = other;
      }
    }
    if (found < i) pairs.push_back({found, i, false});
    for (int q = 0; q < 4; ++q) quarter[q][image.difference >> (16 * q) & 0xffff].push_back(i);
  }
  return pairs;
}

}  // namespace openset
