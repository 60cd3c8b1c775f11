// Proposes clusters: samples that belong together, so that they should be in one part and be resampled together.
#ifndef OPENSET_DATA_INSPECT_CLUSTERS_H_
#define OPENSET_DATA_INSPECT_CLUSTERS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace openset {

// A division of N samples, which are alone at first.
class ClusterUnion {
 public:
  explicit ClusterUnion(int64_t samples);

  // Puts the clusters of two samples together.
  void Join(int64_t a, int64_t b);

  // The cluster of each sample: numbers from 0 in the order of their first samples.
  std::vector<int64_t> Numbers();

 private:
  int64_t RootOf(int64_t sample);

  std::vector<int64_t> parent_;
};

// Joins all pairs of rows of `features` [N, dim] whose cosine is at least `similarity`. Rows of zeros are similar to
// none. Takes N^2 dim / 2 multiplications; `progress` gets the number of rows that are done.
// Precondition: 0 < similarity <= 1; all numbers are finite.
void JoinSimilar(absl::Span<const float> features, int64_t dim, double similarity,
                 const std::function<void(int64_t rows)>& progress, ClusterUnion* clusters);

// What files have in common that show the same patient or video. For each path: the folders between the file and the
// folder that contains all files of its class ("patient_7/day_1"); if no file of the class has such folders, what
// precedes the number at the end of its name and a separator, "_", "-", "." or a space ("video12" of
// "video12_0031.png"). "" if there is neither, or if all files of the class have the same. Precondition: both lists
// have the same length.
std::vector<std::string> GroupNames(const std::vector<std::string>& paths, const std::vector<std::string>& class_of);

}  // namespace openset

#endif  // OPENSET_DATA_INSPECT_CLUSTERS_H_
