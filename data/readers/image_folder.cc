#include "data/readers/image_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "data/readers/image_files.h"

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

}  // namespace

absl::StatusOr<std::vector<std::string>> ImagesIn(const std::string& folder) {
  OPENSET_ASSIGN_OR_RETURN(std::vector<std::string> names, ListFolder(folder));
  names.erase(std::remove_if(names.begin(), names.end(), [](const std::string& name) { return !IsImageName(name); }),
              names.end());
  return names;
}

std::vector<int64_t> PlacesOfShare(const ImageFolderOptions::Share& share, const std::string& class_folder, int64_t n) {
  auto test = static_cast<int64_t>(std::floor(static_cast<double>(n) * share.test_share + 0.5));
  if (n > 1) test = std::clamp<int64_t>(test, 1, n - 1);
  const std::vector<int64_t> order = RandomStream(share.seed, absl::StrCat("share/", class_folder)).Permutation(n);
  std::vector<int64_t> places(share.test ? order.begin() : order.begin() + test,
                              share.test ? order.begin() + test : order.end());
  std::sort(places.begin(), places.end());
  return places;
}

absl::StatusOr<std::shared_ptr<const ImageSource>> OpenImageFolder(const std::string& root,
                                                                   const std::vector<std::string>& class_folder,
                                                                   const ImageShape& shape, const std::string& part,
                                                                   const ImageFolderOptions& options,
                                                                   const std::vector<bool>& is_empty) {
  std::vector<std::string> folders;
  for (const std::string& folder : class_folder) folders.push_back(JoinPath(root, folder));
  auto source = std::make_shared<ImageFiles>(folders, shape, part, options.exif_orientation);
  size_t skipped = 0;
  for (size_t label = 0; label < folders.size(); ++label) {
    if (!is_empty.empty() && is_empty[label]) continue;
    OPENSET_ASSIGN_OR_RETURN(std::vector<std::string> names, ImagesIn(folders[label]));
    if (!options.skip.empty()) {
      const auto skips = [&](const std::string& name) {
        return options.skip.count(absl::StrCat(class_folder[label], "/", name)) > 0;
      };
      const size_t before = names.size();
      names.erase(std::remove_if(names.begin(), names.end(), skips), names.end());
      skipped += before - names.size();
    }
    if (!options.share.has_value()) {
      for (const std::string& name : names) source->Add(static_cast<int32_t>(label), name);
      continue;
    }
    for (const int64_t place : PlacesOfShare(*options.share, class_folder[label], static_cast<int64_t>(names.size()))) {
      source->Add(static_cast<int32_t>(label), names[place]);
    }
  }
  if (skipped < options.skip.size()) {
    for (const std::string& name : options.skip) {
      if (!FileExists(JoinPath(root, name))) {
        return absl::NotFoundError(absl::StrCat(JoinPath(root, name), ": is to be skipped, and is not there"));
      }
    }
  }
  return std::shared_ptr<const ImageSource>(std::move(source));
}

absl::StatusOr<std::string> ListingDigest(const std::string& root, const std::vector<std::string>& class_folder) {
  Sha256 sum;
  for (const std::string& folder : class_folder) {
    if (!FileExists(JoinPath(root, folder))) continue;
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
