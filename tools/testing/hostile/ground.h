// Where hostile cases are tried: a small library, data, and a store with records, made once by the library's own
// functions and copied for each case.
//
//   work/     the folder that the program runs in:
//     study.textproto, data/, experiments/   a library: task `task`, methods `plain` and `pairs`, preset `short`
//     files/                                 data files: digits/, mats/, arrays/, binary/, photos/, listed/
//     store/                                 checkpoints, outputs and records of the study's two trials
//     bundle.zip, full.zip                   its records; with their library, outputs and checkpoints
//     scores.csv, logits.npz, label.npy, deploy.textproto, ...
//   served/   what the made-up curl of bin/ brings
//   bin/      in front of PATH
//   home/     HOME; below its .cache the program may write
//   tmp/      TMPDIR
//   outside/  other people's files
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_GROUND_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_GROUND_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "experiments/store/record.pb.h"
#include "experiments/store/store.h"

namespace openset {

class Ground {
 public:
  // A copy of its own, in place of the one of before.
  Ground();

  const std::string& folder() const { return folder_; }
  std::string Path(const std::string& path) const;  // "work/study.textproto"
  Store store() const { return Store(Path("work/store")); }

  std::string Read(const std::string& path) const;
  // Makes a file, and the folders on its way, in place of whatever is there.
  void Write(const std::string& path, const std::string& content) const;
  // In a text file that is there, one for the other. Precondition: `from` is in it.
  void Replace(const std::string& path, const std::string& from, const std::string& to) const;

  // Of the study's trials: ids and keys, in the plan's order.
  const std::vector<std::string>& trials() const { return trials_; }
  TrialRecord Record(int trial) const;
  // Relative to the folder: "work/store/records/ab/ab12....rec".
  std::string RecordPath(int trial) const;
  std::string OutputsPath(int trial) const;     // the folder
  std::string CheckpointPath(int trial) const;  // the folder
  // The record in the place of the trial's, with checksums that fit.
  void WriteRecord(int trial, const TrialRecord& record) const;

  // All files, folders and links, by their paths below the folder, with what they are and hold.
  std::map<std::string, std::string> Snapshot() const;

 private:
  std::string folder_;
  std::vector<std::string> trials_;
};

// A record file with a checksum that fits these bytes, which need be no message.
std::string FramedRecord(const std::string& payload);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_GROUND_H_
