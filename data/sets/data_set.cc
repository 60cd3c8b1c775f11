#include "data/sets/data_set.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/files/digest_cache.h"
#include "core/files/file_state.h"
#include "core/files/files.h"
#include "core/in_parallel.h"
#include "core/status_macros.h"
#include "data/readers/images/decode_image.h"
#include "data/sets/data_set_parts.h"
#include "data/sets/feature_data_set.h"

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
    return absl::NotFoundError(absl::StrCat("data set '", info.name(), "': there is no ",
                                            HasFeatures(info) ? "file " : "folder ", path,
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

namespace {

absl::Status CheckFile(const std::string& path, const DataFile& file) {
  if (file.sha256_size() > 0) {
    OPENSET_ASSIGN_OR_RETURN(const std::string sum, DigestCache::OfUser().Sha256Hex(path));
    if (absl::c_linear_search(file.sha256(), sum)) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat(path, ": SHA-256 is ", sum, ", not ", absl::StrJoin(file.sha256(), " or "),
                                            "; fetch the file again"));
  }
  if (!file.has_md5()) return absl::OkStatus();
  OPENSET_ASSIGN_OR_RETURN(const std::string sum, Md5HexOfFile(path));
  if (sum == file.md5()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, ": MD5 is ", sum, ", not ", file.md5(), "; fetch the file again"));
}

// Returns how `set` contradicts the catalog's description of a part, "" if it does not.
std::string FindContradiction(const DataSetInfo& info, const DataSetPart& part, const ImageSet& set) {
  if (set.channels != info.channels() || set.height != info.height() || set.width != info.width()) {
    return absl::StrCat("has images of ", set.channels, " x ", set.height, " x ", set.width, ", not ", info.channels(),
                        " x ", info.height(), " x ", info.width());
  }
  if (set.size() != part.samples()) return absl::StrCat("has ", set.size(), " samples, not ", part.samples());
  std::vector<int64_t> count(info.class_name_size(), 0);
  for (const int32_t label : set.labels) {
    if (label < 0 || label >= info.class_name_size()) {
      return absl::StrCat("has a sample of class ", label, " (0 to ", info.class_name_size() - 1, ")");
    }
    ++count[label];
  }
  for (int id = 0; id < info.class_name_size(); ++id) {
    if (count[id] != SamplesOfClass(part, id)) {
      return absl::StrCat("has ", count[id], " samples of class ", id, ", not ", SamplesOfClass(part, id));
    }
  }
  return "";
}

// Replaces the catalog's upper limits by the numbers of files that exist.
absl::Status CountFiles(const DataSetInfo& info, const std::vector<std::string>& data_folders, DataSetPart* part) {
  OPENSET_ASSIGN_OR_RETURN(const auto source, OpenPart(info, part->name(), data_folders));
  part->set_samples(source->index().size());
  part->clear_samples_per_class();
  for (const int64_t count : CountOfEachClass(info, source->index())) part->add_samples_per_class(count);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFiles(const DataSetInfo& info, absl::string_view part, const std::vector<std::string>& data_folders) {
  OPENSET_ASSIGN_OR_RETURN(const FoundPart found, FindPartFiles(info, part, data_folders));
  const PartFormat& format = FormatOf(found.part);
  for (const DataFile* file : format.Files(found.part)) OPENSET_RETURN_IF_ERROR(CheckFile(found.PathOf(*file), *file));
  return format.CheckImageFiles(info, found);
}

absl::StatusOr<std::string> ContentDigest(const DataSetInfo& info, absl::string_view part,
                                          const std::vector<std::string>& data_folders, const ProgressReport& progress,
                                          std::vector<std::string>* damaged) {
  OPENSET_ASSIGN_OR_RETURN(const FoundPart found, FindPartFiles(info, part, data_folders));
  const DigestCache digests = DigestCache::OfUser();
  Sha256 sum;
  for (const std::string& file : found.files) {
    OPENSET_ASSIGN_OR_RETURN(const std::string digest, digests.Sha256Hex(file));
    sum.Update(absl::StrCat(digest, "\n"));
  }
  if (found.folder.empty()) return found.files.empty() ? "" : ToHex(sum.Finish());
  OPENSET_ASSIGN_OR_RETURN(const auto source, FormatOf(found.part).Open(info, found));
  std::map<std::string, std::vector<std::string>> images;  // by folder, in the order of the samples
  const int64_t total = source->index().size();
  for (int64_t i = 0; i < total; ++i) {
    const std::string path = source->Describe(i);
    const size_t slash = path.rfind('/');
    images[path.substr(0, slash)].push_back(path.substr(slash + 1));
  }
  const std::vector<std::pair<std::string, std::vector<std::string>>> folders(images.begin(), images.end());
  std::vector<absl::StatusOr<std::string>> digest(folders.size());
  std::mutex mutex;
  int64_t done = 0;
  const std::string what = absl::StrCat("hashing ", info.name(), " ", part);
  const auto add = [&](int64_t more) {
    if (progress == nullptr || more == 0) return;
    const std::lock_guard<std::mutex> lock(mutex);
    done += more;
    progress(what, done, total);
  };
  InParallel(static_cast<int64_t>(folders.size()), [&](int64_t i) {
    const auto& [folder, names] = folders[i];
    int64_t hashed = 0;
    digest[i] = digests.Sha256HexOfFiles(folder, names, [&](const std::string& path) {
      ++hashed;
      add(1);
      const absl::Status image = damaged == nullptr ? absl::OkStatus() : CheckImageFile(path);
      if (!absl::IsDataLoss(image)) return true;
      const std::lock_guard<std::mutex> lock(mutex);
      damaged->emplace_back(image.message());
      return false;
    });
    add(static_cast<int64_t>(names.size()) - hashed);
  });
  for (size_t i = 0; i < folders.size(); ++i) {
    OPENSET_RETURN_IF_ERROR(digest[i].status());
    sum.Update(absl::StrCat(absl::StripPrefix(folders[i].first, found.folder), " ", *digest[i], "\n"));
  }
  return ToHex(sum.Finish());
}

absl::Status AddContentDigests(absl::string_view data_set, const std::set<std::string>& parts,
                               const std::vector<std::string>& data_folders, Catalog* catalog,
                               const ProgressReport& progress, std::vector<std::string>* damaged) {
  DataSetInfo* info = catalog->FindMutable(data_set);
  if (info == nullptr) return absl::OkStatus();
  for (DataSetPart& part : *info->mutable_layout(0)->mutable_part()) {
    if (parts.count(part.name()) == 0 || HasChecksums(part) || part.has_content_sha256()) continue;
    absl::StatusOr<std::string> digest = ContentDigest(*info, part.name(), data_folders, progress, damaged);
    // Missing files are reported where they are needed.
    if (absl::IsNotFound(digest.status()) || absl::IsDataLoss(digest.status())) continue;
    OPENSET_ASSIGN_OR_RETURN(*part.mutable_content_sha256(), std::move(digest));
    if (CountsFiles(part)) OPENSET_RETURN_IF_ERROR(CountFiles(*info, data_folders, &part));
  }
  return absl::OkStatus();
}

absl::StatusOr<ImageSet> LoadPart(const DataSetInfo& info, absl::string_view part,
                                  const std::vector<std::string>& data_folders) {
  OPENSET_ASSIGN_OR_RETURN(const FoundPart found, FindPartFiles(info, part, data_folders));
  OPENSET_ASSIGN_OR_RETURN(ImageSet set, FormatOf(found.part).Read(info, found));
  const std::string contradiction = FindContradiction(info, found.part, set);
  if (!contradiction.empty()) {
    return absl::DataLossError(absl::StrCat(absl::StrJoin(found.paths(), ", "), ": part '", part, "' of data set '",
                                            info.name(), "' ", contradiction, "; fetch the files again"));
  }
  return set;
}

absl::StatusOr<std::shared_ptr<const ImageSource>> OpenPart(const DataSetInfo& info, absl::string_view part,
                                                            const std::vector<std::string>& data_folders) {
  OPENSET_ASSIGN_OR_RETURN(const FoundPart found, FindPartFiles(info, part, data_folders));
  OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<const ImageSource> source, FormatOf(found.part).Open(info, found));
  if (source != nullptr) return source;
  OPENSET_ASSIGN_OR_RETURN(ImageSet set, LoadPart(info, part, data_folders));
  return MakeMemorySource(std::move(set), std::string(part));
}

absl::StatusOr<OpenedSelection> OpenSelection(const Selection& selection, const DataSetInfo& info,
                                              const PartOpener& open_part) {
  std::vector<std::shared_ptr<const ImageSource>> parts;
  for (const PartOfDataSet& part : PartsOf(selection)) {
    OPENSET_ASSIGN_OR_RETURN(parts.emplace_back(), open_part(part.part()));
  }
  OpenedSelection opened;
  opened.source = JoinSources(std::move(parts));
  OPENSET_ASSIGN_OR_RETURN(opened.samples, SelectSamples(opened.source->index(), selection, &info));
  return opened;
}

absl::StatusOr<OpenedSelection> OpenSelection(const Selection& selection, const Catalog& catalog,
                                              const std::vector<std::string>& data_folders) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(selection.data_set()));
  return OpenSelection(selection, *info, [&](const std::string& part) { return OpenPart(*info, part, data_folders); });
}

}  // namespace openset
