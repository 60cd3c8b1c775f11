#include "data/sets/data_set.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/files/digest_cache.h"
#include "core/files/files.h"
#include "core/files/md5.h"
#include "core/in_parallel.h"
#include "core/status_macros.h"
#include "data/catalog.h"
#include "data/memory_source.h"
#include "data/readers/cifar_binary.h"
#include "data/readers/idx.h"
#include "data/readers/image_folder.h"
#include "data/readers/image_list.h"
#include "data/readers/images/png_sheet.h"
#include "data/readers/mat.h"
#include "data/readers/noise_source.h"
#include "data/readers/npz_images.h"
#include "data/sets/data_set_parts.h"
#include "data/sets/part_files.h"

namespace openset {
namespace {

// The label that stands for each class -> the class's id. `labels`: in the order of the ids, none for ids themselves.
template <typename Labels>
absl::Status MapLabels(const Labels& labels, ImageSet* set) {
  if (labels.empty()) return absl::OkStatus();
  std::unordered_map<int32_t, int32_t> id;
  for (int i = 0; i < labels.size(); ++i) id[labels[i]] = i;
  for (int32_t& label : set->labels) {
    const auto found = id.find(label);
    if (found == id.end()) {
      return absl::DataLossError(absl::StrCat("label ", label, " stands for no class (class_label of the catalog)"));
    }
    label = found->second;
  }
  return absl::OkStatus();
}

void Transpose(ImageSet* set) {
  std::vector<uint8_t> turned(set->pixels.size());
  const int64_t height = set->height, width = set->width;
  for (size_t begin = 0; begin < turned.size(); begin += height * width) {
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) turned[begin + x * height + y] = set->pixels[begin + y * width + x];
    }
  }
  set->pixels = std::move(turned);
  std::swap(set->height, set->width);
}

absl::StatusOr<ImageSet> ReadImages(const DataSetInfo& info, const FoundPart& found) {
  switch (found.part.format_case()) {
    case DataSetPart::kIdx: {
      OPENSET_ASSIGN_OR_RETURN(ImageSet set, ReadIdx(found.paths[0], found.paths[1]));
      OPENSET_RETURN_IF_ERROR(MapLabels(found.part.idx().class_label(), &set), found.paths[1]);
      if (found.part.idx().transposed()) Transpose(&set);
      return set;
    }
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
    case DataSetPart::kMat: {
      const MatFiles& mat = found.part.mat();
      OPENSET_ASSIGN_OR_RETURN(ImageSet set, ReadMat(found.paths[0], mat.images(), mat.labels()));
      OPENSET_RETURN_IF_ERROR(MapLabels(mat.class_label(), &set), found.paths[0]);
      return set;
    }
    case DataSetPart::kNpz: {
      const NpzFiles& npz = found.part.npz();
      OPENSET_ASSIGN_OR_RETURN(
          ImageSet set, ReadNpzImages(found.paths[0], found.paths.back(), npz.images_array(), npz.labels_array()));
      OPENSET_RETURN_IF_ERROR(MapLabels(npz.class_label(), &set), found.paths.back());
      return set;
    }
    case DataSetPart::kImageFolder:
    case DataSetPart::kImageList:
      return absl::UnimplementedError(absl::StrCat(found.paths[0], ": is read image by image"));
    case DataSetPart::kNoise:
      return absl::UnimplementedError(absl::StrCat("data set '", info.name(), "' is made, not stored"));
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

std::vector<int64_t> CountOfEachClass(const DataSetInfo& info, const SampleIndex& index) {
  std::vector<int64_t> count(info.class_name_size(), 0);
  for (const int32_t label : index.label) ++count[label];
  return count;
}

// kDataLoss if there are more or fewer images of a class than in the catalog; of files that are counted, none or more.
// `where`: what the images of a class lie in.
template <typename Where>
absl::Status CheckCounts(const DataSetInfo& info, const DataSetPart& part, const SampleIndex& index,
                         const Where& where) {
  const std::vector<int64_t> count = CountOfEachClass(info, index);
  const bool counted = part.image_folder().count_files();
  for (int id = 0; id < info.class_name_size(); ++id) {
    const int64_t wanted = SamplesOfClass(part, id);
    if (count[id] == wanted || (counted && count[id] > 0 && count[id] < wanted)) continue;
    return absl::DataLossError(absl::StrCat(where(id), ": has ", count[id], " images, not ", counted ? "1 to " : "",
                                            wanted, " as the catalog says of part '", part.name(), "' of data set '",
                                            info.name(), "'; fetch the files again"));
  }
  return absl::OkStatus();
}

// Lists the folders.
absl::StatusOr<std::shared_ptr<const ImageSource>> OpenFolder(const DataSetInfo& info, const FoundPart& found) {
  const ImageFolderFiles& files = found.part.image_folder();
  const std::vector<std::string> folders = ClassFolders(info, files);
  ImageFolderOptions options;
  options.skip = {files.skip().begin(), files.skip().end()};
  options.exif_orientation = files.exif_orientation();
  if (files.has_share()) options.share = {files.share().seed(), files.share().test_share(), files.share().test()};
  std::vector<bool> is_empty;
  for (int id = 0; id < info.class_name_size(); ++id) {
    // Elsewhere classes may be stored too, so that only a folder that is not there is passed over.
    is_empty.push_back(SamplesOfClass(found.part, id) == 0 && !FileExists(JoinPath(found.paths[0], folders[id])));
  }
  OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<const ImageSource> source,
                           OpenImageFolder(found.paths[0], folders, {info.channels(), info.height(), info.width()},
                                           found.part.name(), options, is_empty));
  OPENSET_RETURN_IF_ERROR(
      CheckCounts(info, found.part, source->index(), [&](int id) { return JoinPath(found.paths[0], folders[id]); }));
  return source;
}

// Reads the lists.
absl::StatusOr<std::shared_ptr<const ImageSource>> OpenList(const DataSetInfo& info, const FoundPart& found) {
  const ImageListFiles& files = found.part.image_list();
  const auto lists_end = found.paths.begin() + 1 + files.list_size();
  OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<const ImageSource> source,
                           OpenImageList(found.paths[0], {found.paths.begin() + 1, lists_end},
                                         files.has_part_table() ? found.paths.back() : "", files,
                                         {info.class_name().begin(), info.class_name().end()},
                                         {info.channels(), info.height(), info.width()}, found.part.name()));
  OPENSET_RETURN_IF_ERROR(CheckCounts(info, found.part, source->index(), [&](int id) {
    return absl::StrCat(found.paths[1], ": class ", id, " (", info.class_name(id), ")");
  }));
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

// The images that a list names are there.
absl::Status CheckListed(const DataSetInfo& info, const FoundPart& found) {
  OPENSET_ASSIGN_OR_RETURN(const auto source, OpenList(info, found));
  for (int64_t i = 0; i < source->index().size(); ++i) {
    const std::string path = source->Describe(i);
    if (!FileExists(path)) {
      return absl::NotFoundError(absl::StrCat(path, ": is listed in ", found.paths[1], ", and is not there"));
    }
  }
  return absl::OkStatus();
}

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

// Puts the numbers of the files that are there in the place of the catalog's bounds.
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
  const std::vector<const DataFile*> files = FilesOf(found.part);
  const size_t first = found.paths.size() - files.size();
  for (size_t i = 0; i < files.size(); ++i) OPENSET_RETURN_IF_ERROR(CheckFile(found.paths[first + i], *files[i]));
  if (found.part.has_image_folder()) return CheckFolder(info, found);
  if (found.part.has_image_list()) return CheckListed(info, found);
  return absl::OkStatus();
}

absl::StatusOr<std::string> ContentDigest(const DataSetInfo& info, absl::string_view part,
                                          const std::vector<std::string>& data_folders,
                                          const ProgressReport& progress) {
  OPENSET_ASSIGN_OR_RETURN(const FoundPart found, FindPartFiles(info, part, data_folders));
  const DigestCache digests = DigestCache::OfUser();
  Sha256 sum;
  const size_t files = FilesOf(found.part).size();
  for (size_t i = found.paths.size() - files; i < found.paths.size(); ++i) {
    OPENSET_ASSIGN_OR_RETURN(const std::string digest, digests.Sha256Hex(found.paths[i]));
    sum.Update(absl::StrCat(digest, "\n"));
  }
  if (!found.part.has_image_folder() && !found.part.has_image_list()) return files > 0 ? ToHex(sum.Finish()) : "";
  OPENSET_ASSIGN_OR_RETURN(const auto source,
                           found.part.has_image_folder() ? OpenFolder(info, found) : OpenList(info, found));
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
    digest[i] = digests.Sha256HexOfFiles(folder, names, [&] {
      ++hashed;
      add(1);
    });
    add(static_cast<int64_t>(names.size()) - hashed);
  });
  for (size_t i = 0; i < folders.size(); ++i) {
    OPENSET_RETURN_IF_ERROR(digest[i].status());
    sum.Update(absl::StrCat(absl::StripPrefix(folders[i].first, found.paths[0]), " ", *digest[i], "\n"));
  }
  return ToHex(sum.Finish());
}

absl::Status AddContentDigests(absl::string_view data_set, const std::set<std::string>& parts,
                               const std::vector<std::string>& data_folders, Catalog* catalog,
                               const ProgressReport& progress) {
  DataSetInfo* info = catalog->FindMutable(data_set);
  if (info == nullptr) return absl::OkStatus();
  for (DataSetPart& part : *info->mutable_layout(0)->mutable_part()) {
    if (parts.count(part.name()) == 0 || HasChecksums(part) || part.has_content_sha256()) continue;
    absl::StatusOr<std::string> digest = ContentDigest(*info, part.name(), data_folders, progress);
    // What is missing is said where it is needed.
    if (absl::IsNotFound(digest.status()) || absl::IsDataLoss(digest.status())) continue;
    OPENSET_ASSIGN_OR_RETURN(*part.mutable_content_sha256(), std::move(digest));
    if (part.image_folder().count_files()) OPENSET_RETURN_IF_ERROR(CountFiles(*info, data_folders, &part));
  }
  return absl::OkStatus();
}

absl::StatusOr<ImageSet> LoadPart(const DataSetInfo& info, absl::string_view part,
                                  const std::vector<std::string>& data_folders) {
  OPENSET_ASSIGN_OR_RETURN(const FoundPart found, FindPartFiles(info, part, data_folders));
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
  OPENSET_ASSIGN_OR_RETURN(const FoundPart found, FindPartFiles(info, part, data_folders));
  if (found.part.has_image_folder()) return OpenFolder(info, found);
  if (found.part.has_image_list()) return OpenList(info, found);
  if (found.part.has_noise()) {
    return MakeNoiseSource(found.part.noise(), info.name(), found.part.name(), found.part.samples(),
                           {info.channels(), info.height(), info.width()});
  }
  OPENSET_ASSIGN_OR_RETURN(ImageSet set, LoadPart(info, part, data_folders));
  return MakeMemorySource(std::move(set), std::string(part));
}

}  // namespace openset
