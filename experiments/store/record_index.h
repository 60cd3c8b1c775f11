// Which records of a store are as they were written, and by what sources they were made, without reading each of them
// every time: a study of 100,000 records goes on within two seconds.
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

// Remembers records that were read and found whole, in a file of the user's cache, none of the store's. One whose file
// has changed since (device, inode, size, times) is read again; so is one that was written less than
// FileState::kSettled seconds before it was read. A bit that rots without any write is found by whoever reads the
// record, a report say, or `openset records verify`. Look() may be called from several threads at once.
class RecordIndex {
 public:
  // What is remembered of a record: its stages, each with its key and the components it was done by; of the latter
  // nothing else is set. Equal lists are one object.
  struct Stage {
    const StageProvenance* sources;
    Sha256::Digest key;
  };

  // In `file`; "": remembers nothing beyond its life.
  RecordIndex(Store store, std::string file) : store_(std::move(store)), file_(std::move(file)) {}
  // In ~/.cache/openset/records, a file for each store.
  static RecordIndex OfUser(const Store& store);

  // The stages of a record that have a key. Errors: those of Store::LoadRecord().
  absl::StatusOr<std::vector<Stage>> Look(const std::string& trial_id);

  // Writes down what was read since. A cache that can't be written costs only time.
  void Save();

  // How many records were read, because they were not remembered.
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
  // `sources` as bytes, which the caller may make while others look.
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
