// Damaged copies of a file, for tests of readers.
#ifndef OPENSET_DATA_TESTING_DAMAGE_H_
#define OPENSET_DATA_TESTING_DAMAGE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "data/image_set.h"

namespace openset {

// A file of this content in the test's temporary folder; folders in `name` are made. Returns its path.
std::string WriteTestFile(const std::string& name, const std::string& content);

// What a reader made of damaged files.
struct DamageReport {
  int copies = 0;
  int refused = 0;      // with kDataLoss
  int other_error = 0;  // with another code
  int broken = 0;       // accepted, but the sizes of the set's parts disagree
};

// Calls `read` with `path` holding, in turn, every truncation of `content` (the empty one included) and every copy with
// one byte XORed by 0x01, 0x80 or 0xff: 4 copies per byte.
DamageReport ReadDamaged(const std::string& path, const std::string& content,
                         const std::function<absl::StatusOr<ImageSet>()>& read);

}  // namespace openset

#endif  // OPENSET_DATA_TESTING_DAMAGE_H_
