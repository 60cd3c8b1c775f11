#include "data/formats/part_format.h"

#include "absl/strings/str_cat.h"
#include "core/logging.h"

namespace openset {
namespace {

// The format of a catalog entry that was not checked.
class NoFormat : public PartFormat {
 public:
  void FindProblems(const DataSetInfo&, const DataSetPart&, const std::string&,
                    std::vector<FieldProblem>*) const override {}

  absl::StatusOr<ImageSet> Read(const DataSetInfo& info, const FoundPart& found) const override {
    return absl::InternalError(
        absl::StrCat("part '", found.part.name(), "' of data set '", info.name(), "' has no format"));
  }
};

}  // namespace

const std::string& FoundPart::PathOf(const DataFile& file) const {
  const std::vector<const DataFile*> named = FormatOf(part).Files(part);
  for (size_t i = 0; i < named.size(); ++i) {
    if (named[i]->path() == file.path()) return files[i];
  }
  LOG(FATAL) << file.path() << " is not a file of part '" << part.name() << "'";
}

std::vector<std::string> FoundPart::paths() const {
  std::vector<std::string> paths;
  if (!folder.empty()) paths.push_back(folder);
  paths.insert(paths.end(), files.begin(), files.end());
  return paths;
}

const PartFormat& FormatOf(const DataSetPart& part) {
  switch (part.format_case()) {
    case DataSetPart::kIdx:
      return IdxFormat();
    case DataSetPart::kCifarBinary:
      return CifarBinaryFormat();
    case DataSetPart::kPngSheet:
      return PngSheetFormat();
    case DataSetPart::kMat:
      return MatFormat();
    case DataSetPart::kNpz:
      return NpzFormat();
    case DataSetPart::kImageFolder:
      return ImageFolderFormat();
    case DataSetPart::kImageList:
      return ImageListFormat();
    case DataSetPart::kNoise:
      return NoiseFormat();
    case DataSetPart::kFeatures:
      return FeatureFormat();
    case DataSetPart::FORMAT_NOT_SET:
      break;
  }
  return Only<NoFormat>();
}

void FindSizeProblems(const DataSetInfo& info, const std::string& path, std::vector<FieldProblem>* problems) {
  if (info.height() != 0 && info.width() != 0) return;
  problems->push_back({path, "has images of one size: set height and width"});
}

int64_t SamplesOfClass(const DataSetPart& part, int class_id) {
  return part.samples_per_class(part.samples_per_class_size() == 1 ? 0 : class_id);
}

bool CountsFiles(const DataSetPart& part) {
  return part.image_folder().count_files() || part.image_list().count_files();
}

}  // namespace openset
