// Images that are there twice.
#ifndef OPENSET_DATA_INSPECT_DUPLICATES_H_
#define OPENSET_DATA_INSPECT_DUPLICATES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/files/digest.h"
#include "data/image_source.h"

namespace openset {

// What two images are compared by.
struct ImageFingerprint {
  // SHA-256 of the sizes and the pixels: two images are exact duplicates where it is the same.
  Sha256::Digest digest;
  // A difference hash of the grey image scaled to 9 x 8: bit 8 y + x says whether pixel (y, x) is darker than (y, x +
  // 1).
  uint64_t difference = 0;
  // The grey image scaled to 8 x 8, row by row.
  std::array<uint8_t, 64> grey;
};
ImageFingerprint FingerprintOf(const Image& image);

// Near duplicates: their difference hashes differ in at most 3 bits, and their 8 x 8 grey images by at most 8 levels on
// average. Images of little contrast (8 x 8 grey values within 16 levels) are compared for exact duplicates only.
bool AreNear(const ImageFingerprint& a, const ImageFingerprint& b);

// Of N samples in sets ("train", "test of unknown" ...).
struct DuplicateSample {
  int set = 0;
  int64_t sample = 0;  // the caller's number
  ImageFingerprint fingerprint;
};

struct DuplicatePair {
  size_t first = 0;  // places in the list of samples, first < second
  size_t second = 0;
  bool exact = false;
};

// Every sample that has an earlier duplicate, once: with the first sample that is its exact duplicate, else with the
// first that is a near one. In the order of `second`. Near ones are looked for where the hashes agree in one of four
// quarters, which any two within 3 bits do.
std::vector<DuplicatePair> FindDuplicates(const std::vector<DuplicateSample>& samples, bool near);

}  // namespace openset

#endif  // OPENSET_DATA_INSPECT_DUPLICATES_H_
