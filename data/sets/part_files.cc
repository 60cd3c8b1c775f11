#include "data/sets/part_files.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/file_state.h"
#include "core/files/files.h"
#include "core/in_parallel.h"
#include "core/status_macros.h"
#include "data/sets/data_set_parts.h"

namespace openset {
namespace {

// Returns the path of an existing file, "" if there is none.
std::string FindFile(const std::string& path, const std::vector<std::string>& data_folders) {
  if (!path.empty() && path[0] == '/') return FileExists(path) ? path : "";  // in a folder that a task names
  for (const std::string& folder : data_folders) {
    std::string candidate = JoinPath(folder, path);
    if (FileExists(candidate)) return candidate;
  }
  return "";
}

// Returns how the user can get missing files.
std::string WhereToGet(const DataSetInfo& info) {
  if (info.fetch_size() > 0) return absl::StrCat("; run 'openset data fetch ", info.name(), "'");
  if (info.source_size() > 0) return absl::StrCat("; available from ", absl::StrJoin(info.source(), "; or "));
  return "";
}

uint64_t HashOfState(const std::string& path) { return std::hash<std::string>()(StateOf(path).text); }

// Files whose states one thread compares at a time.
constexpr int64_t kFilesAtOnce = 256;

}  // namespace

absl::StatusOr<FoundPart> FindPartFiles(const DataSetInfo& info, absl::string_view part_name,
                                        const std::vector<std::string>& data_folders) {
  OPENSET_RETURN_IF_ERROR(FindPart(info, part_name).status());
  // The missing files of the layout that misses the fewest: most likely the one that the user has.
  std::vector<std::string> fewest_missing;
  for (const DataSetLayout& layout : info.layout()) {
    for (const DataSetPart& part : layout.part()) {
      if (part.name() != part_name) continue;
      FoundPart found{part, "", {}};
      std::vector<std::string> missing;
      const auto find = [&](const std::string& path) {
        std::string place = FindFile(path, data_folders);
        if (place.empty()) missing.push_back(path);
        return place;
      };
      const PartFormat& format = FormatOf(part);
      if (const std::string* folder = format.Folder(part); folder != nullptr) found.folder = find(*folder);
      for (const DataFile* file : format.Files(part)) found.files.push_back(find(file->path()));
      if (missing.empty()) return found;
      if (fewest_missing.empty() || missing.size() < fewest_missing.size()) fewest_missing = std::move(missing);
    }
  }
  if (const std::string& path = fewest_missing[0]; !path.empty() && path[0] == '/') {
    return absl::NotFoundError(absl::StrCat("data set '", info.name(), "': there is no folder ", path,
                                            "; if it was moved, write its new path into catalog/", info.name(),
                                            ".textproto (`path`; results stay valid), or describe it again"));
  }
  const size_t others = fewest_missing.size() - 1;
  return absl::NotFoundError(absl::StrCat(
      "data set '", info.name(), "': ", fewest_missing[0],
      others > 0 ? absl::StrCat(" and ", others, others > 1 ? " other files are" : " other file are") : " is",
      " in none of the data folders (", absl::StrJoin(data_folders, ", "), ")", WhereToGet(info)));
}

absl::StatusOr<PartStates> PartStates::Of(const DataSetInfo& info, absl::string_view part,
                                          const std::vector<std::string>& data_folders) {
  OPENSET_ASSIGN_OR_RETURN(FoundPart found, FindPartFiles(info, part, data_folders));
  PartStates states;
  if (!found.folder.empty()) {
    OPENSET_ASSIGN_OR_RETURN(states.images_, FormatOf(found.part).Open(info, found));
    const int64_t images = states.images_->index().size();
    states.image_states_.resize(static_cast<size_t>(images));
    InParallelWaitingRanges(images, kFilesAtOnce, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) states.image_states_[i] = HashOfState(states.images_->Describe(i));
    });
  }
  states.files_ = std::move(found.files);
  for (const std::string& file : states.files_) states.file_states_.push_back(HashOfState(file));
  return states;
}

std::string PartStates::FindChange(const std::vector<bool>& is_read) const {
  for (size_t f = 0; f < files_.size(); ++f) {
    if (HashOfState(files_[f]) != file_states_[f]) return files_[f];
  }
  const auto images = static_cast<int64_t>(std::min(is_read.size(), image_states_.size()));
  std::atomic<int64_t> first{images};
  InParallelWaitingRanges(images, kFilesAtOnce, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < std::min<int64_t>(end, first); ++i) {
      if (!is_read[i] || HashOfState(images_->Describe(i)) == image_states_[i]) continue;
      int64_t before = first;
      while (i < before && !first.compare_exchange_weak(before, i)) {
      }
    }
  });
  return first < images ? images_->Describe(first) : "";
}

}  // namespace openset
