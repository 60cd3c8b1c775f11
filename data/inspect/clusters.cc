#include "data/inspect/clusters.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "Eigen/Core"
#include "absl/strings/string_view.h"

namespace openset {

ClusterUnion::ClusterUnion(int64_t samples) : parent_(samples) { std::iota(parent_.begin(), parent_.end(), 0); }

int64_t ClusterUnion::RootOf(int64_t sample) {
  while (parent_[sample] != sample) sample = parent_[sample] = parent_[parent_[sample]];
  return sample;
}

void ClusterUnion::Join(int64_t a, int64_t b) {
  const int64_t root_a = RootOf(a), root_b = RootOf(b);
  parent_[std::max(root_a, root_b)] = std::min(root_a, root_b);
}

std::vector<int64_t> ClusterUnion::Numbers() {
  std::vector<int64_t> numbers(parent_.size());
  int64_t count = 0;
  for (size_t i = 0; i < parent_.size(); ++i) {
    const int64_t root = RootOf(static_cast<int64_t>(i));  // the first sample
    numbers[i] = root == static_cast<int64_t>(i) ? count++ : numbers[root];
  }
  return numbers;
}

void JoinSimilar(absl::Span<const float> features, int64_t dim, double similarity,
                 const std::function<void(int64_t rows)>& progress, ClusterUnion* clusters) {
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  constexpr int64_t kBlock = 512;
  const int64_t rows = static_cast<int64_t>(features.size()) / dim;
  Rows unit = Eigen::Map<const Rows>(features.data(), rows, dim);
  for (int64_t i = 0; i < rows; ++i) {
    const double norm = unit.row(i).cast<double>().norm();
    if (norm > 0) unit.row(i) = (unit.row(i).cast<double>() / norm).cast<float>();
  }
  // Rounded sums of two equal rows may be below 1.
  constexpr double kRounding = 1e-5;
  const auto least = static_cast<float>(similarity - kRounding);
  for (int64_t first = 0; first < rows; first += kBlock) {
    const int64_t count = std::min(kBlock, rows - first);
    for (int64_t other = 0; other <= first; other += kBlock) {
      const int64_t other_count = std::min(kBlock, rows - other);
      const Rows cosine = unit.middleRows(first, count) * unit.middleRows(other, other_count).transpose();
      for (int64_t i = 0; i < count; ++i) {
        for (int64_t j = 0; j < other_count && other + j < first + i; ++j) {
          if (cosine(i, j) >= least) clusters->Join(first + i, other + j);
        }
      }
    }
    progress(first + count);
  }
}

namespace {

// "video12" of "video12_0031.png"; "" if the name has no number at its end, or nothing before it.
std::string BeforeNumber(absl::string_view name) {
  name = name.substr(0, name.rfind('.'));
  const size_t end = name.find_last_not_of("0123456789");
  if (end == name.npos || end + 1 == name.size()) return "";
  const size_t last = name.find_last_not_of("_-. ", end);
  return last == name.npos || last == end ? "" : std::string(name.substr(0, last + 1));
}

}  // namespace

std::vector<std::string> GroupNames(const std::vector<std::string>& paths, const std::vector<std::string>& class_of) {
  std::map<std::string, std::string> shared;  // by class, the folder of all of its files, "a/b/"
  for (size_t i = 0; i < paths.size(); ++i) {
    const std::string folder = paths[i].substr(0, paths[i].rfind('/') + 1);
    const auto [entry, is_first] = shared.emplace(class_of[i], folder);
    if (is_first) continue;
    std::string& common = entry->second;
    const auto differ = std::mismatch(common.begin(), common.end(), folder.begin(), folder.end()).first;
    common.erase(differ, common.end());
    common.resize(common.rfind('/') + 1);
  }
  std::set<std::string> have_folders;  // classes
  for (size_t i = 0; i < paths.size(); ++i) {
    if (shared[class_of[i]].size() < paths[i].rfind('/') + 1) have_folders.insert(class_of[i]);
  }
  std::vector<std::string> groups;
  std::map<std::string, std::set<std::string>> of_class;
  for (size_t i = 0; i < paths.size(); ++i) {
    const size_t begin = shared[class_of[i]].size(), end = paths[i].rfind('/') + 1;
    const bool has_folders = have_folders.count(class_of[i]) > 0;
    groups.push_back(begin < end   ? paths[i].substr(begin, end - begin - 1)
                     : has_folders ? std::string()
                                   : BeforeNumber(paths[i].substr(end)));
    of_class[class_of[i]].insert(groups.back());
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    if (of_class[class_of[i]].size() < 2) groups[i].clear();
  }
  return groups;
}

}  // namespace openset
