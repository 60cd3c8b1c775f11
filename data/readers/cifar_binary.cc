#include "data/readers/cifar_binary.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/files/files.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// The limit on a file's size: twenty times all of CIFAR.
constexpr int64_t kMaxBytes = int64_t{1} << 32;

}  // namespace

absl::StatusOr<ImageSet> ReadCifarBinary(const std::vector<std::string>& paths, const CifarRecord& record) {
  ImageSet set;
  set.channels = record.channels;
  set.height = record.height;
  set.width = record.width;
  const int64_t record_bytes = record.label_bytes + set.image_bytes();
  for (const std::string& path : paths) {
    OPENSET_ASSIGN_OR_RETURN(const std::string content, ReadFile(path, kMaxBytes));
    if (content.empty() || content.size() % record_bytes != 0) {
      return absl::DataLossError(
          absl::StrCat(path, ": ", content.size(), " bytes are not a number of whole records of ", record_bytes,
                       " bytes, the last of which begins at byte ", content.size() - content.size() % record_bytes,
                       "; fetch the file again"));
    }
    set.labels.reserve(set.labels.size() + content.size() / record_bytes);
    set.pixels.reserve(set.pixels.size() + content.size());
    for (size_t begin = 0; begin < content.size(); begin += record_bytes) {
      const absl::string_view bytes = absl::string_view(content).substr(begin, record_bytes);
      set.labels.push_back(static_cast<uint8_t>(bytes[record.label_at]));
      set.pixels.insert(set.pixels.end(), bytes.begin() + record.label_bytes, bytes.end());
    }
  }
  return set;
}

}  // namespace openset
