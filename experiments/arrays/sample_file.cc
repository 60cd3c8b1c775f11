#include "experiments/arrays/sample_file.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/files/formats/npz.h"
#include "core/status_macros.h"
#include "data/catalog.pb.h"
#include "data/sets/data_set.h"
#include "data/sets/feature_data_set.h"

namespace openset {

int64_t ClassOfLabel(const Selection& selection, int64_t label) {
  for (int c = 0; c < selection.label_size(); ++c) {
    if (selection.label(c) == label) return selection.class_id(c);
  }
  const bool is_place = selection.label().empty() && label < selection.class_id_size();
  return is_place ? selection.class_id(static_cast<int>(label)) : -1;
}

absl::Status SampleFile::Add(const Selection& selection, int64_t group) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog_.Find(selection.data_set()));
  const auto differs = [&](int64_t channels, int64_t height, int64_t width) {
    return channels != shape_.channels || height != shape_.height || width != shape_.width;
  };
  const absl::Status unlike =
      absl::UnimplementedError(absl::StrCat("the samples of '", info->name(),
                                            "' are stored in another form or size than those before them; write them "
                                            "by 'openset data' and your own code"));
  // Before its files are needed. A catalog without a size has files of several sizes.
  const bool is_sized = info->height() > 0 && info->width() > 0;
  if (!label_.empty() && form_ == Form::kImages &&
      (!is_sized || differs(info->channels(), info->height(), info->width()))) {
    return unlike;
  }
  OPENSET_ASSIGN_OR_RETURN(const FoundPart found, FindPartFiles(*info, selection.part(), data_folders_));
  OPENSET_ASSIGN_OR_RETURN(const OpenedSelection opened, OpenSelection(selection, catalog_, data_folders_));
  const ImageShape shape = opened.source->shape();
  const Form form = HasFeatures(*info) ? Form::kFeatures : found.folder.empty() ? Form::kImages : Form::kPaths;
  if (label_.empty()) {
    form_ = form;
    shape_ = shape;
  }
  if (form != form_ || (form != Form::kPaths && differs(shape.channels, shape.height, shape.width))) return unlike;
  if (group < 0 && class_names_.empty()) {
    for (const int class_id : selection.class_id()) class_names_.push_back(info->class_name(class_id));
  }
  for (int64_t i = 0; i < opened.samples.size(); ++i) {
    const int64_t label = opened.samples.label[i];
    label_.push_back(group < 0 ? label : -1);
    class_id_.push_back(ClassOfLabel(selection, label));
    group_.push_back(group);
    as_stored_.push_back(selection.as_stored() ? 1 : 0);
    sample_.push_back(opened.source->Describe(opened.samples.index[i]));
  }
  clusters_.Append(selection.data_set(), opened.samples.cluster, opened.samples.size());
  if (form == Form::kPaths) return absl::OkStatus();
  constexpr int64_t kAtOnce = 1024;
  const absl::Span<const int64_t> all = opened.samples.index;
  for (size_t begin = 0; begin < all.size(); begin += kAtOnce) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<Image> images, opened.source->Read(all.subspan(begin, kAtOnce)));
    for (const Image& image : images) Append(image);
  }
  return absl::OkStatus();
}

absl::Status SampleFile::Write(const std::string& path, const std::vector<std::string>& group_names) {
  const int64_t n = size();
  NpzArrays arrays = {{"label", MakeNpy(label_, {n})},        {"class_id", MakeNpy(class_id_, {n})},
                      {"group", MakeNpy(group_, {n})},        {"group_names", MakeNpy(group_names)},
                      {"class_names", MakeNpy(class_names_)}, {"sample", MakeNpy(sample_)}};
  cluster_ = clusters_.Take();
  if (!cluster_.empty()) arrays["cluster"] = MakeNpy(cluster_, {n});
  if (absl::c_linear_search(as_stored_, 1)) arrays["as_stored"] = MakeNpy(as_stored_, {n});
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
  return WriteNpzAtomically(path, arrays);
}

// Channels come last, as imaging libraries have them.
void SampleFile::Append(const Image& image) {
  const int64_t pixels = image.height * image.width;
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t c = 0; c < image.channels; ++c) bytes_.push_back(static_cast<char>(image.pixels[c * pixels + p]));
  }
}

}  // namespace openset
