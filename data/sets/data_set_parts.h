// The parts of a data set, by its catalog entry.
#ifndef OPENSET_DATA_SETS_DATA_SET_PARTS_H_
#define OPENSET_DATA_SETS_DATA_SET_PARTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/catalog.pb.h"

namespace openset {

// Their names, in the catalog's order.
std::vector<std::string> PartNames(const DataSetInfo& info);

// The part of the first layout; all layouts have the same. Errors: kNotFound with the known names.
absl::StatusOr<const DataSetPart*> FindPart(const DataSetInfo& info, absl::string_view part);

// The files of a part in the order of its format's fields.
std::vector<const DataFile*> FilesOf(const DataSetPart& part);

// Whether the catalog has the checksum of each file of a part. Of images in files of their own it has none.
bool HasChecksums(const DataSetPart& part);

// Gives a part whose files are not here the digest that a record has of it: PartDigest() returns it from then on. It
// stands in content_sha256, in a form that no content has.
void TellPartDigest(absl::string_view digest, DataSetPart* part);
bool IsToldByDigest(const DataSetPart& part);

// The digest of the part's PartIdentity: the same whichever layout is read, and when layouts are added behind the
// first. Errors: as FindPart.
absl::StatusOr<std::string> PartDigest(const DataSetInfo& info, absl::string_view part);

}  // namespace openset

#endif  // OPENSET_DATA_SETS_DATA_SET_PARTS_H_
