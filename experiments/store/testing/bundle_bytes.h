// Bundles of any members, signed, for tests of what reads them.
#ifndef OPENSET_EXPERIMENTS_STORE_TESTING_BUNDLE_BYTES_H_
#define OPENSET_EXPERIMENTS_STORE_TESTING_BUNDLE_BYTES_H_

#include <string>
#include <vector>

#include "core/testing/archive_bytes.h"

namespace openset {

// The members of a bundle that is whole, as version 1 has them: each record file is one, behind the others. Without
// SHA256SUMS.
std::vector<ZipMember> UnpackedBundle(const std::string& path);

// These members as version 2 has them: the record files, in their order, in records.tar.xz. With SHA256SUMS.
std::vector<ZipMember> PackedBundle(const std::vector<ZipMember>& members);

// A bundle of these and, unless they have them, of their sums.
std::string SignedBundle(std::vector<ZipMember> members);

// "<SHA-256>  <name>", a line for each.
std::string SumsOf(const std::vector<ZipMember>& members);

// Of an xz stream, and back.
std::string XzBytes(const std::string& content);
std::string FromXz(const std::string& stream);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_TESTING_BUNDLE_BYTES_H_
