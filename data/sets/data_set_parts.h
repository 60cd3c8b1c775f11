// The parts of a data set, according to its catalog entry.
#ifndef OPENSET_DATA_SETS_DATA_SET_PARTS_H_
#define OPENSET_DATA_SETS_DATA_SET_PARTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/catalog.pb.h"

namespace openset {

// Returns the names of the parts, in the catalog's order.
std::vector<std::string> PartNames(const DataSetInfo& info);

// Returns the part in the first layout; all layouts have the same parts. Errors: kNotFound with the known names.
absl::StatusOr<const DataSetPart*> FindPart(const DataSetInfo& info, absl::string_view part);

// Returns the files of a part in the order of its format's fields.
std::vector<const DataFile*> FilesOf(const DataSetPart& part);

// Whether the catalog has the checksum of each file of a part. It has none for images in separate files.
bool HasChecksums(const DataSetPart& part);

// Whether the part's samples have clusters.
bool HasClusters(const DataSetPart& part);

// Sets the digest of a part whose files are not on this machine to the one in a record; PartDigest() then returns it.
// It is stored in content_sha256, in a form that no digest of files has.
void TellPartDigest(absl::string_view digest, DataSetPart* part);
bool IsToldByDigest(const DataSetPart& part);

// Returns the digest of the part's PartIdentity, which does not depend on the layout that is read, nor on layouts that
// are added after the first. Errors: as FindPart().
absl::StatusOr<std::string> PartDigest(const DataSetInfo& info, absl::string_view part);

}  // namespace openset

#endif  // OPENSET_DATA_SETS_DATA_SET_PARTS_H_
