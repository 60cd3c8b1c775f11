#include "experiments/store/record_index.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/digest_cache.h"
#include "core/files/files.h"
#include "core/proto/record_file.h"
#include "core/status_macros.h"
#include "experiments/store/record_index.pb.h"

namespace openset {
namespace {

constexpr int kVersion = 1;

uint64_t Nanoseconds(const timespec& time) { return static_cast<uint64_t>(time.tv_sec) * 1000000000 + time.tv_nsec; }

}  // namespace

RecordIndex RecordIndex::OfUser(const Store& store) {
  const char* home = std::getenv("HOME");
  if (home == nullptr) return RecordIndex(store, "");
  std::error_code error;
  const std::string folder = std::filesystem::weakly_canonical(store.folder(), error).string();
  return RecordIndex(store, absl::StrCat(home, "/.cache/openset/records/", Sha256Hex(folder)));
}

bool RecordIndex::StateOf(const std::string& path, State* state) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return false;
  *state = {info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size), Nanoseconds(info.st_mtim),
            Nanoseconds(info.st_ctim)};
  return true;
}

int RecordIndex::PlaceOf(const StageProvenance& stage) {
  StageProvenance kept;
  kept.set_stage(stage.stage());
  *kept.mutable_component() = stage.component();
  const auto [entry, is_new] = places_.try_emplace(EncodeRecord(kept), static_cast<int>(sources_.size()));
  if (is_new) sources_.push_back(std::move(kept));
  return entry->second;
}

void RecordIndex::Load() {
  loaded_ = true;
  RecordIndexFile file;
  if (file_.empty() || !ReadRecordFile(file_, &file).ok() || file.version() != kVersion) return;
  std::vector<int> places;
  for (const StageProvenance& sources : file.sources()) places.push_back(PlaceOf(sources));
  entries_.reserve(file.record_size());
  for (const IndexedRecord& record : file.record()) {
    Entry entry;
    if (record.state_size() != static_cast<int>(entry.state.size())) continue;
    std::copy(record.state().begin(), record.state().end(), entry.state.begin());
    for (int s = 0; s < std::min(record.key_size(), record.sources_size()); ++s) {
      if (record.sources(s) < places.size()) entry.stages.emplace_back(places[record.sources(s)], record.key(s));
    }
    entries_.emplace(record.trial_id(), std::move(entry));
  }
}

absl::StatusOr<std::vector<RecordIndex::Stage>> RecordIndex::Look(const std::string& trial_id) {
  if (!loaded_) Load();
  const std::string path = store_.RecordPath(trial_id);
  State state = {};
  const bool has_state = StateOf(path, &state);
  const auto found = entries_.find(absl::HexStringToBytes(trial_id));
  Entry read;
  const Entry* entry = &read;
  if (has_state && found != entries_.end() && found->second.state == state) {
    entry = &found->second;
  } else {
    ++reads_;
    const std::time_t started = std::time(nullptr);
    OPENSET_ASSIGN_OR_RETURN(const TrialRecord record, store_.LoadRecord(trial_id));
    for (const StageProvenance& stage : record.provenance().stage()) {
      read.stages.emplace_back(PlaceOf(stage), absl::HexStringToBytes(stage.key()));
    }
    const uint64_t changed_at = std::max(state[3], state[4]) / 1000000000;
    State after;
    if (has_state && StateOf(path, &after) && after == state &&
        changed_at + DigestCache::kSettled <= static_cast<uint64_t>(started)) {
      read.state = state;
      entries_.insert_or_assign(absl::HexStringToBytes(trial_id), read);
      changed_ = true;
    }
  }
  std::vector<Stage> stages;
  stages.reserve(entry->stages.size());
  for (const auto& [place, key] : entry->stages) stages.push_back({&sources_[place], absl::BytesToHexString(key)});
  return stages;
}

void RecordIndex::Save() {
  if (!changed_ || file_.empty()) return;
  RecordIndexFile file;
  file.set_version(kVersion);
  for (const StageProvenance& sources : sources_) *file.add_sources() = sources;
  file.mutable_record()->Reserve(static_cast<int>(entries_.size()));
  for (const auto& [trial_id, entry] : entries_) {
    IndexedRecord* record = file.add_record();
    record->set_trial_id(trial_id);
    record->mutable_state()->Assign(entry.state.begin(), entry.state.end());
    for (const auto& [place, key] : entry.stages) {
      record->add_sources(place);
      record->add_key(key);
    }
  }
  if (!MakeFolders(std::filesystem::path(file_).parent_path().string()).ok()) return;
  WriteFileAtomically(file_, EncodeRecord(file)).IgnoreError();
  changed_ = false;
}

}  // namespace openset
