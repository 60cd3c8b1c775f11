// Makes corrupt copies of a file, for tests of readers.
#ifndef OPENSET_DATA_TESTING_DAMAGE_H_
#define OPENSET_DATA_TESTING_DAMAGE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "data/image_source.h"

namespace openset {

// Writes a file in the test's temporary folder, and creates the folders in `name`. Returns its path.
std::string WriteTestFile(const std::string& name, const std::string& content);

// The results of reading corrupt files.
struct DamageReport {
  int copies = 0;
  int refused = 0;      // failed with kDataLoss
  int other_error = 0;  // failed with another code
  int broken = 0;       // read, but the sizes of the set's vectors disagree
};

// Calls `read` after writing to `path`, in turn, every truncation of `content` (including the empty one) and every copy
// with one byte XORed by 0x01, 0x80 or 0xff: 4 copies per byte.
DamageReport ReadDamaged(const std::string& path, const std::string& content,
                         const std::function<absl::StatusOr<ImageSet>()>& read);

}  // namespace openset

#endif  // OPENSET_DATA_TESTING_DAMAGE_H_
