// What is known about samples before their images are read.
#ifndef OPENSET_DATA_SAMPLE_INDEX_H_
#define OPENSET_DATA_SAMPLE_INDEX_H_

#include <cstdint>
#include <string>
#include <vector>

namespace openset {

// N samples in the order in which they are stored: 8 bytes per sample.
struct SampleIndex {
  std::vector<int32_t> label;           // [N], class ids of the data set
  std::vector<int32_t> group;           // [N], index in group_name of a sample's part; empty: all are of the first part
  std::vector<std::string> group_name;  // parts of the data set

  int64_t size() const { return static_cast<int64_t>(label.size()); }
};

}  // namespace openset

#endif  // OPENSET_DATA_SAMPLE_INDEX_H_
