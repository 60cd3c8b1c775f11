// Remembers which records of a store are intact and which sources made them, so that they need not be read every time.
// With it, a study of 100,000 records resumes within two seconds.
#ifndef OPENSET_EXPERIMENTS_STORE_RECORD_INDEX_H_
#define OPENSET_EXPERIMENTS_STORE_RECORD_INDEX_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/files/digest.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// The index is a file in the user's cache, not in the store. A record is read again if its file has changed (device,
// inode, size or times), or if it was written less than FileState::kSettled seconds before it was last read. Bits that
// flip on the disk without a write are found when the record is read, for example by a report or by `openset records
// verify`. Several threads may call Look() at once.
class RecordIndex {
 public:
  // A stage of a record: its key and its components. The other fields of `sources` are not set. Equal lists share one
  // object.
  struct Stage {
    const StageProvenance* sources;
    Sha256::Digest key;
  };

  // Uses the index file `file`. "": no file; remembers only during its lifetime.
  RecordIndex(Store store, std::string file) : store_(std::move(store)), file_(std::move(file)) {}
  // Uses the store's file in ~/.cache/openset/records.
  static RecordIndex OfUser(const Store& store);

  // The stages of a record that have a key. Errors, if the record had to be read: kNotFound; kDataLoss if it is
  // corrupt, belongs to another trial, breaks a rule or has another schema version; kUnimplemented if a newer openset
  // wrote it; a read failure (IsReadFailure() in experiments/store/store.h).
  absl::StatusOr<std::vector<Stage>> Look(const std::string& trial_id);

  // Saves the index. Errors are ignored, because the index only saves time.
  void Save();

  // The number of records that had to be read.
  int reads() const { return reads_; }

 private:
  using Key = Sha256::Digest;
  using State = std::array<uint64_t, 5>;
  struct KeyHash {
    size_t operator()(const Key& key) const {
      size_t hash;
      std::memcpy(&hash, key.data(), sizeof(hash));
      return hash;
    }
  };
  struct StageEntry {
    int place;  // in sources_
    Key key;
  };
  struct Entry {
    State state;
    size_t first_stage, num_stages;  // in stages_
  };

  void Load();
  // `bytes` are `sources` encoded. The caller encodes them before it locks the mutex.
  int PlaceOf(const StageProvenance& sources, std::string bytes);
  static bool StateOf(const std::string& path, State* state);

  const Store store_;
  const std::string file_;
  std::once_flag load_;
  std::atomic<int> reads_{0};
  std::shared_mutex mutex_;  // of all below
  bool changed_ = false;
  std::deque<StageProvenance> sources_;  // keep addresses
  std::map<std::string, int> places_;    // in it, by bytes
  std::vector<StageEntry> stages_;       // of the entries, and of those that were replaced
  absl::flat_hash_map<Key, Entry, KeyHash> entries_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORD_INDEX_H_
