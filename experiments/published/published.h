// Published numbers, for comparison with ours.
#ifndef OPENSET_EXPERIMENTS_PUBLISHED_PUBLISHED_H_
#define OPENSET_EXPERIMENTS_PUBLISHED_PUBLISHED_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "experiments/published/published.pb.h"

namespace openset {

// A table with its defaults filled in. Errors: those of ReadTextProto(); kInvalidArgument with "FILE:LINE: path: " for
// a row with fewer or more cells than there are columns, for a deviation or splits without a value, and for two rows
// with one method.
absl::StatusOr<PublishedTable> ReadPublished(const std::string& path);

// What a number of ours measures.
struct PublishedKey {
  std::string task;
  std::string method;
  const MetricSpec* metric;
  std::string group;
  int known_classes;
  int unknown_classes;
};

// Where its published counterpart is; pointers into the table.
struct PublishedPlace {
  const PublishedRow* row;
  const PublishedColumn* column;
  const PublishedCell* cell;
  bool is_same_method;  // else another recipe of it: what stands before the first '+' is the same
  bool is_same_metric;  // else by another convention
};

// The number of the same task, group, level and metric, by the row that has the method or, if none has, another recipe
// of it. Of several columns the one with the same convention. None if there is no such number, or it is missing there.
std::optional<PublishedPlace> FindPublished(const PublishedTable& table, const PublishedKey& key);

// "Wang et al. 2022 (OpenAUC), Table 2".
std::string SourceText(const PublishedTable& table);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PUBLISHED_PUBLISHED_H_
