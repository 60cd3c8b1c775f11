#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "data/formats/part_format.h"
#include "data/readers/cifar_binary.h"
#include "data/readers/feature_file.h"
#include "data/readers/idx.h"
#include "data/readers/images/png_sheet.h"
#include "data/readers/mat.h"
#include "data/readers/npz_images.h"

namespace openset {
namespace {

// Checks the labels that the classes have in a file.
template <typename Labels>
void FindLabelProblems(const DataSetInfo& info, const Labels& labels, const std::string& path,
                       std::vector<FieldProblem>* problems) {
  if (labels.empty()) return;
  if (labels.size() != info.class_name_size()) {
    problems->push_back({path, absl::StrCat("must have one label for each of the ", info.class_name_size(),
                                            " classes (has ", labels.size(), ")")});
  } else if (std::set<int32_t>(labels.begin(), labels.end()).size() != labels.size()) {
    problems->push_back({path, "has a label for two classes"});
  }
}

// Replaces each class's label in the file by the class's id. `labels` are in the order of the ids; if there are none,
// the file's labels are the ids.
template <typename Labels>
absl::Status MapLabels(const Labels& labels, ImageSet* set) {
  if (labels.empty()) return absl::OkStatus();
  std::unordered_map<int32_t, int32_t> id;
  for (int i = 0; i < labels.size(); ++i) id[labels[i]] = i;
  for (int32_t& label : set->labels) {
    const auto found = id.find(label);
    if (found == id.end()) {
      return absl::DataLossError(absl::StrCat("label ", label, " is not in class_label of the catalog"));
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

// All images of these formats have the size that the catalog says.
class ArrayFormat : public PartFormat {
 public:
  void FindProblems(const DataSetInfo& info, const DataSetPart& part, const std::string& path,
                    std::vector<FieldProblem>* problems) const final {
    FindSizeProblems(info, path, problems);
    FindOwnProblems(info, part, path, problems);
  }

 private:
  virtual void FindOwnProblems(const DataSetInfo& info, const DataSetPart& part, const std::string& path,
                               std::vector<FieldProblem>* problems) const = 0;
};

class Idx : public ArrayFormat {
 public:
  std::vector<const DataFile*> Files(const DataSetPart& part) const override {
    return {&part.idx().images(), &part.idx().labels()};
  }

  absl::StatusOr<ImageSet> Read(const DataSetInfo& /*info*/, const FoundPart& found) const override {
    const IdxFiles& idx = found.part.idx();
    const std::string& labels = found.PathOf(idx.labels());
    OPENSET_ASSIGN_OR_RETURN(ImageSet set, ReadIdx(found.PathOf(idx.images()), labels));
    OPENSET_RETURN_IF_ERROR(MapLabels(idx.class_label(), &set), labels);
    if (idx.transposed()) Transpose(&set);
    return set;
  }

 private:
  void FindOwnProblems(const DataSetInfo& info, const DataSetPart& part, const std::string& path,
                       std::vector<FieldProblem>* problems) const override {
    FindLabelProblems(info, part.idx().class_label(), absl::StrCat(path, ".idx.class_label"), problems);
    if (info.channels() != 1) problems->push_back({absl::StrCat(path, ".idx"), "holds images of 1 channel"});
  }
};

class CifarBinary : public ArrayFormat {
 public:
  std::vector<const DataFile*> Files(const DataSetPart& part) const override {
    std::vector<const DataFile*> files;
    for (const DataFile& file : part.cifar_binary().file()) files.push_back(&file);
    return files;
  }

  absl::StatusOr<ImageSet> Read(const DataSetInfo& info, const FoundPart& found) const override {
    CifarRecord record;
    record.label_bytes = found.part.cifar_binary().label_bytes();
    record.label_at = found.part.cifar_binary().label_at();
    record.channels = info.channels();
    record.height = info.height();
    record.width = info.width();
    return ReadCifarBinary(found.files, record);
  }

 private:
  void FindOwnProblems(const DataSetInfo& /*info*/, const DataSetPart& part, const std::string& path,
                       std::vector<FieldProblem>* problems) const override {
    if (part.cifar_binary().label_at() < part.cifar_binary().label_bytes()) return;
    problems->push_back({absl::StrCat(path, ".cifar_binary.label_at"), "must be below label_bytes"});
  }
};

class PngSheet : public ArrayFormat {
 public:
  std::vector<const DataFile*> Files(const DataSetPart& part) const override {
    std::vector<const DataFile*> files;
    for (const DataFile& file : part.png_sheet().sheet()) files.push_back(&file);
    files.push_back(&part.png_sheet().labels());
    return files;
  }

  absl::StatusOr<ImageSet> Read(const DataSetInfo& info, const FoundPart& found) const override {
    std::vector<std::string> sheets;
    for (const DataFile& sheet : found.part.png_sheet().sheet()) sheets.push_back(found.PathOf(sheet));
    return ReadPngSheets(sheets, found.PathOf(found.part.png_sheet().labels()), info.height(), info.width());
  }

 private:
  void FindOwnProblems(const DataSetInfo& info, const DataSetPart& /*part*/, const std::string& path,
                       std::vector<FieldProblem>* problems) const override {
    if (info.channels() != 3) problems->push_back({absl::StrCat(path, ".png_sheet"), "holds images of 3 channels"});
  }
};

class Mat : public ArrayFormat {
 public:
  std::vector<const DataFile*> Files(const DataSetPart& part) const override { return {&part.mat().file()}; }

  absl::StatusOr<ImageSet> Read(const DataSetInfo& /*info*/, const FoundPart& found) const override {
    const MatFiles& mat = found.part.mat();
    const std::string& path = found.PathOf(mat.file());
    OPENSET_ASSIGN_OR_RETURN(ImageSet set, ReadMat(path, mat.images(), mat.labels()));
    OPENSET_RETURN_IF_ERROR(MapLabels(mat.class_label(), &set), path);
    return set;
  }

 private:
  void FindOwnProblems(const DataSetInfo& info, const DataSetPart& part, const std::string& path,
                       std::vector<FieldProblem>* problems) const override {
    FindLabelProblems(info, part.mat().class_label(), absl::StrCat(path, ".mat.class_label"), problems);
  }
};

class Npz : public ArrayFormat {
 public:
  std::vector<const DataFile*> Files(const DataSetPart& part) const override {
    if (!part.npz().has_labels()) return {&part.npz().images()};
    return {&part.npz().images(), &part.npz().labels()};
  }

  absl::StatusOr<ImageSet> Read(const DataSetInfo& /*info*/, const FoundPart& found) const override {
    const NpzFiles& npz = found.part.npz();
    const std::string& images = found.PathOf(npz.images());
    const std::string& labels = npz.has_labels() ? found.PathOf(npz.labels()) : images;
    OPENSET_ASSIGN_OR_RETURN(ImageSet set, ReadNpzImages(images, labels, npz.images_array(), npz.labels_array()));
    OPENSET_RETURN_IF_ERROR(MapLabels(npz.class_label(), &set), labels);
    return set;
  }

 private:
  void FindOwnProblems(const DataSetInfo& info, const DataSetPart& part, const std::string& path,
                       std::vector<FieldProblem>* problems) const override {
    FindLabelProblems(info, part.npz().class_label(), absl::StrCat(path, ".npz.class_label"), problems);
    if (info.channels() == 1 || info.channels() == 3) return;
    problems->push_back({absl::StrCat(path, ".npz"), "holds images of 1 or 3 channels"});
  }
};

class Features : public PartFormat {
 public:
  std::vector<const DataFile*> Files(const DataSetPart& part) const override { return {&part.features().file()}; }

  void FindProblems(const DataSetInfo& info, const DataSetPart& /*part*/, const std::string& path,
                    std::vector<FieldProblem>* problems) const override {
    const bool fits = info.channels() == 1 && info.height() == (info.width() > 0 ? 1 : 0) &&
                      info.width() % static_cast<int64_t>(sizeof(float)) == 0;
    if (!fits) {
      problems->push_back({absl::StrCat(path, ".features"),
                           "has channels: 1 height: 1 and a width of 4 times the features; height and width are 0 for "
                           "a file with labels only"});
    }
  }

  absl::StatusOr<ImageSet> Read(const DataSetInfo& info, const FoundPart& found) const override {
    const FeatureFile& file = found.part.features();
    OPENSET_ASSIGN_OR_RETURN(const FeatureArrays arrays, ReadFeatureFile(found.PathOf(file.file())));
    const ImageFolderOptions::Share share = {file.share().seed(), file.share().test_share(), file.share().test()};
    const std::vector<int64_t> rows = RowsOfPart(arrays, found.part.name(), file.has_share() ? &share : nullptr);
    const int64_t bytes = arrays.dim * static_cast<int64_t>(sizeof(float));
    ImageSet set{info.channels(), arrays.dim > 0 ? 1 : 0, bytes, {}, {}, {}};
    set.pixels.resize(rows.size() * bytes);
    for (size_t i = 0; i < rows.size(); ++i) {
      set.labels.push_back(arrays.class_id[rows[i]]);
      if (!arrays.cluster.empty()) set.cluster.push_back(arrays.cluster[rows[i]]);
      if (bytes == 0) continue;
      std::memcpy(set.pixels.data() + i * bytes, arrays.features.data() + rows[i] * arrays.dim, bytes);
    }
    return set;
  }
};

}  // namespace

const PartFormat& FeatureFormat() { return Only<Features>(); }
const PartFormat& IdxFormat() { return Only<Idx>(); }
const PartFormat& CifarBinaryFormat() { return Only<CifarBinary>(); }
const PartFormat& PngSheetFormat() { return Only<PngSheet>(); }
const PartFormat& MatFormat() { return Only<Mat>(); }
const PartFormat& NpzFormat() { return Only<Npz>(); }

}  // namespace openset
