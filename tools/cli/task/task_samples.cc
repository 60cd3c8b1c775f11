#include "tools/cli/task/task_samples.h"

#include <cstdint>
#include <cstring>
#include <iostream>
#include <utility>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/status_macros.h"
#include "data/sets/data_set.h"
#include "data/sets/feature_data_set.h"
#include "data/splits/class_splits.h"
#include "data/task.h"
#include "experiments/spec/experiment_file.h"
#include "tools/cli/flags/deploy_flags.h"
#include "tools/cli/flags/flags.h"

ABSL_DECLARE_FLAG(std::string, split);
ABSL_DECLARE_FLAG(std::string, out);
ABSL_DECLARE_FLAG(int, train_limit);
ABSL_DECLARE_FLAG(int, test_limit);

namespace openset {
namespace {

// How a file holds its samples.
enum class Form { kImages, kPaths, kFeatures };

// Samples of several selections, all in one form.
class SampleFile {
 public:
  SampleFile(const Catalog& catalog, const std::vector<std::string>& data_folders)
      : catalog_(catalog), data_folders_(data_folders) {}

  // Appends the samples of a selection; `group` is -1 for known ones.
  absl::Status Add(const Selection& selection, int64_t group) {
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog_.Find(selection.data_set()));
    OPENSET_ASSIGN_OR_RETURN(const FoundPart found, FindPartFiles(*info, selection.part(), data_folders_));
    OPENSET_ASSIGN_OR_RETURN(const OpenedSelection opened, OpenSelection(selection, catalog_, data_folders_));
    const ImageShape shape = opened.source->shape();
    const Form form = HasFeatures(*info) ? Form::kFeatures : found.folder.empty() ? Form::kImages : Form::kPaths;
    if (label_.empty()) {
      form_ = form;
      shape_ = shape;
    }
    const bool has_shape = form == Form::kPaths || (shape.channels == shape_.channels &&
                                                    shape.height == shape_.height && shape.width == shape_.width);
    if (form != form_ || !has_shape) {
      return absl::UnimplementedError(
          absl::StrCat("the samples of '", info->name(),
                       "' are stored in another form or size than those before them; write them "
                       "by 'openset data' and your own code"));
    }
    for (int64_t i = 0; i < opened.samples.size(); ++i) {
      const int64_t label = opened.samples.label[i];
      label_.push_back(group < 0 ? label : -1);
      class_id_.push_back(ClassOf(selection, label));
      group_.push_back(group);
      sample_.push_back(opened.source->Describe(opened.samples.index[i]));
    }
    if (form == Form::kPaths) return absl::OkStatus();
    constexpr int64_t kAtOnce = 1024;
    const absl::Span<const int64_t> all = opened.samples.index;
    for (size_t begin = 0; begin < all.size(); begin += kAtOnce) {
      OPENSET_ASSIGN_OR_RETURN(const std::vector<Image> images, opened.source->Read(all.subspan(begin, kAtOnce)));
      for (const Image& image : images) Append(image);
    }
    return absl::OkStatus();
  }

  bool empty() const { return label_.empty(); }
  int64_t size() const { return static_cast<int64_t>(label_.size()); }

  absl::Status Write(const std::string& path, const std::vector<std::string>& group_names) {
    const int64_t n = size();
    NpzArrays arrays = {{"label", MakeNpy(label_, {n})},
                        {"class_id", MakeNpy(class_id_, {n})},
                        {"group", MakeNpy(group_, {n})},
                        {"group_names", MakeNpy(group_names)},
                        {"sample", MakeNpy(sample_)}};
    switch (form_) {
      case Form::kPaths:
        arrays["path"] = MakeNpy(sample_);
        break;
      case Form::kImages:
        arrays["images"] = {"|u1", {n, shape_.height, shape_.width, shape_.channels}, std::move(bytes_)};
        break;
      case Form::kFeatures:
        arrays["features"] = {"<f4", {n, shape_.width / static_cast<int64_t>(sizeof(float))}, std::move(bytes_)};
        break;
    }
    return WriteNpz(path, arrays);
  }

 private:
  static int64_t ClassOf(const Selection& selection, int64_t label) {
    for (int c = 0; c < selection.label_size(); ++c) {
      if (selection.label(c) == label) return selection.class_id(c);
    }
    return selection.class_id(static_cast<int>(label));
  }

  // Channels come last, as imaging libraries have them.
  void Append(const Image& image) {
    const int64_t pixels = image.height * image.width;
    for (int64_t p = 0; p < pixels; ++p) {
      for (int64_t c = 0; c < image.channels; ++c) {
        bytes_.push_back(static_cast<char>(image.pixels[c * pixels + p]));
      }
    }
  }

  const Catalog& catalog_;
  const std::vector<std::string>& data_folders_;
  Form form_ = Form::kImages;
  ImageShape shape_;
  std::vector<int64_t> label_, class_id_, group_;
  std::vector<std::string> sample_;
  std::string bytes_;
};

}  // namespace

absl::Status WriteTaskSamples(const std::string& name) {
  const std::string out = absl::GetFlag(FLAGS_out);
  if (out.empty()) return absl::InvalidArgumentError("--out: name the folder to write");
  TaskRequest request;
  const std::string split = absl::GetFlag(FLAGS_split);
  if (!split.empty() && !absl::SimpleAtoi(split, &request.split)) {
    return absl::InvalidArgumentError(absl::StrCat("--split: '", split, "' is not a number"));
  }
  request.train_limit_per_class = absl::GetFlag(FLAGS_train_limit);
  request.test_limit_per_class = absl::GetFlag(FLAGS_test_limit);
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, SpecFoldersFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, Catalog::Open(folders.catalog));
  const std::string path = absl::EndsWith(name, ".textproto") ? UserPath(name) : name;
  OPENSET_ASSIGN_OR_RETURN(const TaskSpec task, LoadTask(path, folders, "", catalog));
  OPENSET_ASSIGN_OR_RETURN(const TaskData data, ResolveTask(task, request, catalog));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> data_folders, DataFoldersFromFlags());

  SampleFile test(catalog, data_folders);
  OPENSET_RETURN_IF_ERROR(test.Add(data.test_known(), -1));
  std::vector<std::string> groups;
  for (int g = 0; g < data.test_unknown_size(); ++g) {
    groups.push_back(data.test_unknown(g).name());
    OPENSET_RETURN_IF_ERROR(test.Add(data.test_unknown(g).selection(), g));
  }
  for (const ShiftedGroup& group : data.test_shifted()) OPENSET_RETURN_IF_ERROR(test.Add(group.selection(), -1));
  SampleFile fit(catalog, data_folders);
  if (!task.test_only() || task.has_fit_part()) OPENSET_RETURN_IF_ERROR(fit.Add(data.train(), -1));

  const std::string folder = UserPath(out);
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  OPENSET_RETURN_IF_ERROR(test.Write(JoinPath(folder, "test.npz"), groups));
  std::cout << JoinPath(folder, "test.npz") << ": " << test.size() << " samples\n";
  if (fit.empty()) return absl::OkStatus();
  OPENSET_RETURN_IF_ERROR(fit.Write(JoinPath(folder, "fit.npz"), {}));
  std::cout << JoinPath(folder, "fit.npz") << ": " << fit.size() << " samples\n";
  return absl::OkStatus();
}

}  // namespace openset
