// The initial texts and data of a ground.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_GROUND_FILES_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_GROUND_FILES_H_

#include <string>

namespace openset {

// Writes these files below `folder`. Running the library there makes the ground's store and its bundle.
void WriteGroundFiles(const std::string& folder);

// A file of data/readers/testdata.
std::string StoredImage(const std::string& name);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_GROUND_FILES_H_
