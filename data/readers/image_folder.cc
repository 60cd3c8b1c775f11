#include "data/readers/image_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/in_parallel.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "data/readers/image_files.h"

namespace openset {
namespace {

// The number of images whose sizes are read at once; a batch ends with the folder that reaches this number.
constexpr int64_t kChunk = 1 << 18;

// The bytes of a line that the separators and a size of up to 99 MB need.
constexpr int64_t kSizeBytes = 10;

int64_t TestImages(const ImageFolderOptions::Share& share, int64_t n) {
  const auto test = static_cast<int64_t>(std::floor(static_cast<double>(n) * share.test_share + 0.5));
  return n > 1 ? std::clamp<int64_t>(test, 1, n - 1) : test;
}

// Returns the lines "CLASS_FOLDER/FILE SIZE" of a folder.
absl::StatusOr<std::string> SizesOf(const FolderListing& listing, int64_t folder) {
  const std::string path = JoinPath(listing.root, listing.folder[folder]);
  std::string lines;
  if (listing.images[folder].count == 0) return lines;
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const absl::Cleanup close_it = [descriptor] { close(descriptor); };
  const std::string prefix = absl::StrCat(listing.folder[folder], "/");
  const ImageNames& names = listing.images[folder];
  lines.reserve(names.text.size() + names.count * (prefix.size() + kSizeBytes));
  for (const absl::string_view name : names.Split()) {
    struct stat info;
    if (fstatat(descriptor, name.data(), &info, 0) != 0 || !S_ISREG(info.st_mode)) {
      return absl::NotFoundError(absl::StrCat(JoinPath(path, name), ": is not a file, or no longer exists"));
    }
    absl::StrAppend(&lines, prefix, name, " ", info.st_size, "\n");
  }
  return lines;
}

}  // namespace

int64_t SizeOfShare(const ImageFolderOptions::Share& share, int64_t n) {
  return share.test ? TestImages(share, n) : n - TestImages(share, n);
}

std::vector<int64_t> PlacesOfShare(const ImageFolderOptions::Share& share, const std::string& class_folder, int64_t n) {
  const int64_t test = TestImages(share, n);
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
  OPENSET_ASSIGN_OR_RETURN(const FolderListing listing, ListingMemory::OfUser().List(root, class_folder));
  int64_t images = 0, name_bytes = 0;
  for (const ImageNames& names : listing.images) {
    images += names.count;
    name_bytes += static_cast<int64_t>(names.text.size());
  }
  source->Reserve(images, name_bytes);
  size_t skipped = 0;
  for (size_t label = 0; label < folders.size(); ++label) {
    if (!is_empty.empty() && is_empty[label]) continue;
    if (!listing.images[label].is_there) {
      return absl::NotFoundError(absl::StrCat("cannot list ", folders[label], ": no such folder"));
    }
    if (options.skip.empty() && !options.share.has_value()) {
      source->AddAll(static_cast<int32_t>(label), listing.images[label].text);
      continue;
    }
    std::vector<absl::string_view> names = listing.images[label].Split();
    if (!options.skip.empty()) {
      const auto skips = [&](absl::string_view name) {
        return options.skip.count(absl::StrCat(class_folder[label], "/", name)) > 0;
      };
      const size_t before = names.size();
      names.erase(std::remove_if(names.begin(), names.end(), skips), names.end());
      skipped += before - names.size();
    }
    if (!options.share.has_value()) {
      for (const absl::string_view name : names) source->Add(static_cast<int32_t>(label), name);
      continue;
    }
    for (const int64_t place : PlacesOfShare(*options.share, class_folder[label], static_cast<int64_t>(names.size()))) {
      source->Add(static_cast<int32_t>(label), names[place]);
    }
  }
  if (skipped < options.skip.size()) {
    for (const std::string& name : options.skip) {
      if (!FileExists(JoinPath(root, name))) {
        return absl::NotFoundError(absl::StrCat(JoinPath(root, name), ": is listed in skip, but does not exist"));
      }
    }
  }
  return std::shared_ptr<const ImageSource>(std::move(source));
}

absl::StatusOr<std::string> ListingDigest(const std::string& root, const std::vector<std::string>& class_folder) {
  OPENSET_ASSIGN_OR_RETURN(const FolderListing listing, ListingMemory::OfUser().List(root, class_folder));
  return ListingDigest(listing);
}

absl::StatusOr<std::string> ListingDigest(const FolderListing& listing) {
  Sha256 sum;
  const auto folders = static_cast<int64_t>(listing.folder.size());
  std::vector<absl::StatusOr<std::string>> last;  // hashed while the next lines are made
  for (int64_t begin = 0, end = 0; begin < folders || !last.empty(); begin = end) {
    for (int64_t images = 0; end < folders && images < kChunk; ++end) images += listing.images[end].count;
    std::vector<absl::StatusOr<std::string>> lines(end - begin);
    InParallelWaiting(1 + end - begin, [&](int64_t i) {
      if (i > 0) {
        lines[i - 1] = SizesOf(listing, begin + i - 1);
      } else {
        for (const absl::StatusOr<std::string>& some : last) sum.Update(*some);
      }
    });
    for (const absl::StatusOr<std::string>& some : lines) OPENSET_RETURN_IF_ERROR(some.status());
    last = std::move(lines);
  }
  return ToHex(sum.Finish());
}

}  // namespace openset
