// A folder with a valid study, data and files, which hostile cases damage.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_FIXTURE_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_FIXTURE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/testing/archive_bytes.h"
#include "experiments/store/record.pb.h"
#include "experiments/store/store.h"

namespace openset {

// The initial texts and data of a fixture.

// Writes these files below `folder`. Running the library there makes the fixture's store and its bundle.
void WriteFixtureFiles(const std::string& folder);

// A file of data/readers/testdata.
std::string StoredImage(const std::string& name);

// The folder in which hostile cases are tried: a small library, data, and a store with records. They are made once, by
// the project's own functions, and copied for each case.
//
//   work/     the folder that the program runs in:
//     study.textproto, data/, experiments/   a library: task `task`, methods `plain` and `pairs`, preset `short`
//     files/                                 data files: digits/, mats/, arrays/, binary/, photos/, listed/
//     store/                                 checkpoints, outputs and records of the study's two trials
//     bundle.zip, full.zip                   its records; full.zip also has their library, outputs and checkpoints
//     scores.csv, logits.npz, label.npy, deploy.textproto, ...
//   served/   what the fake curl in bin/ downloads
//   bin/      the first folder of PATH
//   home/     HOME; the program may write below its .cache
//   tmp/      TMPDIR
//   outside/  other people's files

class Fixture {
 public:
  // Makes a new copy, which replaces the previous one.
  Fixture();

  const std::string& folder() const { return folder_; }
  std::string Path(const std::string& path) const;  // "work/study.textproto"
  Store store() const { return Store(Path("work/store")); }

  std::string Read(const std::string& path) const;
  // Writes a file, which replaces anything with its path. Creates missing folders.
  void Write(const std::string& path, const std::string& content) const;
  // Replaces a text in an existing file. Precondition: the file contains `from`.
  void Replace(const std::string& path, const std::string& from, const std::string& to) const;

  // The ids of the study's trials, in the plan's order.
  const std::vector<std::string>& trials() const { return trials_; }
  TrialRecord Record(int trial) const;
  // Relative to the folder: "work/store/records/ab/ab12....rec".
  std::string RecordPath(int trial) const;
  std::string OutputsPath(int trial) const;     // the folder
  std::string CheckpointPath(int trial) const;  // the folder
  // Replaces the trial's record, with correct checksums.
  void WriteRecord(int trial, const TrialRecord& record) const;

  // The type and content of every file, folder and link, by its path below the folder.
  std::map<std::string, std::string> Snapshot() const;

 private:
  std::string folder_;
  std::vector<std::string> trials_;
};

// Bundles with any members, and with correct sums and a correct signature.

// Returns the members of a valid bundle in the form of version 1 (experiments/store/testing/bundle_bytes.h), without
// its sums. `path` is below the fixture's folder.
std::vector<ZipMember> BundleMembers(const Fixture& fixture, const std::string& path);

// The version in which a bundle is written: 1 or 2.
enum class BundleForm { kMembers, kPacked };

// Replaces the file by a signed bundle of these members, and of their sums unless they contain them.
void WriteSigned(const Fixture& fixture, const std::string& path, const std::vector<ZipMember>& members,
                 BundleForm form = BundleForm::kMembers);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_FIXTURE_H_
