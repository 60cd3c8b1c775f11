#include "experiments/store/record_index.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/escaping.h"
#include "core/files/digest.h"
#include "core/files/file_state.h"
#include "core/files/files.h"
#include "core/files/system_calls.h"
#include "core/proto/record_file.h"
#include "core/status_macros.h"
#include "experiments/store/record_index.proto.h"
#include "experiments/store/store_contents.h"

namespace openset {
namespace {

constexpr int kVersion = 2;
constexpr size_t kKeyBytes = std::tuple_size_v<Sha256::Digest>;

uint64_t Nanoseconds(const timespec& time) { return static_cast<uint64_t>(time.tv_sec) * 1000000000 + time.tv_nsec; }

Sha256::Digest KeyAt(absl::string_view bytes, size_t index) {
  Sha256::Digest key;
  std::memcpy(key.data(), bytes.data() + index * kKeyBytes, kKeyBytes);
  return key;
}

// Returns nothing if `hex` is not the hexadecimal form of a digest.
std::optional<Sha256::Digest> KeyOf(absl::string_view hex) {
  if (!IsKey(hex)) return std::nullopt;
  return KeyAt(absl::HexStringToBytes(hex), 0);
}

// Returns the fields of a stage that the index stores.
StageProvenance SourcesOf(const StageProvenance& stage) {
  StageProvenance sources;
  sources.set_stage(stage.stage());
  *sources.mutable_component() = stage.component();
  return sources;
}

void AppendKey(const Sha256::Digest& key, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(key.data()), kKeyBytes);
}

}  // namespace

RecordIndex RecordIndex::OfUser(const Store& store) {
  const std::string indices = UserCacheFolder("records");
  if (indices.empty()) return RecordIndex(store, "");
  std::error_code error;
  const std::string folder = std::filesystem::weakly_canonical(store.folder(), error).string();
  return RecordIndex(store, JoinPath(indices, Sha256Hex(folder)));
}

bool RecordIndex::StateOf(const std::string& path, State* state) {
  struct stat info;
  if (StatFile(path, &info) != 0) return false;
  *state = {info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size), Nanoseconds(info.st_mtim),
            Nanoseconds(info.st_ctim)};
  return true;
}

int RecordIndex::PlaceOf(const StageProvenance& sources, std::string bytes) {
  const auto [entry, is_new] = places_.try_emplace(std::move(bytes), static_cast<int>(sources_.size()));
  if (is_new) sources_.push_back(sources);
  return entry->second;
}

void RecordIndex::Load() {
  RecordIndexFile file;
  if (file_.empty() || !ReadRecordFile(file_, &file).ok() || file.version() != kVersion) return;
  constexpr size_t kNumbers = std::tuple_size_v<State>;
  const auto records = static_cast<size_t>(file.stages_size());
  const auto stages = static_cast<size_t>(file.place_size());
  size_t sum = 0;
  for (const uint32_t count : file.stages()) sum += count;
  const bool fits = file.trial_id().size() == records * kKeyBytes && file.state_size() == records * kNumbers &&
                    file.key().size() == stages * kKeyBytes && sum == stages;
  if (!fits) return;
  std::vector<int> places;
  for (const StageProvenance& sources : file.sources()) places.push_back(PlaceOf(sources, EncodeRecord(sources)));
  stages_.reserve(stages);
  for (size_t s = 0; s < stages; ++s) {
    const uint32_t place = file.place(static_cast<int>(s));
    if (place >= places.size()) {
      stages_.clear();
      return;
    }
    stages_.push_back({places[place], KeyAt(file.key(), s)});
  }
  entries_.reserve(records);
  size_t first = 0;
  for (size_t r = 0; r < records; ++r) {
    Entry entry{{}, first, file.stages(static_cast<int>(r))};
    std::copy_n(file.state().begin() + r * kNumbers, kNumbers, entry.state.begin());
    first += entry.num_stages;
    entries_.emplace(KeyAt(file.trial_id(), r), entry);
  }
}

absl::StatusOr<std::vector<RecordIndex::Stage>> RecordIndex::Look(const std::string& trial_id) {
  const std::string path = store_.RecordPath(trial_id);
  const std::optional<Key> id = KeyOf(trial_id);
  State state = {};
  const bool has_state = StateOf(path, &state);
  std::vector<Stage> stages;
  std::call_once(load_, [this] { Load(); });
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    if (const auto found = id.has_value() ? entries_.find(*id) : entries_.end();
        has_state && found != entries_.end() && found->second.state == state) {
      stages.reserve(found->second.num_stages);
      for (size_t s = 0; s < found->second.num_stages; ++s) {
        const StageEntry& stage = stages_[found->second.first_stage + s];
        stages.push_back({&sources_[stage.place], stage.key});
      }
      return stages;
    }
  }
  const std::time_t started = std::time(nullptr);
  ++reads_;
  // The index needs only the provenance.
  constexpr int kWithout[] = {TrialRecord::kTrialFieldNumber, TrialRecord::kMetricFieldNumber,
                              TrialRecord::kEpochFieldNumber, TrialRecord::kDetailsFieldNumber};
  TrialRecord record;
  OPENSET_RETURN_IF_ERROR(store_.LoadRecord(trial_id, kWithout, &record));
  const uint64_t changed_at = std::max(state[3], state[4]) / 1000000000;
  State after;
  const bool has_settled = id.has_value() && has_state && StateOf(path, &after) && after == state &&
                           changed_at + FileState::kSettled <= static_cast<uint64_t>(started);
  struct Found {
    Key key;
    StageProvenance sources;
    std::string bytes;
  };
  std::vector<Found> read;
  for (const StageProvenance& stage : record.provenance().stage()) {
    const std::optional<Key> key = KeyOf(stage.key());
    if (!key.has_value()) continue;
    read.push_back({*key, SourcesOf(stage), {}});
    read.back().bytes = EncodeRecord(read.back().sources);
  }
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  const size_t first = stages_.size();
  for (Found& found : read) {
    stages_.push_back({PlaceOf(found.sources, std::move(found.bytes)), found.key});
    stages.push_back({&sources_[stages_.back().place], found.key});
  }
  if (has_settled) {
    entries_.insert_or_assign(*id, Entry{state, first, stages.size()});
    changed_ = true;
  } else {
    stages_.resize(first);
  }
  return stages;
}

void RecordIndex::Save() {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  if (!changed_ || file_.empty()) return;
  RecordIndexFile file;
  file.set_version(kVersion);
  for (const StageProvenance& sources : sources_) *file.add_sources() = sources;
  for (const auto& [id, entry] : entries_) {
    AppendKey(id, file.mutable_trial_id());
    file.mutable_state()->Add(entry.state.begin(), entry.state.end());
    file.add_stages(static_cast<uint32_t>(entry.num_stages));
    for (size_t s = 0; s < entry.num_stages; ++s) {
      const StageEntry& stage = stages_[entry.first_stage + s];
      AppendKey(stage.key, file.mutable_key());
      file.add_place(static_cast<uint32_t>(stage.place));
    }
  }
  if (!MakeFolders(std::filesystem::path(file_).parent_path().string()).ok()) return;
  WriteFileAtomically(file_, EncodeRecord(file)).IgnoreError();
  changed_ = false;
}

}  // namespace openset
