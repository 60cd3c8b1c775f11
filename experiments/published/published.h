// Published numbers, for comparison with ours.
#ifndef OPENSET_EXPERIMENTS_PUBLISHED_PUBLISHED_H_
#define OPENSET_EXPERIMENTS_PUBLISHED_PUBLISHED_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "experiments/published/published.pb.h"

namespace openset {

// A table with its defaults filled in. Errors: a read error (core/files/system_calls.h); kInvalidArgument, with
// "FILE:LINE: path: ", for text that doesn't parse or breaks a rule of the schema, a row with fewer or more cells than
// there are columns, a deviation or splits without a value, and two rows with one method.
absl::StatusOr<PublishedTable> ReadPublished(const std::string& path);

// What one of our numbers measures.
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
  bool is_same_method;  // else another recipe of it: only the name before the first '+' is the same
  bool is_same_metric;  // else measured by another convention
};

// Returns the number for the same task, group, level and metric, from the row of the method or, if there is none, of
// another recipe of it. If several columns match, prefers the one with the same convention. Returns nothing if there is
// no such number or its cell is empty.
std::optional<PublishedPlace> FindPublished(const PublishedTable& table, const PublishedKey& key);

// "Wang et al. 2022 (OpenAUC), Table 2".
std::string SourceText(const PublishedTable& table);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PUBLISHED_PUBLISHED_H_
