#include "data/readers/image_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/digest.h"
#include "core/files/file_state.h"
#include "core/files/files.h"
#include "core/files/formats/csv.h"
#include "core/files/system_calls.h"
#include "core/in_parallel.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "data/readers/images/decode_image.h"

namespace openset {
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

namespace {

constexpr int64_t kMaxMemoryBytes = int64_t{1} << 31;  // 10 million names
constexpr absl::string_view kFirstLine = "openset image names 2";

// Returns the CRC-32, computed in parallel for pieces of `bytes`.
uLong ChecksumOf(absl::string_view bytes) {
  constexpr size_t kPiece = size_t{1} << 22;
  std::vector<uLong> sums((bytes.size() + kPiece - 1) / kPiece);
  InParallel(static_cast<int64_t>(sums.size()), [&](int64_t i) {
    const absl::string_view piece = bytes.substr(i * kPiece, kPiece);
    sums[i] = crc32_z(0, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
  });
  uLong sum = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    sum = crc32_combine(sum, sums[i], static_cast<z_off_t>(std::min(kPiece, bytes.size() - i * kPiece)));
  }
  return sum;
}

absl::Status CannotList(const std::string& folder) { return ReadError(errno, absl::StrCat("cannot list ", folder)); }

constexpr int kMostDepth = 8;  // of folders below a class's folder

// Appends the names of the images, each after `prefix` and before '\0', and looks at most `depth` levels below the
// folder. Returns whether the folder is there.
absl::StatusOr<bool> AppendNames(const std::string& folder, const std::string& prefix, int depth, std::string* found) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (entries == nullptr && (errno == ENOENT || errno == ENOTDIR)) return false;
  if (entries == nullptr) return CannotList(folder);
  std::vector<std::string> folders;
  errno = 0;
  while (const dirent* entry = readdir(entries.get())) {
    struct stat info;
    if (depth > 0 && entry->d_name[0] != '.' &&
        fstatat(dirfd(entries.get()), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode)) {
      folders.emplace_back(entry->d_name);
    } else if (IsImageName(entry->d_name)) {
      found->append(prefix).append(entry->d_name, std::strlen(entry->d_name) + 1);
    }
    errno = 0;
  }
  if (errno != 0) return CannotList(folder);
  for (const std::string& name : folders) {
    OPENSET_RETURN_IF_ERROR(
        AppendNames(JoinPath(folder, name), absl::StrCat(prefix, name, "/"), depth - 1, found).status());
  }
  return true;
}

absl::StatusOr<ImageNames> ListOne(const std::string& folder, bool sub_folders) {
  ImageNames names;
  std::string found;
  OPENSET_ASSIGN_OR_RETURN(names.is_there, AppendNames(folder, "", sub_folders ? kMostDepth : 0, &found));
  names.count = std::count(found.begin(), found.end(), '\0');
  names.text = found;
  std::vector<absl::string_view> sorted = names.Split();
  std::sort(sorted.begin(), sorted.end());
  auto text = std::make_shared<std::string>();
  text->reserve(found.size());
  for (const absl::string_view name : sorted) text->append(name.data(), name.size() + 1);
  names.text = *text;
  names.holds = std::move(text);
  return names;
}

// The remembered listing of a folder.
struct Remembered {
  std::string state;
  ImageNames names;
};
using Memory = std::map<std::string, Remembered>;  // by the folder's path below the root

// Reads a file of the memory. Its first line has the checksum of the rest. For each folder follow a line with its
// state; a line with the number of bytes of its path, the number of images and the number of bytes of their names; the
// path; and the names. Returns an empty memory if the file does not exist or is corrupt.
Memory ReadMemory(const std::string& path) {
  absl::StatusOr<std::string> read = ReadFile(path, kMaxMemoryBytes);
  if (!read.ok()) return {};
  const auto content = std::make_shared<const std::string>(*std::move(read));
  absl::string_view rest = *content;
  const auto take = [&rest](size_t bytes) {
    const absl::string_view text = rest.substr(0, bytes);
    rest.remove_prefix(text.size());
    return text;
  };
  const auto take_line = [&] {
    const absl::string_view line = take(std::min(rest.find('\n'), rest.size()));
    take(1);
    return line;
  };
  const absl::string_view first = take_line();
  if (first != absl::StrCat(kFirstLine, " ", ChecksumOf(rest))) return {};
  Memory memory;
  while (!rest.empty()) {
    Remembered folder;
    folder.state = std::string(take_line());
    const std::vector<absl::string_view> numbers = absl::StrSplit(take_line(), ' ');
    size_t path_bytes = 0, text_bytes = 0;
    if (numbers.size() != 3 || !absl::SimpleAtoi(numbers[0], &path_bytes) ||
        !absl::SimpleAtoi(numbers[1], &folder.names.count) || !absl::SimpleAtoi(numbers[2], &text_bytes)) {
      return {};
    }
    const std::string name(take(path_bytes));
    folder.names.text = take(text_bytes);
    folder.names.holds = content;
    folder.names.is_there = true;
    memory[name] = std::move(folder);
  }
  return memory;
}

void AppendFolder(const std::string& path, const std::string& state, const ImageNames& names, std::string* content) {
  absl::StrAppend(content, state, "\n", path.size(), " ", names.count, " ", names.text.size(), "\n", path, names.text);
}

}  // namespace

bool IsImageName(absl::string_view name) {
  if (name.empty() || name[0] == '.') return false;
  for (const absl::string_view suffix : {".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".webp", ".tif", ".tiff", ".gif",
                                         ".bmp", ".ppm", ".pgm", ".pbm", ".pnm"}) {
    if (absl::EndsWithIgnoreCase(name, suffix)) return true;
  }
  return false;
}

std::vector<absl::string_view> ImageNames::Split() const {
  std::vector<absl::string_view> names;
  names.reserve(count);
  for (size_t at = 0; at < text.size(); at += names.back().size() + 1) {
    names.push_back(text.substr(at, text.find('\0', at) - at));
  }
  return names;
}

std::vector<absl::string_view> NamesWithout(const std::set<std::string>& skip, const std::string& class_folder,
                                            const ImageNames& images) {
  std::vector<absl::string_view> names = images.Split();
  if (skip.empty()) return names;
  const auto skips = [&](absl::string_view name) { return skip.count(absl::StrCat(class_folder, "/", name)) > 0; };
  names.erase(std::remove_if(names.begin(), names.end(), skips), names.end());
  return names;
}

ListingMemory ListingMemory::OfUser() { return ListingMemory(UserCacheFolder("listings")); }

absl::StatusOr<FolderListing> ListingMemory::List(const std::string& root, const std::vector<std::string>& folder,
                                                  bool sub_folders) const {
  const auto count = static_cast<int64_t>(folder.size());
  FolderListing listing{root, folder, std::vector<ImageNames>(count)};
  std::string path;
  Memory memory;
  if (!folder_.empty() && !sub_folders) {
    path = JoinPath(folder_, Sha256Hex(AbsolutePath(root)));
    memory = ReadMemory(path);
  }
  const std::time_t started = std::time(nullptr);
  std::vector<std::string> new_state(count);  // the states of folders whose new listing is remembered
  std::vector<absl::Status> status(count);
  InParallelWaiting(count, [&](int64_t i) {
    const std::string where = JoinPath(root, folder[i]);
    const FileState state = StateOf(where);
    const auto known = memory.find(folder[i]);
    if (known != memory.end() && known->second.state == state.text) {
      listing.images[i] = known->second.names;
      return;
    }
    absl::StatusOr<ImageNames> names = ListOne(where, sub_folders);
    status[i] = names.status();
    if (!names.ok()) return;
    listing.images[i] = *std::move(names);
    const bool has_settled = state.HadSettled(started) && StateOf(where).text == state.text;
    if (listing.images[i].is_there && has_settled) new_state[i] = state.text;
  });
  int64_t images = 0, news = 0;
  for (int64_t i = 0; i < count; ++i) {
    OPENSET_RETURN_IF_ERROR(status[i]);
    images += listing.images[i].count;
    news += new_state[i].empty() ? 0 : 1;
  }
  if (path.empty() || news == 0 || images < min_images_ || !MakeFolders(folder_).ok()) return listing;
  for (int64_t i = 0; i < count; ++i) {
    if (!new_state[i].empty()) memory[folder[i]] = {new_state[i], listing.images[i]};
  }
  std::string content;
  for (const auto& [name, remembered] : memory) AppendFolder(name, remembered.state, remembered.names, &content);
  WriteFileAtomically(path, absl::StrCat(kFirstLine, " ", ChecksumOf(content), "\n", content)).IgnoreError();
  return listing;
}

namespace {

// The number of images whose sizes are read at once; a batch ends with the folder that reaches this number.
constexpr int64_t kFolderChunk = 1 << 18;

// The bytes of a line that the separators and a size of up to 99 MB need.
constexpr int64_t kSizeBytes = 10;

int64_t TestImages(const ImageFolderOptions::Share& share, int64_t n) {
  const auto test = static_cast<int64_t>(std::floor(static_cast<double>(n) * share.test_share + 0.5));
  return n > 1 ? std::clamp<int64_t>(test, 1, n - 1) : test;
}

bool IsLink(int folder, absl::string_view name) {
  struct stat info;
  return fstatat(folder, name.data(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
}

// Returns the lines "CLASS_FOLDER/FILE SIZE" of a folder.
absl::StatusOr<std::string> SizesOf(const FolderListing& listing, int64_t folder, const std::set<std::string>& skip) {
  const std::string path = JoinPath(listing.root, listing.folder[folder]);
  std::string lines;
  if (listing.images[folder].count == 0) return lines;
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return ErrorAt(errno, "open", path);
  const absl::Cleanup close_it = [descriptor] { close(descriptor); };
  const std::string prefix = absl::StrCat(listing.folder[folder], "/");
  const ImageNames& names = listing.images[folder];
  lines.reserve(names.text.size() + names.count * (prefix.size() + kSizeBytes));
  for (const absl::string_view name : names.Split()) {
    struct stat info;
    const bool is_there = fstatat(descriptor, name.data(), &info, 0) == 0;
    if (!is_there && errno != ENOENT) return ErrorAt(errno, "look at", JoinPath(path, name));
    if (!is_there && IsLink(descriptor, name)) {
      if (skip.count(absl::StrCat(prefix, name)) == 0) {
        return absl::NotFoundError(absl::StrCat(JoinPath(path, name),
                                                ": is a link to nothing; repair or remove it, or ",
                                                "leave it out: openset data describe --skip_damaged"));
      }
      absl::StrAppend(&lines, prefix, name, " -\n");
      continue;
    }
    if (!is_there || !S_ISREG(info.st_mode)) {
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

absl::StatusOr<std::vector<int64_t>> ClustersOf(const std::string& root, const std::string& class_folder,
                                                const std::vector<absl::string_view>& names,
                                                const ImageClusters& clusters) {
  std::vector<int64_t> of_images;
  for (const absl::string_view name : names) {
    const auto found = clusters.find(absl::StrCat(class_folder, "/", name));
    if (found == clusters.end()) {
      return absl::InvalidArgumentError(absl::StrCat(OneLine(JoinPath(root, class_folder)), "/", OneLine(name),
                                                     ": the table of clusters has no line for this image"));
    }
    of_images.push_back(found->second);
  }
  return of_images;
}

std::vector<bool> ClusterShare::AddClass(const std::string& class_folder, const std::vector<int64_t>& cluster) {
  std::map<int64_t, int64_t> samples;  // of each cluster
  for (const int64_t number : cluster) ++samples[number];
  std::vector<int64_t> clusters;  // that no earlier class had
  int64_t missing = SizeOfShare(test_, static_cast<int64_t>(cluster.size()));
  for (const auto& [number, count] : samples) {
    const auto known = is_test_.find(number);
    if (known == is_test_.end()) clusters.push_back(number);
    if (known != is_test_.end() && known->second) missing -= count;
  }
  RandomStream random(test_.seed, absl::StrCat("share/", class_folder));
  for (const int64_t i : random.Permutation(static_cast<int64_t>(clusters.size()))) {
    is_test_[clusters[i]] = missing > 0;
    if (missing > 0) missing -= samples[clusters[i]];
  }
  std::vector<bool> is_test;
  for (const int64_t number : cluster) is_test.push_back(is_test_.at(number));
  return is_test;
}

absl::StatusOr<ImageClusters> ReadImageClusters(const std::string& file, const std::string& root) {
  OPENSET_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxTableBytes));
  const std::string prefix = absl::StrCat(root, "/");
  int64_t image = -1, cluster = -1;
  std::map<std::string, int64_t> number;                 // of each cluster
  std::unordered_map<std::string, std::string> name_of;  // by the image
  const absl::Status read = ReadCsv(text, [&](int64_t line, absl::Span<const absl::string_view> cells) -> absl::Status {
    const auto problem = [line](absl::string_view what) {
      return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
    };
    if (image < 0) {
      for (int64_t c = 0; c < static_cast<int64_t>(cells.size()); ++c) {
        if (cells[c] == "image") image = c;
        if (cells[c] == "cluster") cluster = c;
      }
      return image >= 0 && cluster >= 0 ? absl::OkStatus() : problem("needs the columns 'image' and 'cluster'");
    }
    if (cells[cluster].empty()) return problem("the image has no cluster");
    number[std::string(cells[cluster])] = 0;
    absl::string_view path = cells[image];
    if (!absl::ConsumePrefix(&path, prefix) && absl::StartsWith(path, "/")) return absl::OkStatus();
    const auto [entry, is_new] = name_of.emplace(path, cells[cluster]);
    if (is_new || entry->second == cells[cluster]) return absl::OkStatus();
    return problem(absl::StrCat("the image '", OneLine(path), "' is in cluster '", OneLine(entry->second), "', too"));
  });
  if (!read.ok()) return Annotate(read, file);
  int64_t next = 0;
  for (auto& [name, place] : number) place = next++;
  ImageClusters clusters;
  for (const auto& [path, name] : name_of) clusters[path] = number.at(name);
  return clusters;
}

absl::StatusOr<std::shared_ptr<const ImageSource>> OpenImageFolder(const std::string& root,
                                                                   const std::vector<std::string>& class_folder,
                                                                   const ImageShape& shape, const std::string& part,
                                                                   const ImageFolderOptions& options,
                                                                   const std::vector<bool>& is_empty) {
  std::vector<std::string> folders;
  for (const std::string& folder : class_folder) folders.push_back(JoinPath(root, folder));
  auto source = std::make_shared<ImageFiles>(folders, shape, part, options.exif_orientation);
  OPENSET_ASSIGN_OR_RETURN(const FolderListing listing,
                           ListingMemory::OfUser().List(root, class_folder, options.sub_folders));
  int64_t images = 0, name_bytes = 0;
  for (const ImageNames& names : listing.images) {
    images += names.count;
    name_bytes += static_cast<int64_t>(names.text.size());
  }
  source->Reserve(images, name_bytes);
  size_t skipped = 0;
  std::optional<ClusterShare> whole;
  if (options.share.has_value()) whole.emplace(*options.share);
  std::vector<int64_t> clusters;  // of the images that are added
  for (size_t label = 0; label < folders.size(); ++label) {
    if (!is_empty.empty() && is_empty[label]) continue;
    if (!listing.images[label].is_there) {
      return absl::NotFoundError(absl::StrCat("cannot list ", folders[label], ": no such folder"));
    }
    if (options.skip.empty() && !options.share.has_value() && options.first_per_class == 0 &&
        options.clusters.empty()) {
      source->AddAll(static_cast<int32_t>(label), listing.images[label].text);
      continue;
    }
    std::vector<absl::string_view> names = NamesWithout(options.skip, class_folder[label], listing.images[label]);
    skipped += listing.images[label].count - names.size();
    if (options.first_per_class > 0 && static_cast<int64_t>(names.size()) > options.first_per_class) {
      names.resize(options.first_per_class);
    }
    if (!options.clusters.empty()) {
      OPENSET_ASSIGN_OR_RETURN(const std::vector<int64_t> cluster,
                               ClustersOf(root, class_folder[label], names, options.clusters));
      std::vector<bool> is_test(names.size());
      if (whole.has_value()) is_test = whole->AddClass(class_folder[label], cluster);
      for (size_t i = 0; i < names.size(); ++i) {
        if (options.share.has_value() && is_test[i] != options.share->test) continue;
        source->Add(static_cast<int32_t>(label), names[i]);
        clusters.push_back(cluster[i]);
      }
      continue;
    }
    if (!options.share.has_value()) {
      for (const absl::string_view name : names) source->Add(static_cast<int32_t>(label), name);
      continue;
    }
    for (const int64_t place : PlacesOfShare(*options.share, class_folder[label], static_cast<int64_t>(names.size()))) {
      source->Add(static_cast<int32_t>(label), names[place]);
    }
  }
  source->SetClusters(std::move(clusters));
  if (skipped < options.skip.size()) {
    for (const std::string& name : options.skip) {
      if (!FileExists(JoinPath(root, name))) {
        return absl::NotFoundError(absl::StrCat(JoinPath(root, name), ": is listed in skip, but does not exist"));
      }
    }
  }
  return std::shared_ptr<const ImageSource>(std::move(source));
}

absl::StatusOr<std::string> ListingDigest(const std::string& root, const std::vector<std::string>& class_folder,
                                          bool sub_folders, const std::set<std::string>& skip) {
  OPENSET_ASSIGN_OR_RETURN(const FolderListing listing, ListingMemory::OfUser().List(root, class_folder, sub_folders));
  return ListingDigest(listing, skip);
}

absl::StatusOr<std::string> ListingDigest(const FolderListing& listing, const std::set<std::string>& skip) {
  Sha256 sum;
  const auto folders = static_cast<int64_t>(listing.folder.size());
  std::vector<absl::StatusOr<std::string>> last;  // hashed while the next lines are made
  for (int64_t begin = 0, end = 0; begin < folders || !last.empty(); begin = end) {
    for (int64_t images = 0; end < folders && images < kFolderChunk; ++end) images += listing.images[end].count;
    std::vector<absl::StatusOr<std::string>> lines(end - begin);
    InParallelWaiting(1 + end - begin, [&](int64_t i) {
      if (i > 0) {
        lines[i - 1] = SizesOf(listing, begin + i - 1, skip);
      } else {
        for (const absl::StatusOr<std::string>& some : last) sum.Update(*some);
      }
    });
    for (const absl::StatusOr<std::string>& some : lines) OPENSET_RETURN_IF_ERROR(some.status());
    last = std::move(lines);
  }
  return ToHex(sum.Finish());
}

std::set<std::string> LinksToNothing(const FolderListing& listing) {
  std::vector<std::set<std::string>> found(listing.folder.size());
  InParallelWaiting(static_cast<int64_t>(found.size()), [&](int64_t i) {
    const int descriptor = open(JoinPath(listing.root, listing.folder[i]).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;  // ListingDigest() says why
    const absl::Cleanup close_it = [descriptor] { close(descriptor); };
    for (const absl::string_view name : listing.images[i].Split()) {
      struct stat info;
      if (fstatat(descriptor, name.data(), &info, 0) == 0 || errno != ENOENT || !IsLink(descriptor, name)) continue;
      found[i].insert(absl::StrCat(listing.folder[i], "/", name));
    }
  });
  std::set<std::string> links;
  for (std::set<std::string>& of_folder : found) links.merge(of_folder);
  return links;
}

std::string LastToChange(const ImageSource& images) {
  std::string last;
  std::pair<int64_t, int64_t> latest = {-1, 0};
  for (int64_t i = 0; i < images.index().size(); ++i) {
    std::string path = images.Describe(i);
    struct stat info;
    if (stat(path.c_str(), &info) != 0) continue;
    const auto time_of = [](const timespec& time) { return std::pair<int64_t, int64_t>(time.tv_sec, time.tv_nsec); };
    const std::pair<int64_t, int64_t> changed = std::max(time_of(info.st_mtim), time_of(info.st_ctim));
    if (changed <= latest) continue;
    latest = changed;
    last = std::move(path);
  }
  return last;
}

}  // namespace openset
