// Records to hand on: a bundle, one ordinary zip archive.
//
//   manifest.textproto             BundleManifest
//   schema.binpb                   google.protobuf.FileDescriptorSet of TrialRecord: old bundles stay readable by it
//   records/ab/<trial id>.rec      as in a store, byte by byte
//   replicas/ab/<trial id>/<SHA-256 of the file>.rec
//   SHA256SUMS                     "<SHA-256>  <name>" for each of these, as sha256sum -c reads it
//
// Members are in the order of their names and bear no time: the same records give the same bytes. The archive's
// comment, its last 86 bytes, is "openset bundle sha256:" and the SHA-256 of all that stands before those 64 digits. It
// signs the bundle: whoever knows the digest knows the content, and any flipped bit, cut or addition is noticed.
#ifndef OPENSET_EXPERIMENTS_STORE_BUNDLE_H_
#define OPENSET_EXPERIMENTS_STORE_BUNDLE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/store/bundle.pb.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"
#include "google/protobuf/descriptor.pb.h"

namespace openset {

struct BundleWritten {
  std::string digest;  // the bundle's
  BundleManifest manifest;
};

// Writes the records of these trials, which are in the store, and what is kept beside them; replaces `path`.
// Errors: those of Store::LoadRecord() and CheckTrialId(): what is damaged is not handed on; kInvalidArgument where no
// file can be at `path`, and for more records than a bundle may have; kUnavailable.
absl::StatusOr<BundleWritten> WriteBundle(const Store& store, const std::vector<std::string>& trial_ids,
                                          const std::string& path);

// What a bundle may have: a million records with all details.
inline constexpr int64_t kMaxBundleBytes = int64_t{1} << 33;

struct BundleLimits {
  int64_t bytes = kMaxBundleBytes;
  size_t members = 10000000;
  size_t member_bytes = 64 << 20;
};

// A record file of a bundle. `bytes` are those of the file, which DecodeSharedRecord()
// (experiments/store/records/record_id.h) took for the record of its trial.
using UseRecord = std::function<absl::Status(const TrialRecord& record, const std::string& bytes)>;

// Reads a bundle that nobody vouches for, and calls `use` with each record file in the order of the names. A record
// that can't be what it says, or is of another schema version, goes to `refused`: "PATH: records/...: trial_id: ...".
// Nothing is written and no name in it is followed. Returns its digest. Errors: kNotFound; kDataLoss where it is not as
// it was written, is no bundle, has a member that no bundle has, or goes beyond a limit; kFailedPrecondition where its
// manifest has another schema version; those of `use`. All with the path.
absl::StatusOr<std::string> ReadBundle(const std::string& path, const UseRecord& use, std::vector<std::string>* refused,
                                       const BundleLimits& limits = {});

// The schema of a record, with all that it imports.
google::protobuf::FileDescriptorSet RecordSchema();

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_BUNDLE_H_
