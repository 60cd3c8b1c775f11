// Names of classes as people type them.
#ifndef OPENSET_DATA_CLASS_NAMES_H_
#define OPENSET_DATA_CLASS_NAMES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "data/catalog.pb.h"

namespace openset {

// Returns the name with its accents composed (Unicode's form NFC), as keyboards write it; macOS decomposes the names of
// files. A name that is not UTF-8 is returned as it is.
std::string Composed(absl::string_view name);

// Returns the ids of the classes that have the name: the only class with the same bytes or, if there is none, all whose
// composed names are equal.
std::vector<int> ClassesNamed(absl::string_view name, const DataSetInfo& info);

}  // namespace openset

#endif  // OPENSET_DATA_CLASS_NAMES_H_
