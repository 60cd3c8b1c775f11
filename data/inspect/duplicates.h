// Finds duplicate images.
#ifndef OPENSET_DATA_INSPECT_DUPLICATES_H_
#define OPENSET_DATA_INSPECT_DUPLICATES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/files/digest.h"
#include "data/image_source.h"

namespace openset {

// The features by which two images are compared.
struct ImageFingerprint {
  // SHA-256 of the sizes and the pixels. Two images are exact duplicates if it is equal.
  Sha256::Digest digest;
  // A difference hash of the grey image scaled to 9 x 8: bit 8 y + x says whether pixel (y, x) is darker than (y, x +
  // 1).
  uint64_t difference = 0;
  // The grey image scaled to 8 x 8, row by row.
  std::array<uint8_t, 64> grey;
};
ImageFingerprint FingerprintOf(const Image& image);

// Whether two images are near duplicates: their difference hashes differ in at most 3 bits, and their 8 x 8 grey images
// by at most 8 levels on average. Images with little contrast (8 x 8 grey values within 16 levels) are only compared
// for exact duplicates.
bool AreNear(const ImageFingerprint& a, const ImageFingerprint& b);

// One of N samples, which belong to sets ("train", "test of unknown" ...).
struct DuplicateSample {
  int set = 0;
  int64_t sample = 0;  // a number of the caller's choice
  ImageFingerprint fingerprint;
};

struct DuplicatePair {
  size_t first = 0;  // positions in the list of samples, first < second
  size_t second = 0;
  bool exact = false;
};

// Returns each sample that has an earlier duplicate once, in the order of `second`: paired with its first exact
// duplicate or, if it has none, with its first near duplicate. Near duplicates are searched among samples whose hashes
// agree in one of their four quarters; any two hashes that differ in at most 3 bits do.
std::vector<DuplicatePair> FindDuplicates(const std::vector<DuplicateSample>& samples, bool near);

}  // namespace openset

#endif  // OPENSET_DATA_INSPECT_DUPLICATES_H_
