#include "experiments/store/store_contents.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/in_parallel.h"
#include "core/status_macros.h"
#include "core/text/hex.h"

namespace openset {
namespace {

// Returns the names in a folder. If it can't be listed, adds the reason to `unread`.
std::vector<std::string> NamesIn(const Store& store, const std::string& folder, UnreadRecords* unread) {
  absl::StatusOr<std::vector<std::string>> names = store.NamesIn(folder);
  unread->Add(names.status());
  return names.ok() ? *std::move(names) : std::vector<std::string>();
}

// Calls `use` with each entry of a sharded folder: its path, and its key ("" if its name is not a key).
void ForEach(const Store& store, const char* kind, absl::string_view suffix, UnreadRecords* unread,
             const std::function<void(const std::string& path, const std::string& key)>& use) {
  const std::string folder = store.FolderOf(kind);
  for (const std::string& shard : NamesIn(store, folder, unread)) {
    const std::string below = JoinPath(folder, shard);
    if (shard.size() != 2 || !IsHex(shard)) {
      use(below, "");
      continue;
    }
    for (const std::string& name : NamesIn(store, below, unread)) {
      absl::string_view key = name;
      const bool is_key = absl::ConsumeSuffix(&key, suffix) && IsKey(key) && absl::StartsWith(key, shard);
      use(JoinPath(below, name), is_key ? std::string(key) : "");
    }
  }
}

std::vector<std::string> KeysIn(const Store& store, const char* kind, absl::string_view suffix, UnreadRecords* unread) {
  std::vector<std::string> keys;
  ForEach(store, kind, suffix, unread, [&](const std::string&, const std::string& key) {
    if (!key.empty()) keys.push_back(key);
  });
  return keys;
}

constexpr std::pair<const char*, const char*> kKinds[] = {
    {"records", ".rec"}, {"checkpoints", ""}, {"outputs", ""}, {"replicas", ""}};

}  // namespace

bool IsKey(absl::string_view name) { return IsSha256(name); }

std::vector<std::string> RecordIds(const Store& store, UnreadRecords* unread) {
  if (store.bundle() != nullptr) {
    unread->damaged.insert(unread->damaged.end(), store.bundle()->damaged.begin(), store.bundle()->damaged.end());
  }
  return KeysIn(store, "records", ".rec", unread);
}
std::vector<std::string> CheckpointKeys(const Store& store, UnreadRecords* unread) {
  return KeysIn(store, "checkpoints", "", unread);
}
std::vector<std::string> OutputsKeys(const Store& store, UnreadRecords* unread) {
  return KeysIn(store, "outputs", "", unread);
}
std::vector<std::string> ReplicaIds(const Store& store, UnreadRecords* unread) {
  return KeysIn(store, "replicas", "", unread);
}

std::string ReplicaFolder(const Store& store, const std::string& trial_id) {
  return absl::StrCat(store.FolderOf("replicas"), "/", trial_id.substr(0, 2), "/", trial_id);
}

absl::StatusOr<std::vector<std::string>> ReplicaPaths(const Store& store, const std::string& trial_id) {
  const std::string folder = ReplicaFolder(store, trial_id);
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, store.NamesIn(folder));
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    if (absl::EndsWith(name, ".rec") && IsKey(name.substr(0, name.size() - 4))) paths.push_back(JoinPath(folder, name));
  }
  return paths;
}

std::vector<std::string> UnknownEntries(const Store& store, UnreadRecords* unread) {
  std::vector<std::string> paths;
  for (const auto& [kind, suffix] : kKinds) {
    ForEach(store, kind, suffix, unread, [&](const std::string& path, const std::string& key) {
      if (key.empty()) paths.push_back(path);
    });
  }
  return paths;
}

absl::StatusOr<std::string> FindTrial(const Store& store, absl::string_view beginning) {
  if (beginning.size() < kFewestTrialDigits || !IsHex(beginning)) {
    return absl::InvalidArgumentError(absl::StrCat("'", beginning, "' is not a trial: give the first ",
                                                   kFewestTrialDigits,
                                                   " digits of its id or more ('openset records ls' shows them)"));
  }
  // All ids with this beginning are in one folder.
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                           store.NamesIn(JoinPath(store.FolderOf("records"), std::string(beginning.substr(0, 2)))));
  std::vector<std::string> found;
  for (const std::string& name : names) {
    absl::string_view id = name;
    if (absl::ConsumeSuffix(&id, ".rec") && IsKey(id) && absl::StartsWith(id, beginning)) found.emplace_back(id);
  }
  if (found.empty()) {
    return absl::NotFoundError(absl::StrCat(store.bundle() == nullptr ? "the store " : "", store.folder(),
                                            " has no record of a trial '", beginning, "'"));
  }
  if (found.size() == 1) return found[0];
  const size_t shown = std::min<size_t>(found.size(), 3);
  return absl::InvalidArgumentError(absl::StrCat(found.size(), " trials begin with '", beginning,
                                                 "': ", absl::StrJoin(found.begin(), found.begin() + shown, ", "),
                                                 found.size() > shown ? " ..." : ""));
}

void UnreadRecords::Add(const absl::Status& status) {
  if (status.ok() || absl::IsNotFound(status)) return;
  if (const std::optional<int> version = OtherVersionOf(status); version.has_value()) {
    ++other_versions[*version];
  } else {
    (IsReadFailure(status) ? unreadable : damaged).push_back(std::string(status.message()));
  }
}

std::vector<std::string> UnreadRecords::VersionLines() const {
  std::vector<std::string> lines;
  for (const auto& [version, records] : other_versions) lines.push_back(VersionLine(records, version));
  return lines;
}

absl::Status UnreadRecords::Problems() const {
  std::vector<std::string> parts;
  if (const size_t count = damaged.size(); count > 0) {
    parts.push_back(absl::StrCat(count, count == 1 ? " record is" : " records are",
                                 " corrupt and left out ('openset records verify' moves those of a store to "
                                 "quarantine/): ",
                                 absl::StrJoin(damaged, "\n")));
  }
  if (!unreadable.empty()) parts.push_back(UnreadableText(unreadable));
  return parts.empty() ? absl::OkStatus() : absl::AbortedError(absl::StrJoin(parts, "\n"));
}

absl::Status UnreadRecords::ReadFailure() const {
  return unreadable.empty() ? absl::OkStatus() : absl::UnavailableError(UnreadableText(unreadable));
}

std::string UnreadableText(const std::vector<std::string>& unreadable) {
  if (unreadable.empty()) return "";
  return absl::StrCat(unreadable.size(), unreadable.size() == 1 ? " file or folder" : " files or folders",
                      " of the store can't be read now (nothing was removed or replaced; make it readable, then run "
                      "the same command again):\n",
                      absl::StrJoin(unreadable, "\n"));
}

void ForEachRecord(const Store& store, const std::vector<std::string>& ids, absl::Span<const int> without,
                   const std::function<void(int64_t, TrialRecord*)>& use, UnreadRecords* unread) {
  constexpr int64_t kRange = 64;
  std::vector<absl::Status> read(ids.size());
  InParallelWaitingRanges(static_cast<int64_t>(ids.size()), kRange, [&](int64_t from, int64_t to) {
    TrialRecord record;  // reused for all records of the range
    for (int64_t i = from; i < to; ++i) {
      read[i] = store.LoadRecord(ids[i], without, &record);
      if (read[i].ok()) use(i, &record);
    }
  });
  for (const absl::Status& status : read) unread->Add(status);
}

std::vector<TrialRecord> LoadRecords(const Store& store, UnreadRecords* unread, absl::Span<const int> without) {
  const std::vector<std::string> ids = RecordIds(store, unread);
  std::vector<TrialRecord> records(ids.size());
  ForEachRecord(
      store, ids, without, [&records](int64_t i, TrialRecord* record) { records[i].Swap(record); }, unread);
  // Records that could not be read are empty.
  const auto is_missing = [](const TrialRecord& record) { return record.trial_id().empty(); };
  records.erase(std::remove_if(records.begin(), records.end(), is_missing), records.end());
  return records;
}

}  // namespace openset
