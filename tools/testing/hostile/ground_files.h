// The texts and data that a ground starts with.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_GROUND_FILES_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_GROUND_FILES_H_

#include <string>

namespace openset {

// Writes them below `folder`. The store and the bundle are made of these by running the library.
void WriteGroundFiles(const std::string& folder);

// A file of data/readers/testdata.
std::string StoredImage(const std::string& name);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_GROUND_FILES_H_
