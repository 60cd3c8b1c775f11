#include "data/readers/image_files.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/in_parallel.h"
#include "core/status_macros.h"
#include "data/readers/images/decode_image.h"

namespace openset {
namespace {

// Four times the memory of the largest image that DecodeImage() accepts.
constexpr int64_t kMaxImageFileBytes = int64_t{1} << 30;

}  // namespace

ImageFiles::ImageFiles(std::vector<std::string> folder, const ImageShape& shape, const std::string& part,
                       bool exif_orientation)
    : folder_(std::move(folder)), shape_(shape), exif_orientation_(exif_orientation) {
  index_.group_name = {part};
}

void ImageFiles::Reserve(int64_t files, int64_t name_bytes) {
  index_.label.reserve(files);
  name_begin_.reserve(files);
  names_.reserve(name_bytes);
}

void ImageFiles::Add(int32_t label, absl::string_view name) {
  index_.label.push_back(label);
  name_begin_.push_back(static_cast<int64_t>(names_.size()));
  names_.append(name.data(), name.size());
  names_.push_back('\0');
}

void ImageFiles::AddAll(int32_t label, absl::string_view names) {
  const auto before = static_cast<int64_t>(names_.size());
  names_.append(names.data(), names.size());
  size_t begin = 0;
  for (size_t end = names.find('\0'); end != names.npos; end = names.find('\0', begin)) {
    name_begin_.push_back(before + static_cast<int64_t>(begin));
    begin = end + 1;
  }
  index_.label.resize(name_begin_.size(), label);
}

absl::StatusOr<std::vector<Image>> ImageFiles::Read(absl::Span<const int64_t> samples) const {
  std::vector<Image> images(samples.size());
  OPENSET_RETURN_IF_ERROR(ReadEach(samples, [&](int64_t i, Image image) { images[i] = std::move(image); }));
  return images;
}

absl::Status ImageFiles::ReadEach(absl::Span<const int64_t> samples,
                                  const std::function<void(int64_t, Image)>& use) const {
  std::vector<absl::Status> status(samples.size());
  InParallel(static_cast<int64_t>(samples.size()), [&](int64_t i) {
    absl::StatusOr<Image> image = ReadOne(samples[i]);
    if (image.ok()) {
      use(i, *std::move(image));
    } else {
      status[i] = image.status();
    }
  });
  for (const absl::Status& one : status) OPENSET_RETURN_IF_ERROR(one);
  return absl::OkStatus();
}

std::string ImageFiles::Describe(int64_t sample) const {
  const std::string& folder = folder_.size() == 1 ? folder_[0] : folder_[index_.label[sample]];
  return JoinPath(folder, &names_[name_begin_[sample]]);
}

absl::StatusOr<Image> ImageFiles::ReadOne(int64_t sample) const {
  const std::string path = Describe(sample);
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxImageFileBytes));
  absl::StatusOr<Image> image = DecodeImage(bytes, shape_.channels, exif_orientation_);
  if (!image.ok()) return Annotate(image.status(), path);
  if (shape_.bytes() > 0 && (image->height != shape_.height || image->width != shape_.width)) {
    return absl::DataLossError(absl::StrCat(path, ": is ", image->width, " x ", image->height, " pixels, not ",
                                            shape_.width, " x ", shape_.height, " as the catalog says"));
  }
  return image;
}

}  // namespace openset
