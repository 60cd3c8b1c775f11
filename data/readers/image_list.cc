#include "data/readers/image_list.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "data/path_below.h"
#include "data/readers/image_folder.h"

namespace openset {
namespace {

// ImageNet's 1.3 million lines take 60 MB.
constexpr int64_t kMaxListBytes = int64_t{1} << 30;

absl::Status Bad(const std::string& file, int64_t line, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(file, ":", line, ": ", what));
}

// Calls `use` with the columns of each line that has any, and with the line's number, which starts at 1.
template <typename Use>
absl::Status ForEachLine(const std::string& file, const Use& use) {
  OPENSET_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxListBytes));
  int64_t number = 0;
  // Editors on Windows begin a file with a byte order mark.
  for (absl::string_view line : absl::StrSplit(absl::StripPrefix(text, "\xef\xbb\xbf"), '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) continue;
    std::vector<absl::string_view> columns;
    if (line.find('\t') != absl::string_view::npos) {
      columns = absl::StrSplit(line, '\t');
    } else {
      columns = absl::StrSplit(line, ' ', absl::SkipEmpty());
    }
    OPENSET_RETURN_IF_ERROR(use(columns, number));
  }
  return absl::OkStatus();
}

using Table = std::unordered_map<std::string, std::string>;

absl::StatusOr<Table> ReadTable(const std::string& file) {
  Table table;
  OPENSET_RETURN_IF_ERROR(ForEachLine(file, [&](const std::vector<absl::string_view>& columns, int64_t line) {
    if (columns.size() != 2) return Bad(file, line, absl::StrCat("has ", columns.size(), " columns, not 2"));
    const bool is_new = table.emplace(std::string(columns[0]), std::string(columns[1])).second;
    return is_new ? absl::OkStatus() : Bad(file, line, absl::StrCat("has '", columns[0], "' again"));
  }));
  return table;
}

// The last folder of a path, "" if it has none.
absl::string_view FolderOf(absl::string_view path) {
  const size_t end = path.rfind('/');
  if (end == absl::string_view::npos) return "";
  const size_t begin = path.rfind('/', end - 1);
  return begin == absl::string_view::npos || end == 0 ? path.substr(0, end) : path.substr(begin + 1, end - begin - 1);
}

// Returns the line from column `first` to its end. Precondition: the columns are views of one line.
absl::string_view ToLineEnd(const std::vector<absl::string_view>& columns, int first) {
  const char* const begin = columns[first].data();
  return absl::string_view(begin, columns.back().data() + columns.back().size() - begin);
}

class Reader {
 public:
  Reader(const ImageListFiles& format, const std::vector<std::string>& class_name) : format_(format) {
    for (size_t id = 0; id < class_name.size(); ++id) id_[class_name[id]] = static_cast<int32_t>(id);
  }

  absl::Status UsePartTable(const std::string& file) {
    part_file_ = file;
    OPENSET_ASSIGN_OR_RETURN(part_of_, ReadTable(file));
    return absl::OkStatus();
  }

  absl::Status UseClusters(const std::string& file, const std::string& root) {
    cluster_file_ = file;
    OPENSET_ASSIGN_OR_RETURN(cluster_of_, ReadImageClusters(file, root));
    return absl::OkStatus();
  }

  // Of the images read so far; empty if there are none.
  std::vector<int64_t> TakeClusters() { return std::move(clusters_); }

  absl::Status Read(const std::string& file, ImageFiles* images) {
    return ForEachLine(file, [&](const std::vector<absl::string_view>& columns, int64_t line) -> absl::Status {
      const bool by_column = format_.class_by() == ImageListFiles::NUMBER || format_.class_by() == ImageListFiles::NAME;
      const size_t last =
          std::max({format_.path_column(), by_column ? format_.class_column() : 0, format_.cluster_column()});
      if (columns.size() <= last) {
        return Bad(file, line, absl::StrCat("has ", columns.size(), " columns where ", last + 1, " are needed"));
      }
      if (!part_file_.empty()) {
        const auto found = part_of_.find(std::string(columns[0]));
        if (found == part_of_.end()) {
          return Bad(file, line, absl::StrCat("'", columns[0], "' has no line in ", part_file_));
        }
        if (found->second != format_.part_value()) return absl::OkStatus();
      }
      const absl::string_view path = absl::StripPrefix(columns[format_.path_column()], "/");
      const std::string whole = absl::StrCat(path, format_.path_suffix());
      if (const std::string why = WhyNotBelow(path.empty() ? path : whole); !why.empty()) {
        return Bad(file, line,
                   absl::StrCat("the path '", OneLine(whole), "' ", why, ": it must lie in the data set's folder"));
      }
      OPENSET_ASSIGN_OR_RETURN(const int32_t id, ClassOf(columns, path), file, ":", line);
      images->Add(id, whole);
      if (!cluster_file_.empty()) {
        const auto found = cluster_of_.find(whole);
        if (found == cluster_of_.end()) {
          return absl::InvalidArgumentError(
              absl::StrCat(cluster_file_, ": has no line for the image '", OneLine(whole), "' of ", file, ":", line));
        }
        clusters_.push_back(found->second);
      } else if (format_.has_cluster_column()) {
        const absl::string_view name = columns[format_.cluster_column()];
        if (name.empty()) return Bad(file, line, "the image has no cluster");
        clusters_.push_back(NumberOf(name));
      }
      return absl::OkStatus();
    });
  }

 private:
  absl::StatusOr<int32_t> ClassOf(const std::vector<absl::string_view>& columns, absl::string_view path) const {
    switch (format_.class_by()) {
      case ImageListFiles::NUMBER: {
        const absl::string_view text = columns[format_.class_column()];
        int64_t number = 0;
        const bool valid = absl::SimpleAtoi(text, &number);
        const int64_t first = format_.first_class();
        const int64_t last = first + static_cast<int64_t>(id_.size()) - 1;
        if (valid && number >= first && number <= last) return static_cast<int32_t>(number - first);
        return absl::DataLossError(absl::StrCat("'", text, "' is not a class (", first, " to ", last, ")"));
      }
      case ImageListFiles::NAME:
        return Named(format_.class_to_line_end() ? ToLineEnd(columns, format_.class_column())
                                                 : columns[format_.class_column()]);
      case ImageListFiles::FOLDER:
        return Named(FolderOf(path));
      case ImageListFiles::ONLY_CLASS:
      case ImageListFiles::CLASS_BY_UNSPECIFIED:
        break;
    }
    return 0;
  }

  absl::StatusOr<int32_t> Named(absl::string_view name) const {
    const auto found = id_.find(std::string(name));
    if (found != id_.end()) return found->second;
    return absl::DataLossError(absl::StrCat("there is no class '", name, "'"));
  }

  // 60 bits of the digest of a cluster's name.
  int64_t NumberOf(absl::string_view name) {
    const auto [entry, is_new] = number_.try_emplace(std::string(name), 0);
    if (is_new) entry->second = std::stoll(Sha256Hex(name).substr(0, 15), nullptr, 16);
    return entry->second;
  }

  const ImageListFiles& format_;
  std::unordered_map<std::string, int32_t> id_;  // by class name
  std::string part_file_;                        // "" without a part table
  Table part_of_;
  std::string cluster_file_;  // "" without a table of clusters
  ImageClusters cluster_of_;
  std::unordered_map<std::string, int64_t> number_;  // of the clusters in the column
  std::vector<int64_t> clusters_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const ImageSource>> OpenImageList(
    const std::string& root, const std::vector<std::string>& lists, const std::string& part_table,
    const std::string& clusters, const ImageListFiles& format, const std::vector<std::string>& class_name,
    const ImageShape& shape, const std::string& part) {
  auto images = std::make_shared<ImageFiles>(std::vector<std::string>{root}, shape, part, format.exif_orientation());
  Reader reader(format, class_name);
  if (!part_table.empty()) OPENSET_RETURN_IF_ERROR(reader.UsePartTable(part_table));
  if (!clusters.empty()) OPENSET_RETURN_IF_ERROR(reader.UseClusters(clusters, root));
  for (const std::string& list : lists) OPENSET_RETURN_IF_ERROR(reader.Read(list, images.get()));
  images->SetClusters(reader.TakeClusters());
  return std::shared_ptr<const ImageSource>(std::move(images));
}

}  // namespace openset
