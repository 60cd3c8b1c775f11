#include "data/data_set.h"

#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/digest_cache.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "data/catalog.h"
#include "data/memory_source.h"
#include "data/readers/cifar_binary.h"
#include "data/readers/idx.h"
#include "data/readers/image_folder.h"
#include "data/readers/png_sheet.h"

namespace openset {
namespace {

// What a part is stored in, below a data folder.
std::vector<std::string> PathsOf(const DataSetPart& part) {
  if (part.has_image_folder()) return {part.image_folder().path()};
  std::vector<std::string> paths;
  for (const DataFile* file : FilesOf(part)) paths.push_back(file->path());
  return paths;
}

// A part in a layout whose files are there.
struct FoundPart {
  DataSetPart part;
  std::vector<std::string> paths;  // of PathsOf(part)
};

// "" if there is none.
std::string FindFile(const std::string& path, const std::vector<std::string>& data_folders) {
  for (const std::string& folder : data_folders) {
    std::string candidate = JoinPath(folder, path);
    if (FileExists(candidate)) return candidate;
  }
  return "";
}

absl::StatusOr<FoundPart> FindFiles(const DataSetInfo& info, absl::string_view part_name,
                                    const std::vector<std::string>& data_folders) {
  OPENSET_RETURN_IF_ERROR(FindPart(info, part_name).status());
  // The missing files of the layout that has the fewest: most likely the one the user has.
  std::vector<std::string> fewest_missing;
  for (const DataSetLayout& layout : info.layout()) {
    for (const DataSetPart& part : layout.part()) {
      if (part.name() != part_name) continue;
      FoundPart found{part, {}};
      std::vector<std::string> missing;
      for (const std::string& path : PathsOf(part)) {
        found.paths.push_back(FindFile(path, data_folders));
        if (found.paths.back().empty()) missing.push_back(path);
      }
      if (missing.empty()) return found;
      if (fewest_missing.empty() || missing.size() < fewest_missing.size()) fewest_missing = std::move(missing);
    }
  }
  const size_t others = fewest_missing.size() - 1;
  return absl::NotFoundError(absl::StrCat(
      "data set '", info.name(), "': ", fewest_missing[0],
      others > 0 ? absl::StrCat(" and ", others, others > 1 ? " other files are" : " other file are") : " is",
      " in none of the data folders (", absl::StrJoin(data_folders, ", "), ")",
      info.source_size() > 0 ? absl::StrCat("; to be had from ", absl::StrJoin(info.source(), "; or ")) : ""));
}

absl::StatusOr<ImageSet> ReadImages(const DataSetInfo& info, const FoundPart& found) {
  switch (found.part.format_case()) {
    case DataSetPart::kIdx:
      return ReadIdx(found.paths[0], found.paths[1]);
    case DataSetPart::kCifarBinary: {
      CifarRecord record;
      record.label_bytes = found.part.cifar_binary().label_bytes();
      record.label_at = found.part.cifar_binary().label_at();
      record.channels = info.channels();
      record.height = info.height();
      record.width = info.width();
      return ReadCifarBinary(found.paths, record);
    }
    case DataSetPart::kPngSheet: {
      const std::vector<std::string> sheets(found.paths.begin(), found.paths.end() - 1);
      return ReadPngSheets(sheets, found.paths.back(), info.height(), info.width());
    }
    case DataSetPart::kImageFolder:
      return absl::UnimplementedError(absl::StrCat(found.paths[0], ": is read image by image"));
    case DataSetPart::FORMAT_NOT_SET:
      break;
  }
  return absl::InternalError("a part without a format");
}

// Below the part's folder, in the order of the class ids.
std::vector<std::string> ClassFolders(const DataSetInfo& info, const ImageFolderFiles& folder) {
  if (folder.class_folder_size() == 0) return {info.class_name().begin(), info.class_name().end()};
  return {folder.class_folder().begin(), folder.class_folder().end()};
}

// Lists the folders; kDataLoss if there are more or fewer images of a class than in the catalog.
absl::StatusOr<std::shared_ptr<const ImageSource>> OpenFolder(const DataSetInfo& info, const FoundPart& found) {
  std::vector<std::string> folders = ClassFolders(info, found.part.image_folder());
  for (std::string& folder : folders) folder = JoinPath(found.paths[0], folder);
  OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<const ImageSource> source,
                           OpenImageFolder(folders, {info.channels(), info.height(), info.width()}, found.part.name()));
  std::vector<int64_t> count(folders.size(), 0);
  for (const int32_t label : source->index().label) ++count[label];
  for (size_t id = 0; id < folders.size(); ++id) {
    const int64_t wanted = SamplesOfClass(found.part, static_cast<int>(id));
    if (count[id] == wanted) continue;
    return absl::DataLossError(absl::StrCat(folders[id], ": has ", count[id], " images, not ", wanted,
                                            " as the catalog says of part '", found.part.name(), "' of data set '",
                                            info.name(), "'; fetch the files again"));
  }
  return source;
}

absl::Status CheckFolder(const DataSetInfo& info, const FoundPart& found) {
  OPENSET_RETURN_IF_ERROR(OpenFolder(info, found).status());
  const ImageFolderFiles& folder = found.part.image_folder();
  if (!folder.has_listing_sha256()) return absl::OkStatus();
  OPENSET_ASSIGN_OR_RETURN(const std::string sum, ListingDigest(found.paths[0], ClassFolders(info, folder)));
  if (sum == folder.listing_sha256()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(found.paths[0], ": SHA-256 of the names and sizes of its images is ", sum,
                                          ", not ", folder.listing_sha256(),
                                          "; files are missing, new or cut short: fetch them again"));
}

// What the catalog says of a part that `set` contradicts, "" if nothing.
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

}  // namespace

absl::Status CheckFiles(const DataSetInfo& info, absl::string_view part, const std::vector<std::string>& data_folders) {
  OPENSET_ASSIGN_OR_RETURN(const FoundPart found, FindFiles(info, part, data_folders));
  if (found.part.has_image_folder()) return CheckFolder(info, found);
  const std::vector<const DataFile*> files = FilesOf(found.part);
  const DigestCache digests = DigestCache::OfUser();
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i]->sha256_size() == 0) continue;
    OPENSET_ASSIGN_OR_RETURN(const std::string sum, digests.Sha256Hex(found.paths[i]));
    if (!absl::c_linear_search(files[i]->sha256(), sum)) {
      return absl::DataLossError(absl::StrCat(found.paths[i], ": SHA-256 is ", sum, ", not ",
                                              absl::StrJoin(files[i]->sha256(), " or "), "; fetch the file again"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ImageSet> LoadPart(const DataSetInfo& info, absl::string_view part,
                                  const std::vector<std::string>& data_folders) {
  OPENSET_ASSIGN_OR_RETURN(const FoundPart found, FindFiles(info, part, data_folders));
  OPENSET_ASSIGN_OR_RETURN(ImageSet set, ReadImages(info, found));
  const std::string contradiction = FindContradiction(info, found.part, set);
  if (!contradiction.empty()) {
    return absl::DataLossError(absl::StrCat(absl::StrJoin(found.paths, ", "), ": part '", part, "' of data set '",
                                            info.name(), "' ", contradiction, "; fetch the files again"));
  }
  return set;
}

absl::StatusOr<std::shared_ptr<const ImageSource>> OpenPart(const DataSetInfo& info, absl::string_view part,
                                                            const std::vector<std::string>& data_folders) {
  OPENSET_ASSIGN_OR_RETURN(const FoundPart found, FindFiles(info, part, data_folders));
  if (found.part.has_image_folder()) return OpenFolder(info, found);
  OPENSET_ASSIGN_OR_RETURN(ImageSet set, LoadPart(info, part, data_folders));
  return MakeMemorySource(std::move(set), std::string(part));
}

}  // namespace openset
