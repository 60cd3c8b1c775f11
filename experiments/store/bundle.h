// Records to hand on: a bundle, one ordinary zip archive.
//
//   manifest.textproto             BundleManifest
//   schema.binpb                   google.protobuf.FileDescriptorSet of TrialRecord: old bundles stay readable by it
//   records.tar.xz                 as in a store, byte by byte, in one stream
//   (experiments/store/bundles/packed_records.h):
//     records/ab/<trial id>.rec
//     replicas/ab/<trial id>/<SHA-256 of the file>.rec
//   library/KIND/NAME.textproto    specs, tasks and catalog entries of the records, as their libraries had them
//   outputs/ab/KEY/..., checkpoints/ab/KEY/...   where they were asked for: folders of a store, file by file
//   SHA256SUMS                     "<SHA-256>  <name>" for each of these, as sha256sum -c reads it; the records last
//
// Bundles of version 1 (BundleManifest), which openset up to 0.3 wrote, have the record files as members of the archive
// and no stream. They are read, and no longer written.
//
// Members are in a fixed order and bear no time: the same records give the same bytes. The archive's
// comment, its last 86 bytes, is "openset bundle sha256:" and the SHA-256 of all that stands before those 64 digits. It
// signs the bundle: whoever knows the digest knows the content, and any flipped bit, cut or addition is noticed.
#ifndef OPENSET_EXPERIMENTS_STORE_BUNDLE_H_
#define OPENSET_EXPERIMENTS_STORE_BUNDLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/store/bundle.pb.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"
#include "google/protobuf/descriptor.pb.h"

namespace openset {

// What a bundle has beside records.
struct BundleExtras {
  std::map<std::string, std::string> library;  // "tasks/NAME.textproto" and its content
  bool outputs = false;                        // those that the records were measured on and fitted to
  bool checkpoints = false;                    // of all their trainings
};

struct BundleWritten {
  std::string digest;  // the bundle's
  BundleManifest manifest;
  std::vector<std::string> left_out;  // outputs and checkpoints that are no longer in the store: a line each
};

// Writes the records of these trials, which are in the store, and what is kept beside them; replaces `path`.
// Errors: those of Store::LoadRecord(), CheckOutputs(), CheckCheckpoint() and CheckTrialId(): what is damaged is not
// handed on; kInvalidArgument where no file can be at `path`, and for more than a bundle may have; kUnavailable.
absl::StatusOr<BundleWritten> WriteBundle(const Store& store, const std::vector<std::string>& trial_ids,
                                          const std::string& path, const BundleExtras& extras = {});

// What a bundle may have: a million records with all details.
inline constexpr int64_t kMaxBundleBytes = int64_t{1} << 33;

// Of BundleManifest: what is written, and the newest that is read.
inline constexpr int kBundleVersion = 2;

struct BundleLimits {
  int64_t bytes = kMaxBundleBytes;
  size_t members = 10000000;  // of the archive, and of its stream
  size_t member_bytes = 64 << 20;
  size_t large_member_bytes = size_t{2} << 30;  // of outputs and checkpoints
  size_t library_bytes = size_t{256} << 20;     // of all files of the library
};

// A record file of a bundle. `bytes` are those of the file, which DecodeSharedRecord()
// (experiments/store/records/record_id.h) took for the record of its trial.
using UseRecord = std::function<absl::Status(const TrialRecord& record, const std::string& bytes)>;

// Another file of a bundle: "library/tasks/NAME.textproto", "outputs/ab/KEY/outputs.npz". The name is one that a bundle
// may have; nobody vouches for the content.
using UseFile = std::function<absl::Status(const std::string& name, const std::string& content)>;

// Reads a bundle that nobody vouches for, and calls `use` with each record file in the order of the names, and `file`,
// if it is there, with each other one that `wanted` takes; what is not taken is not inflated. A record that can't be
// what it says, or is of another schema version, goes to `refused`: "PATH: records/...: trial_id: ...". Nothing is
// written and no name in it is followed. Returns its digest. Errors: kNotFound; kDataLoss where it is not as it was
// written, is no bundle, has a member that no bundle has, or goes beyond a limit; kFailedPrecondition where its
// manifest has another schema version; those of `use`. All with the path.
absl::StatusOr<std::string> ReadBundle(const std::string& path, const UseRecord& use, std::vector<std::string>* refused,
                                       const BundleLimits& limits = {}, const UseFile& file = nullptr,
                                       const std::function<bool(const std::string& name)>& wanted = nullptr);

// The schema of a record, with all that it imports.
google::protobuf::FileDescriptorSet RecordSchema();

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_BUNDLE_H_
