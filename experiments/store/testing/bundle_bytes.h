// Makes signed bundles with any members, for tests of their readers.
#ifndef OPENSET_EXPERIMENTS_STORE_TESTING_BUNDLE_BYTES_H_
#define OPENSET_EXPERIMENTS_STORE_TESTING_BUNDLE_BYTES_H_

#include <string>
#include <vector>

#include "core/testing/archive_bytes.h"

namespace openset {

// Returns the members of a valid bundle in the form of version 1: each record file is a member, after all others.
// Without SHA256SUMS.
std::vector<ZipMember> UnpackedBundle(const std::string& path);

// Returns these members in the form of version 2: the record files, in their order, are in records.tar.xz. With
// SHA256SUMS.
std::vector<ZipMember> PackedBundle(const std::vector<ZipMember>& members);

// Returns a bundle of these members, and SHA256SUMS unless they contain it.
std::string SignedBundle(std::vector<ZipMember> members);

// Returns a line "<SHA-256>  <name>" for each member.
std::string SumsOf(const std::vector<ZipMember>& members);

// Convert to and from an xz stream.
std::string XzBytes(const std::string& content);
std::string FromXz(const std::string& stream);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_TESTING_BUNDLE_BYTES_H_
