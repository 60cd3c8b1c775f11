#include "experiments/store/store_usage.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <mutex>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/files/disk_error.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "experiments/spec/trial.proto.h"
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

std::vector<StudyUsage> UsageByStudy(const Store& store, UnreadRecords* unread) {
  constexpr int kWithout[] = {TrialRecord::kMetricFieldNumber, TrialRecord::kEpochFieldNumber,
                              TrialRecord::kDetailsFieldNumber};
  std::mutex mutex;
  std::map<std::string, Found> found;
  UnreadRecords unread_sizes;
  // The size; 0 if it can't be read, which this notes. Call it with the mutex locked.
  const auto size_of = [&unread_sizes](const absl::StatusOr<int64_t>& bytes) {
    unread_sizes.Add(bytes.status());
    return bytes.value_or(0);
  };
  const auto use = [&](int64_t /*number*/, const TrialRecord* record) {
    const absl::StatusOr<int64_t> bytes = BytesBelow(store.RecordPath(record->trial_id()));
    const std::lock_guard<std::mutex> lock(mutex);
    Found& of_study = found[record->trial().experiment()];
    StudyUsage& usage = of_study.usage;
    ++usage.records;
    usage.bytes += size_of(bytes);
    for (const StageProvenance& stage : record->provenance().stage()) {
      if (!stage.user_name().empty()) usage.users.insert(stage.user_name());
      usage.last_seconds = std::max(usage.last_seconds, stage.ended_at_seconds());
      if (stage.stage() == StageProvenance::TRAIN) of_study.checkpoints.insert(stage.key());
      if (stage.stage() == StageProvenance::INFER || stage.stage() == StageProvenance::FIT) {
        of_study.outputs.insert(stage.key());
      }
    }
  };
  ForEachRecord(store, RecordIds(store, unread), kWithout, use, unread);
  std::vector<StudyUsage> studies;
  for (auto& [name, of_study] : found) {
    of_study.usage.name = name;
    // Records are untrusted: only keys may name folders.
    for (const std::string& key : of_study.checkpoints) {
      if (IsKey(key)) of_study.usage.bytes += size_of(BytesBelow(store.CheckpointFolder(key)));
    }
    for (const std::string& key : of_study.outputs) {
      if (IsKey(key)) of_study.usage.bytes += size_of(BytesBelow(store.OutputsFolder(key)));
    }
    studies.push_back(std::move(of_study.usage));
  }
  const std::set<std::string> lines(unread_sizes.unreadable.begin(), unread_sizes.unreadable.end());  // studies share
  unread->unreadable.insert(unread->unreadable.end(), lines.begin(), lines.end());
  return studies;
}

std::vector<std::pair<std::string, int64_t>> UsageByKind(const Store& store, UnreadRecords* unread) {
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

}  // namespace openset
