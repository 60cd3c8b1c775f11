// Bundles: records in an archive, for other people.
#ifndef OPENSET_EXPERIMENTS_STORE_BUNDLE_H_
#define OPENSET_EXPERIMENTS_STORE_BUNDLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/files/formats/xz.h"
#include "experiments/store/bundle.pb.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"
#include "google/protobuf/descriptor.pb.h"

namespace openset {

// ---- Checks the names of a bundle's members, in the archive and in its stream of records.

inline constexpr char kBundleManifest[] = "manifest.textproto";
inline constexpr char kBundleSchema[] = "schema.binpb";
inline constexpr char kBundleSums[] = "SHA256SUMS";
inline constexpr char kBundleRecords[] = "records.tar.xz";

// Whether a bundle may have a member of this name apart from records and the four above: library/KIND/NAME.textproto,
// or a file in outputs/ab/KEY/ or checkpoints/ab/KEY/.
bool IsBundleFile(absl::string_view name);

// The trial of a record file records/ab/ID.rec or replicas/ab/ID/SHA256.rec; "" for any other name.
std::string TrialOfBundleMember(absl::string_view name);

// "has an unexpected member: 'NAME'"
std::string UnexpectedMember(absl::string_view name);

// The record files of a bundle in one compressed stream, records.tar.xz. The files of a run are similar, so that
// together they take half as much space as one by one.
//
// The tar archive always has the same form (POSIX ustar): regular files in the order of their names, all with the same
// mode, without owner and time, then two blocks of zeros. `tar -xJf` unpacks it.

// Call Add() for each file, in the order of names, then Finish().
class RecordPacker {
 public:
  // `use` receives the stream.
  explicit RecordPacker(UseBytes use) : xz_(std::move(use)) {}

  // Errors: kInvalidArgument for a name that does not fit into the header; kResourceExhausted if the system gives no
  // memory or no thread; any error that `use` returns.
  absl::Status Add(const std::string& name, absl::string_view content);
  absl::Status Finish();

  // The size of the archive so far, before compression.
  int64_t bytes() const { return bytes_; }

 private:
  XzWriter xz_;
  int64_t bytes_ = 0;
};

// Unpacks an untrusted stream. Call Add() for its parts, then Finish().
class RecordUnpacker {
 public:
  struct Limits {
    int64_t bytes;        // of the archive
    size_t members;       // files in it
    size_t member_bytes;  // of each
  };
  using UseFile = std::function<absl::Status(const std::string& name, const std::string& content)>;

  // `use` receives each complete file; only one is in memory at a time. Its name is a record file's
  // (TrialOfBundleMember()).
  RecordUnpacker(const Limits& limits, UseFile use);

  // Each header must be exactly the one that RecordPacker writes for its name and size. This refuses links, devices,
  // folders, long names, owners and all other features of tar. Errors: kDataLoss for any other archive, for a corrupt
  // stream (XzReader), or beyond a limit; kResourceExhausted if there is no memory; any error that `use` returns. Don't
  // call Add() again after an error.
  absl::Status Add(absl::string_view packed) { return xz_.Add(packed); }
  absl::Status Finish();

 private:
  absl::Status Take(absl::string_view part);
  absl::Status TakeHeader(absl::string_view header);

  const Limits limits_;
  const UseFile use_;
  XzReader xz_;
  std::string held_;  // not yet processed
  std::string name_;  // of the last header
  size_t size_ = 0;
  bool in_file_ = false, has_ended_ = false;
  int64_t bytes_ = 0;
  size_t members_ = 0;
};

// A bundle: a zip archive with records, for other people.
//
//   manifest.textproto             BundleManifest
//   schema.binpb                   google.protobuf.FileDescriptorSet of TrialRecord, which keeps old bundles readable
//   records.tar.xz                 the record files of a store, in one stream:
//     records/ab/<trial id>.rec
//     replicas/ab/<trial id>/<SHA-256 of the file>.rec
//   library/KIND/NAME.textproto    the specs, tasks and catalog entries that the records used
//   outputs/ab/KEY/..., checkpoints/ab/KEY/...   on request: the files of these folders of a store
//   SHA256SUMS                     "<SHA-256>  <name>" of each member, for sha256sum -c; the records last
//
// In bundles of version 1 (BundleManifest), which openset 0.3 and older wrote, the record files are members of the
// archive. They can be read, but are no longer written.
//
// Members have a fixed order and no times, so the same records give the same bytes. The archive ends with the comment
// "openset bundle sha256:" and the SHA-256 of everything before these 64 digits (86 bytes in all). The digest verifies
// the content: any flipped bit, truncation or addition changes it.

// What a bundle contains apart from records.
struct BundleExtras {
  std::map<std::string, std::string> library;  // "tasks/NAME.textproto" and its content
  bool outputs = false;                        // the outputs that the records' scores were fitted to and measured on
  bool checkpoints = false;                    // the checkpoints of all their trainings
  bool details = true;                         // TrialRecord.details, most of a record's bytes
};

struct BundleWritten {
  std::string digest;  // the bundle's
  BundleManifest manifest;
  std::vector<std::string> left_out;  // a line for each outputs folder or checkpoint that the store no longer has
};

// Writes the records of these trials and `extras`. Replaces `path`. Errors: kNotFound if the store lacks a record;
// kDataLoss if a record, its outputs or its checkpoints are corrupt, or have another schema version or key, because
// neither corrupt nor incomplete results must be passed on; kUnimplemented if a newer openset wrote one;
// kInvalidArgument if no file can have this path or the bundle would exceed a limit; kResourceExhausted if there is no
// memory or no thread to compress; a read failure (IsReadFailure() in experiments/store/store.h); a write error
// (core/files/files.h).
absl::StatusOr<BundleWritten> WriteBundle(const Store& store, const std::vector<std::string>& trial_ids,
                                          const std::string& path, const BundleExtras& extras = {});

// The largest bundle: a million records with all details.
inline constexpr int64_t kMaxBundleBytes = int64_t{1} << 33;

// BundleManifest.bundle_version: the version that is written, and the newest one that can be read.
inline constexpr int kBundleVersion = 2;

struct BundleLimits {
  int64_t bytes = kMaxBundleBytes;
  size_t members = 10000000;  // of the archive, and of its stream
  size_t member_bytes = 64 << 20;
  size_t large_member_bytes = size_t{2} << 30;  // of outputs and checkpoints
  size_t library_bytes = size_t{256} << 20;     // of all files of the library
};

// Receives a file of a bundle: a record file, "records/ab/ID.rec", or another one, "library/tasks/NAME.textproto",
// "outputs/ab/KEY/outputs.npz". The name is valid; the content is not checked.
using UseFile = std::function<absl::Status(const std::string& name, const std::string& content)>;

// Reads an untrusted bundle. Calls `record` for each record file, in the order of names, and `file`, unless it is null,
// for each other file that `wanted` accepts; other outputs and checkpoints are not decompressed. Writes nothing and
// opens no path that the bundle names. Returns the bundle's digest. Errors, with the path: kNotFound; kDataLoss for a
// corrupt bundle, another kind of file, an unknown member, one that occurs twice, is not in SHA256SUMS or does not have
// its sum there (outputs and checkpoints: if they are wanted), a line there without a member, another number of
// records than the manifest says, or a bundle beyond a limit; kInvalidArgument for a folder; kFailedPrecondition for a
// bundle of a newer version, or with records of another schema version than `schema_version`; a read failure
// (IsReadFailure() in experiments/store/store.h). Any error that `record` or `file` returns, as it is.
absl::StatusOr<std::string> ReadBundle(const std::string& path, const UseFile& record, const BundleLimits& limits = {},
                                       const UseFile& file = nullptr,
                                       const std::function<bool(const std::string& name)>& wanted = nullptr,
                                       int schema_version = kSchemaVersion);

// The schema of TrialRecord with all files that it imports.
google::protobuf::FileDescriptorSet RecordSchema();

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_BUNDLE_H_
