#include "experiments/store/collect_garbage.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "core/files/files.h"
#include "core/files/system_calls.h"
#include "core/files/temporary_folder.h"
#include "core/proto/record_file.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/processes/orphans.h"
#include "experiments/store/record.proto.h"

namespace openset {
namespace {

struct Found {
  StudyUsage usage;
  std::set<std::string> checkpoints, outputs;
};

}  // namespace

absl::StatusOr<int64_t> BytesBelow(const std::string& path, BytesOf of) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return 0;
    return ReadError(errno, absl::StrCat("cannot look at ", path));
  }
  if (S_ISREG(info.st_mode)) return of == BytesOf::kFreed && info.st_nlink > 1 ? 0 : info.st_size;
  if (!S_ISDIR(info.st_mode)) return 0;
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesInFolder(path));
  int64_t bytes = 0;
  for (const std::string& name : names) {
    OPENSET_ASSIGN_OR_RETURN(const int64_t below, BytesBelow(JoinPath(path, name), of));
    bytes += below;
  }
  return bytes;
}

std::vector<StudyUsage> UsageByStudy(const Store& store, UnreadRecords* unread,
                                     std::map<std::string, int64_t>* by_user) {
  constexpr int kWithout[] = {TrialRecord::kMetricFieldNumber, TrialRecord::kEpochFieldNumber,
                              TrialRecord::kDetailsFieldNumber};
  std::mutex mutex;
  std::map<std::string, Found> found;
  std::map<std::string, int64_t> of_user;
  std::map<std::string, std::string> maker;  // of checkpoints and outputs, by their folder
  UnreadRecords unread_sizes;
  // The size; 0 if it can't be read, which this notes. Call it with the mutex locked.
  const auto size_of = [&unread_sizes](const absl::StatusOr<int64_t>& bytes) {
    unread_sizes.Add(bytes.status());
    return bytes.value_or(0);
  };
  const auto use = [&](int64_t /*number*/, const TrialRecord* record) {
    const std::string path = store.RecordPath(record->trial_id());
    const absl::StatusOr<int64_t> bytes =
        store.bundle() != nullptr ? static_cast<int64_t>(store.bundle()->records.at(path).size()) : BytesBelow(path);
    const std::lock_guard<std::mutex> lock(mutex);
    Found& of_study = found[record->trial().experiment()];
    StudyUsage& usage = of_study.usage;
    ++usage.records;
    const int64_t of_record = size_of(bytes);
    usage.bytes += of_record;
    for (const StageProvenance& stage : record->provenance().stage()) {
      if (!stage.user_name().empty()) usage.users.insert(stage.user_name());
      usage.last_seconds = std::max(usage.last_seconds, stage.ended_at_seconds());
      if (stage.stage() == StageProvenance::TRAIN) of_study.checkpoints.insert(stage.key());
      if (stage.stage() == StageProvenance::INFER || stage.stage() == StageProvenance::FIT) {
        of_study.outputs.insert(stage.key());
      }
      if (stage.user_name().empty() || !IsKey(stage.key())) continue;
      if (stage.stage() == StageProvenance::EVALUATE) of_user[stage.user_name()] += of_record;
      const bool trains = stage.stage() == StageProvenance::TRAIN;
      if (trains || stage.stage() == StageProvenance::INFER || stage.stage() == StageProvenance::FIT) {
        std::string& user = maker[trains ? store.CheckpointFolder(stage.key()) : store.OutputsFolder(stage.key())];
        if (user.empty() || stage.user_name() < user) user = stage.user_name();
      }
    }
  };
  ForEachRecord(store, RecordIds(store, unread), kWithout, use, unread);
  std::vector<StudyUsage> studies;
  std::map<std::string, int64_t> below;  // each folder is measured once
  const auto bytes_of = [&](const std::string& folder) {
    const auto [known, is_new] = below.try_emplace(folder, 0);
    if (is_new) known->second = size_of(BytesBelow(folder));
    return known->second;
  };
  for (auto& [name, of_study] : found) {
    of_study.usage.name = name;
    // Records are untrusted: only keys may name folders.
    for (const std::string& key : of_study.checkpoints) {
      if (IsKey(key)) of_study.usage.bytes += bytes_of(store.CheckpointFolder(key));
    }
    for (const std::string& key : of_study.outputs) {
      if (IsKey(key)) of_study.usage.bytes += bytes_of(store.OutputsFolder(key));
    }
    studies.push_back(std::move(of_study.usage));
  }
  for (const auto& [folder, user] : maker) of_user[user] += bytes_of(folder);
  if (by_user != nullptr) *by_user = std::move(of_user);
  const std::set<std::string> lines(unread_sizes.unreadable.begin(), unread_sizes.unreadable.end());
  unread->unreadable.insert(unread->unreadable.end(), lines.begin(), lines.end());
  return studies;
}

std::vector<std::pair<std::string, int64_t>> UsageByKind(const Store& store, UnreadRecords* unread) {
  if (store.bundle() != nullptr) {
    std::vector<std::pair<std::string, int64_t>> kinds = {{"bundle", FileSize(store.folder())}, {"records", 0}};
    for (const auto& [path, bytes] : store.bundle()->records) kinds[1].second += static_cast<int64_t>(bytes.size());
    for (const char* kind : {"outputs", "checkpoints"}) {
      const absl::StatusOr<int64_t> bytes = BytesBelow(store.FolderOf(kind));
      unread->Add(bytes.status());
      if (bytes.value_or(0) > 0) kinds.emplace_back(kind, *bytes);
    }
    return kinds;
  }
  const absl::StatusOr<std::vector<std::string>> names = NamesInFolder(store.folder());
  unread->Add(names.status());
  std::vector<std::pair<std::string, int64_t>> kinds;
  if (!names.ok()) return kinds;
  for (const std::string& name : *names) {
    const absl::StatusOr<int64_t> bytes = BytesBelow(JoinPath(store.folder(), name));
    unread->Add(bytes.status());
    if (bytes.value_or(0) > 0 && name != "version") kinds.emplace_back(name, *bytes);
  }
  std::sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return kinds;
}

absl::StatusOr<int64_t> BytesOfStore(const Store& store) {
  UnreadRecords unread;
  int64_t bytes = 0;
  for (const auto& [kind, of_kind] : UsageByKind(store, &unread)) bytes += of_kind;
  OPENSET_RETURN_IF_ERROR(unread.ReadFailure());
  return bytes;
}

std::string BytesText(int64_t bytes) {
  if (bytes < 1000) return absl::StrCat(bytes, " B");
  double value = static_cast<double>(bytes);
  const char* const units[] = {"kB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (value /= 1000; value >= 1000 && unit + 1 < std::size(units); ++unit) value /= 1000;
  return absl::StrFormat("%.1f %s", value, units[unit]);
}

absl::StatusOr<int64_t> ParseBytes(absl::string_view text) {
  const absl::string_view all = text;
  double factor = 1;
  for (const auto& [unit, bytes] : {std::pair{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1.0}}) {
    if (!absl::EndsWithIgnoreCase(text, unit)) continue;
    text.remove_suffix(absl::string_view(unit).size());
    factor = bytes;
    break;
  }
  double number = 0;
  text = absl::StripAsciiWhitespace(text);
  // SimpleAtod() would parse "0x10" as 16.
  if (text.find_first_not_of("0123456789.eE+") != absl::string_view::npos || !absl::SimpleAtod(text, &number) ||
      !(number >= 0) || !(number * factor <= 1e18)) {
    return absl::InvalidArgumentError(absl::StrCat("'", OneLine(all), "' is not a size: write 200GB or 500MB"));
  }
  return static_cast<int64_t>(number * factor);
}

namespace {

constexpr absl::Duration kInUse = absl::Hours(1);

// logs/<key>.log, or a log of a worker, which has a name of its own (LocalEngine).
bool IsLog(absl::string_view name) {
  return absl::ConsumeSuffix(&name, ".log") && (IsKey(name) || OwnerOfTemporary(name).has_value());
}

bool IsNumber(absl::string_view name) {
  int number = 0;
  return absl::SimpleAtoi(name, &number) && number > 0 && name == absl::StrCat(number);
}

class GarbageSearch {
 public:
  GarbageSearch(const Store& store, const GarbagePolicy& policy) : store_(store), policy_(policy) {}

  absl::StatusOr<GarbageFound> Run() {
    OPENSET_RETURN_IF_ERROR(ReadRecords());
    absl::StatusOr<absl::Time> now = store_.Now();
    now_ = now.ok() ? *now : absl::Now();
    const absl::StatusOr<std::vector<std::string>> orphans = Orphans(store_, now_);
    OPENSET_RETURN_IF_ERROR(orphans.status());
    for (const std::string& path : *orphans)
      Add(path, "a temporary file of a process that no longer exists", std::nullopt);
    AddPartials();
    for (const std::string& key : OutputsKeys(store_, &unread_)) {
      if (used_.count(key) == 0) {
        Add(store_.OutputsFolder(key), "no record uses it", policy_.older_than);
      } else {
        more_.push_back({kOutputs, store_.OutputsFolder(key), "its records exist"});
      }
    }
    for (const std::string& key : CheckpointKeys(store_, &unread_)) AddCheckpoint(key);
    for (const auto& [name, path] : EntriesOf("logs")) {
      if (IsLog(name)) Add(path, "old", policy_.older_than);
    }
    for (const auto& [name, path] : EntriesOf("quarantine")) {
      if (IsNumber(name)) Add(path, "old", policy_.older_than);
    }
    AddPrograms();
    AddUntilSmall();
    OPENSET_RETURN_IF_ERROR(KnowsAll());
    std::sort(found_.begin(), found_.end(), [](const Garbage& a, const Garbage& b) { return a.path < b.path; });
    return GarbageFound{std::move(found_), now.status()};
  }

 private:
  // Returns the names and paths of the entries of a folder of the store. If it is a link, returns none, since its
  // target belongs to somebody else.
  std::vector<std::pair<std::string, std::string>> EntriesOf(const std::string& kind) {
    const std::string folder = JoinPath(store_.folder(), kind);
    std::vector<std::pair<std::string, std::string>> entries;
    std::error_code error;
    if (std::filesystem::is_symlink(folder, error)) return entries;
    const absl::StatusOr<std::vector<std::string>> names = NamesInFolder(folder);
    unread_.Add(names.status());
    if (!names.ok()) return entries;
    entries.reserve(names->size());
    for (const std::string& name : *names) entries.emplace_back(name, JoinPath(folder, name));
    return entries;
  }

  // Whether something that decides what is garbage could not be read. Then nothing may be removed.
  absl::Status KnowsAll() const {
    OPENSET_RETURN_IF_ERROR(unread_.ReadFailure());
    if (unread_.damaged.empty()) return absl::OkStatus();
    return absl::DataLossError(
        absl::StrCat(unread_.damaged[0], "; 'openset records verify' moves it to quarantine/, then try again"));
  }

  // Whether a result is there. If the system can't tell, notes why.
  bool Has(const absl::StatusOr<bool>& is_there) {
    unread_.Add(is_there.status());
    return is_there.ok() && *is_there;
  }

  // Reads the keys that records were made from.
  absl::Status ReadRecords() {
    constexpr int kWithout[] = {TrialRecord::kTrialFieldNumber, TrialRecord::kMetricFieldNumber,
                                TrialRecord::kEpochFieldNumber, TrialRecord::kDetailsFieldNumber};
    std::vector<TrialRecord> records = LoadRecords(store_, &unread_, kWithout);
    OPENSET_RETURN_IF_ERROR(KnowsAll());
    if (!unread_.other_versions.empty()) OPENSET_RETURN_IF_ERROR(AddOtherVersions(&records));
    for (const TrialRecord& record : records) {
      std::set<std::string> trainings;
      for (const StageProvenance& stage : record.provenance().stage()) {
        used_.insert(stage.key());
        if (stage.stage() == StageProvenance::TRAIN) trainings.insert(stage.key());
      }
      for (const std::string& key : {record.outputs_key(), record.fit_outputs_key(), record.checkpoint_key()}) {
        used_.insert(key);
      }
      trainings.insert(record.checkpoint_key());
      const bool has_outputs = Has(store_.HasOutputs(record.outputs_key())) &&
                               (!record.has_fit_outputs_key() || Has(store_.HasOutputs(record.fit_outputs_key())));
      if (!has_outputs) wanted_.insert(trainings.begin(), trainings.end());
    }
    return absl::OkStatus();
  }

  // Adds the records of other schema versions, as far as this openset can read them, so that what they refer to is
  // kept.
  absl::Status AddOtherVersions(std::vector<TrialRecord>* records) {
    for (const std::string& id : RecordIds(store_, &unread_)) {
      TrialRecord record;
      const absl::Status read = ReadRecordFile(store_.RecordPath(id), &record);
      if (IsReadFailure(read)) return read;
      if (read.ok() && record.schema_version() != kSchemaVersion) records->push_back(std::move(record));
    }
    return KnowsAll();
  }

  void AddPartials() {
    for (const auto& [name, path] : EntriesOf("partial")) {
      absl::string_view key = name;
      absl::ConsumeSuffix(&key, ".safetensors");
      if (!IsKey(key) || !Has(store_.HasCheckpoint(std::string(key)))) continue;
      Add(path, "its training is complete", std::nullopt);
    }
  }

  void AddCheckpoint(const std::string& key) {
    if (used_.count(key) == 0) {
      Add(store_.CheckpointFolder(key), "no record uses it", policy_.older_than);
    } else if (wanted_.count(key) > 0) {
      more_.push_back({kWanted, store_.CheckpointFolder(key), "its records exist"});
    } else if (!policy_.checkpoints_older_than.has_value() ||
               !Add(store_.CheckpointFolder(key), kHasOutputs, *policy_.checkpoints_older_than)) {
      more_.push_back({kCheckpoint, store_.CheckpointFolder(key), kHasOutputs});
    }
  }

  void AddPrograms() {
    if (!policy_.programs_in_use.has_value()) return;
    for (const auto& [name, path] : EntriesOf("programs")) {
      if (!IsKey(name) || policy_.programs_in_use->count(name) > 0) continue;
      Add(path, "no unfinished array of Slurm runs it", absl::ZeroDuration());
    }
  }

  // Adds garbage if it is older than `older_than` (absent: at any age), and returns whether it did. Younger garbage may
  // still be removed to reduce the store's size.
  bool Add(const std::string& path, const std::string& reason, std::optional<absl::Duration> older_than) {
    const std::optional<absl::Time> changed = ChangedAt(path);
    if (!changed.has_value()) return true;
    if (older_than.has_value() && now_ - *changed < std::max(*older_than, kInUse)) {
      if (reason != kHasOutputs) more_.push_back({kUnused, path, reason});
      return false;
    }
    found_.push_back({path, reason, Bytes(path)});
    return true;
  }

  // When an entry was changed; none if it is gone, or if the system can't tell, which this notes.
  std::optional<absl::Time> ChangedAt(const std::string& path) {
    struct stat info;
    if (lstat(path.c_str(), &info) == 0) return absl::FromUnixSeconds(info.st_mtime);
    unread_.Add(ReadError(errno, absl::StrCat("cannot look at ", path)));
    return std::nullopt;
  }

  int64_t Bytes(const std::string& path) {
    const absl::StatusOr<int64_t> bytes = BytesBelow(path, BytesOf::kFreed);
    unread_.Add(bytes.status());
    return bytes.value_or(0);
  }

  void AddUntilSmall() {
    if (!policy_.most_bytes.has_value()) return;
    const absl::StatusOr<int64_t> of_store = BytesOfStore(store_);
    unread_.Add(of_store.status());
    int64_t bytes = of_store.value_or(0);
    for (const Garbage& garbage : found_) bytes -= garbage.bytes;
    if (bytes <= *policy_.most_bytes) return;
    std::vector<std::pair<std::pair<Need, absl::Time>, const Candidate*>>
        order;  // the least needed first, then the oldest
    for (const Candidate& one : more_) {
      const std::string key = one.path.substr(one.path.rfind('/') + 1);
      if (policy_.needed.count(key) > 0) continue;
      const std::optional<absl::Time> changed = ChangedAt(one.path);
      if (!changed.has_value() || (now_ - *changed < kInUse && policy_.done_with.count(key) == 0)) continue;
      order.push_back({{one.need, *changed}, &one});
    }
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second->path < b.second->path;
    });
    for (const auto& [place, one] : order) {
      if (bytes <= *policy_.most_bytes) return;
      found_.push_back({one->path, absl::StrCat("to free space; ", one->reason), Bytes(one->path)});
      bytes -= found_.back().bytes;
    }
  }

  // How much would be lost, in ascending order.
  enum Need { kUnused, kCheckpoint, kOutputs, kWanted };
  struct Candidate {
    Need need;
    std::string path;
    std::string reason;
  };
  static constexpr char kHasOutputs[] = "the outputs of its model exist";

  const Store& store_;
  const GarbagePolicy& policy_;
  absl::Time now_;
  UnreadRecords unread_;
  std::set<std::string> used_;    // keys that records were made from
  std::set<std::string> wanted_;  // keys of trainings without stored outputs
  std::vector<Garbage> found_;
  std::vector<Candidate> more_;  // removed only to reduce the store's size
};

}  // namespace

absl::StatusOr<GarbageFound> FindGarbage(const Store& store, const GarbagePolicy& policy) {
  OPENSET_RETURN_IF_ERROR(store.CheckIsStore());
  return GarbageSearch(store, policy).Run();
}

absl::Status RemoveGarbage(const Store& store, const GarbageFound& found) {
  if (!found.garbage.empty()) OPENSET_RETURN_IF_ERROR(found.clock);
  for (const Garbage& one : found.garbage) OPENSET_RETURN_IF_ERROR(store.Remove(one.path));
  return absl::OkStatus();
}

}  // namespace openset
