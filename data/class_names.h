// Names of classes as people type them.
#ifndef OPENSET_DATA_CLASS_NAMES_H_
#define OPENSET_DATA_CLASS_NAMES_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "data/catalog.pb.h"

namespace openset {

// Returns the name with its accents composed (Unicode's form NFC), as keyboards write it; macOS decomposes the names of
// files. A name that is not UTF-8 is returned as it is.
std::string Composed(absl::string_view name);

// The classes of a data set, by name.
class ClassesByName {
 public:
  explicit ClassesByName(const DataSetInfo& info);

  // Returns the ids of the classes that have the name: the only class with the same bytes or, if there is none, all
  // whose composed names are equal.
  std::vector<int> Find(absl::string_view name) const;

 private:
  absl::flat_hash_map<std::string, int> exact_;
  absl::flat_hash_map<std::string, std::vector<int>> composed_;
};

}  // namespace openset

#endif  // OPENSET_DATA_CLASS_NAMES_H_
