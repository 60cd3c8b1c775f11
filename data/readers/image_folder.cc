#include "data/readers/image_folder.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "data/readers/decode_image.h"

namespace openset {
namespace {

bool IsImageName(absl::string_view name) {
  const std::string lower = absl::AsciiStrToLower(name);
  if (lower.empty() || lower[0] == '.') return false;
  for (const absl::string_view suffix : {".png", ".jpg", ".jpeg", ".webp"}) {
    if (absl::EndsWith(lower, suffix)) return true;
  }
  return false;
}

// Sorted.
absl::StatusOr<std::vector<std::string>> ImagesIn(const std::string& folder) {
  OPENSET_ASSIGN_OR_RETURN(std::vector<std::string> names, ListFolder(folder));
  names.erase(std::remove_if(names.begin(), names.end(), [](const std::string& name) { return !IsImageName(name); }),
              names.end());
  return names;
}

// Calls work(0), ..., work(count - 1) in several threads.
void InParallel(int64_t count, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next{0};
  const auto run = [&] {
    for (int64_t i = next++; i < count; i = next++) work(i);
  };
  const int64_t threads = std::min<int64_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> others;
  for (int64_t t = 1; t < threads; ++t) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
}

class ImageFolder : public ImageSource {
 public:
  ImageFolder(std::vector<std::string> class_folder, const ImageShape& shape, const std::string& part)
      : class_folder_(std::move(class_folder)), shape_(shape) {
    index_.group_name = {part};
  }

  void Add(int32_t label, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      index_.label.push_back(label);
      name_begin_.push_back(static_cast<int64_t>(names_.size()));
      names_.append(name);
    }
  }

  const SampleIndex& index() const override { return index_; }
  ImageShape shape() const override { return shape_; }

  absl::StatusOr<std::vector<Image>> Read(absl::Span<const int64_t> samples) const override {
    std::vector<Image> images(samples.size());
    std::vector<absl::Status> status(samples.size());
    InParallel(static_cast<int64_t>(samples.size()), [&](int64_t i) {
      absl::StatusOr<Image> image = ReadOne(samples[i]);
      if (image.ok()) {
        images[i] = *std::move(image);
      } else {
        status[i] = image.status();
      }
    });
    for (const absl::Status& one : status) OPENSET_RETURN_IF_ERROR(one);
    return images;
  }

 private:
  std::string PathOf(int64_t sample) const {
    const int64_t begin = name_begin_[sample];
    const int64_t end = sample + 1 < index_.size() ? name_begin_[sample + 1] : static_cast<int64_t>(names_.size());
    return JoinPath(class_folder_[index_.label[sample]], absl::string_view(names_).substr(begin, end - begin));
  }

  absl::StatusOr<Image> ReadOne(int64_t sample) const {
    const std::string path = PathOf(sample);
    OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
    absl::StatusOr<Image> image = DecodeImage(bytes, shape_.channels);
    if (!image.ok()) return Annotate(image.status(), path);
    if (shape_.bytes() > 0 && (image->height != shape_.height || image->width != shape_.width)) {
      return absl::DataLossError(absl::StrCat(path, ": is ", image->width, " x ", image->height, " pixels, not ",
                                              shape_.width, " x ", shape_.height, " as the catalog says"));
    }
    return image;
  }

  const std::vector<std::string> class_folder_;
  const ImageShape shape_;
  SampleIndex index_;
  std::string names_;                // of all files, one behind the other
  std::vector<int64_t> name_begin_;  // [N]
};

}  // namespace

absl::StatusOr<std::shared_ptr<const ImageSource>> OpenImageFolder(const std::vector<std::string>& class_folder,
                                                                   const ImageShape& shape, const std::string& part) {
  auto source = std::make_shared<ImageFolder>(class_folder, shape, part);
  for (size_t label = 0; label < class_folder.size(); ++label) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, ImagesIn(class_folder[label]));
    source->Add(static_cast<int32_t>(label), names);
  }
  return std::shared_ptr<const ImageSource>(std::move(source));
}

absl::StatusOr<std::string> ListingDigest(const std::string& root, const std::vector<std::string>& class_folder) {
  Sha256 sum;
  for (const std::string& folder : class_folder) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, ImagesIn(JoinPath(root, folder)));
    for (const std::string& name : names) {
      const std::string path = JoinPath(folder, name);
      std::error_code error;
      const uint64_t size = std::filesystem::file_size(JoinPath(root, path), error);
      if (error) return absl::NotFoundError(absl::StrCat(JoinPath(root, path), ": ", error.message()));
      sum.Update(absl::StrCat(path, " ", size, "\n"));
    }
  }
  return ToHex(sum.Finish());
}

}  // namespace openset
