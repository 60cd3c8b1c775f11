#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/hex.h"
#include "core/text/one_line.h"
#include "data/formats/part_format.h"
#include "data/path_below.h"
#include "data/readers/image_folder.h"
#include "data/readers/image_list.h"

namespace openset {
namespace {

class ImageFileFormat : public PartFormat {
 public:
  absl::StatusOr<ImageSet> Read(const DataSetInfo& /*info*/, const FoundPart& found) const final {
    return absl::UnimplementedError(absl::StrCat(found.folder, ": is read image by image"));
  }

 protected:
  static void FindImageProblems(const DataSetInfo& info, const std::string& path, std::vector<FieldProblem>* problems) {
    if (info.channels() != 1 && info.channels() != 3) {
      problems->push_back({path, absl::StrCat("holds images of 1 or 3 channels, not ", info.channels())});
    }
    if ((info.height() == 0) != (info.width() == 0)) {
      problems->push_back({path, "height and width must both be 0 if images have different sizes"});
    }
  }

  // `clusters`: the part's table, or null.
  static void FindClusterProblems(const DataSetInfo& info, const DataFile* clusters, const std::string& path,
                                  std::vector<FieldProblem>* problems) {
    if (clusters == nullptr) return;
    if (clusters->sha256_size() == 0)
      return problems->push_back({absl::StrCat(path, ".clusters.sha256"), "must be set"});
    for (const DataSetLayout& layout : info.layout()) {
      for (const DataSetPart& part : layout.part()) {
        const DataFile* other = TableOfClusters(part);
        const bool has_none = other == nullptr && !part.image_list().has_cluster_column();
        if (has_none || (other != nullptr && other->sha256_size() > 0 && other->sha256(0) == clusters->sha256(0)))
          continue;
        return problems->push_back(
            {absl::StrCat(path, ".clusters"),
             absl::StrCat("part '", part.name(), "' has its clusters from elsewhere: all parts need the same table")});
      }
    }
  }

  static const DataFile* TableOfClusters(const DataSetPart& part) {
    if (part.image_folder().has_clusters()) return &part.image_folder().clusters();
    return part.image_list().has_clusters() ? &part.image_list().clusters() : nullptr;
  }

  // What to do about images that are not the catalog's. An absolute path is the user's own folder.
  static std::string WhatToDo(const DataSetInfo& info, const std::string& path) {
    if (path.empty() || path[0] != '/') return "fetch the files again";
    if (absl::StrContains(info.name(), ':')) return "its images are changing: run the command again";  // "folder:/..."
    return absl::StrCat("its images have changed: bring the old ones back, or remove catalog/", info.name(),
                        ".textproto and describe the folder again");
  }

  // Returns kDataLoss if a class has more or fewer images than the catalog says or, if files are counted, none or more.
  // `where` describes what contains a class's images.
  template <typename Where>
  static absl::Status CheckCounts(const DataSetInfo& info, const DataSetPart& part, const std::string& path,
                                  const SampleIndex& index, const Where& where) {
    const std::vector<int64_t> count = CountOfEachClass(info, index);
    const bool counted = CountsFiles(part);
    for (int id = 0; id < info.class_name_size(); ++id) {
      const int64_t wanted = SamplesOfClass(part, id);
      if (count[id] == wanted || (counted && count[id] > 0 && count[id] < wanted)) continue;
      return absl::DataLossError(absl::StrCat(where(id), ": has ", count[id], " images, not ", counted ? "1 to " : "",
                                              wanted, " as the catalog says of part '", part.name(), "' of data set '",
                                              info.name(), "'; ", WhatToDo(info, path)));
    }
    return absl::OkStatus();
  }
};

class ImageFolder : public ImageFileFormat {
 public:
  const std::string* Folder(const DataSetPart& part) const override { return &part.image_folder().path(); }

  std::vector<const DataFile*> Files(const DataSetPart& part) const override {
    if (const DataFile* clusters = TableOfClusters(part)) return {clusters};
    return {};
  }

  void FindProblems(const DataSetInfo& info, const DataSetPart& part, const std::string& part_path,
                    std::vector<FieldProblem>* problems) const override {
    const ImageFolderFiles& folder = part.image_folder();
    const std::string path = absl::StrCat(part_path, ".image_folder");
    if (folder.class_folder_size() != 0 && folder.class_folder_size() != info.class_name_size()) {
      problems->push_back({absl::StrCat(path, ".class_folder"),
                           absl::StrCat("must have one folder for each of the ", info.class_name_size(),
                                        " classes (has ", folder.class_folder_size(), ")")});
    }
    if (folder.has_listing_sha256() && !IsSha256(folder.listing_sha256())) {
      problems->push_back({absl::StrCat(path, ".listing_sha256"), "must be 64 lower-case hexadecimal digits"});
    }
    FindClusterProblems(info, TableOfClusters(part), path, problems);
    FindImageProblems(info, path, problems);
    if (folder.class_folder_size() != 0) return;
    for (int id = 0; id < info.class_name_size(); ++id) {  // class names are the folders' names
      const std::string why = WhyNotBelow(info.class_name(id));
      if (why.empty()) continue;
      problems->push_back({absl::StrCat("class_name[", id, "]"),
                           absl::StrCat("'", OneLine(info.class_name(id)), "' ", why, ", and names a folder below ",
                                        path, ": name the folders in class_folder")});
    }
  }

  absl::StatusOr<std::shared_ptr<const ImageSource>> Open(const DataSetInfo& info,
                                                          const FoundPart& found) const override {
    const ImageFolderFiles& files = found.part.image_folder();
    const std::vector<std::string> folders = ClassFolders(info, files);
    ImageFolderOptions options;
    options.skip = {files.skip().begin(), files.skip().end()};
    options.exif_orientation = files.exif_orientation();
    options.first_per_class = files.first_per_class();
    if (files.has_clusters()) {
      OPENSET_ASSIGN_OR_RETURN(options.clusters, ReadImageClusters(found.PathOf(files.clusters()), found.folder));
    }
    options.sub_folders = files.sub_folders();
    if (files.has_share()) options.share = {files.share().seed(), files.share().test_share(), files.share().test()};
    std::vector<bool> is_empty;
    for (int id = 0; id < info.class_name_size(); ++id) {
      // A class without images may lack its folder. If the folder exists, it is read, so that CheckCounts() notices
      // images in it.
      is_empty.push_back(SamplesOfClass(found.part, id) == 0 && !FileExists(JoinPath(found.folder, folders[id])));
    }
    absl::StatusOr<std::shared_ptr<const ImageSource>> opened = OpenImageFolder(
        found.folder, folders, {info.channels(), info.height(), info.width()}, found.part.name(), options, is_empty);
    // A new image has no line in the table of clusters.
    if (absl::IsInvalidArgument(opened.status()) && absl::IsDataLoss(CheckListing(info, found, nullptr))) {
      return absl::DataLossError(absl::StrCat(opened.status().message(), "; ", WhatToDo(info, files.path())));
    }
    if (absl::IsNotFound(opened.status()) && absl::StartsWith(files.path(), "/")) {  // a class was renamed or removed
      return absl::DataLossError(absl::StrCat(opened.status().message(), "; ", WhatToDo(info, files.path())));
    }
    OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<const ImageSource> source, std::move(opened));
    OPENSET_RETURN_IF_ERROR(CheckCounts(info, found.part, files.path(), source->index(),
                                        [&](int id) { return JoinPath(found.folder, folders[id]); }));
    return source;
  }

  absl::Status CheckImageFiles(const DataSetInfo& info, const FoundPart& found) const override {
    OPENSET_ASSIGN_OR_RETURN(const auto source, Open(info, found));
    return CheckListing(info, found, source.get());
  }

 private:
  // Returns kDataLoss if the names and sizes of the images are not those of the catalog's digest of them. `source`: the
  // images, or null.
  static absl::Status CheckListing(const DataSetInfo& info, const FoundPart& found, const ImageSource* source) {
    const ImageFolderFiles& folder = found.part.image_folder();
    if (!folder.has_listing_sha256()) return absl::OkStatus();
    OPENSET_ASSIGN_OR_RETURN(const std::string sum,
                             ListingDigest(found.folder, ClassFolders(info, folder), folder.sub_folders(),
                                           {folder.skip().begin(), folder.skip().end()}));
    if (sum == folder.listing_sha256()) return absl::OkStatus();
    const std::string last = source == nullptr ? "" : LastToChange(*source);
    return absl::DataLossError(absl::StrCat(
        found.folder, ": the names and sizes of its images are not those of the catalog: files are missing, new, ",
        "renamed or of another size", last.empty() ? "" : absl::StrCat(" (the last to change was ", last, ")"), "; ",
        WhatToDo(info, folder.path())));
  }

  // Below the part's folder, in the order of the class ids.
  static std::vector<std::string> ClassFolders(const DataSetInfo& info, const ImageFolderFiles& folder) {
    if (folder.class_folder_size() == 0) return {info.class_name().begin(), info.class_name().end()};
    return {folder.class_folder().begin(), folder.class_folder().end()};
  }
};

class ImageList : public ImageFileFormat {
 public:
  const std::string* Folder(const DataSetPart& part) const override { return &part.image_list().path(); }

  std::vector<const DataFile*> Files(const DataSetPart& part) const override {
    std::vector<const DataFile*> files;
    for (const DataFile& list : part.image_list().list()) files.push_back(&list);
    if (part.image_list().has_part_table()) files.push_back(&part.image_list().part_table());
    if (const DataFile* clusters = TableOfClusters(part)) files.push_back(clusters);
    return files;
  }

  void FindProblems(const DataSetInfo& info, const DataSetPart& part, const std::string& path,
                    std::vector<FieldProblem>* problems) const override {
    const std::string here = absl::StrCat(path, ".image_list");
    FindImageProblems(info, here, problems);
    FindClusterProblems(info, TableOfClusters(part), here, problems);
    if (part.image_list().has_clusters() && part.image_list().has_cluster_column()) {
      problems->push_back({absl::StrCat(here, ".cluster_column"), "there is a table of clusters, too: remove one"});
    }
    if (part.image_list().has_part_table() == part.image_list().has_part_value()) return;
    problems->push_back({absl::StrCat(here, ".part_value"), "belongs to part_table"});
  }

  absl::StatusOr<std::shared_ptr<const ImageSource>> Open(const DataSetInfo& info,
                                                          const FoundPart& found) const override {
    const ImageListFiles& files = found.part.image_list();
    std::vector<std::string> lists;
    for (const DataFile& list : files.list()) lists.push_back(found.PathOf(list));
    OPENSET_ASSIGN_OR_RETURN(
        std::shared_ptr<const ImageSource> source,
        OpenImageList(found.folder, lists, files.has_part_table() ? found.PathOf(files.part_table()) : "",
                      files.has_clusters() ? found.PathOf(files.clusters()) : "", files,
                      {info.class_name().begin(), info.class_name().end()},
                      {info.channels(), info.height(), info.width()}, found.part.name()));
    OPENSET_RETURN_IF_ERROR(CheckCounts(info, found.part, files.path(), source->index(), [&](int id) {
      return absl::StrCat(lists[0], ": class ", id, " (", info.class_name(id), ")");
    }));
    return source;
  }

  // Checks that the images that the lists name exist.
  absl::Status CheckImageFiles(const DataSetInfo& info, const FoundPart& found) const override {
    OPENSET_ASSIGN_OR_RETURN(const auto source, Open(info, found));
    for (int64_t i = 0; i < source->index().size(); ++i) {
      const std::string path = source->Describe(i);
      if (FileExists(path)) continue;
      return absl::NotFoundError(absl::StrCat(path, ": is listed in ", found.files[0], ", but does not exist"));
    }
    return absl::OkStatus();
  }
};

}  // namespace

const PartFormat& ImageFolderFormat() { return Only<ImageFolder>(); }
const PartFormat& ImageListFormat() { return Only<ImageList>(); }

std::vector<int64_t> CountOfEachClass(const DataSetInfo& info, const SampleIndex& index) {
  std::vector<int64_t> count(info.class_name_size(), 0);
  for (const int32_t label : index.label) ++count[label];
  return count;
}

}  // namespace openset
