// Reads all images of a source, with progress.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "core/text/terminal.h"
#include "tools/cli/data/actions.h"

namespace openset {
namespace {

constexpr int64_t kBatch = 512;

bool IsDamage(const absl::Status& status) { return absl::IsDataLoss(status) || absl::IsNotFound(status); }

}  // namespace

absl::StatusOr<std::vector<DamagedImage>> ForEachImage(
    const std::string& what, const ImageSource& source,
    const std::function<void(int64_t sample, const Image& image)>& use) {
  std::vector<DamagedImage> damaged;
  const int64_t size = source.index().size();
  ProgressLine line = ProgressLine::ToStandardError("images");
  for (int64_t begin = 0; begin < size; begin += kBatch) {
    std::vector<int64_t> samples(std::min(kBatch, size - begin));
    std::iota(samples.begin(), samples.end(), begin);
    absl::StatusOr<std::vector<Image>> images = source.Read(samples);
    if (images.ok()) {
      for (size_t i = 0; i < samples.size(); ++i) use(samples[i], (*images)[i]);
    } else if (IsDamage(images.status())) {  // find the corrupt ones
      for (const int64_t sample : samples) {
        const absl::StatusOr<std::vector<Image>> one = source.Read({sample});
        if (one.ok()) {
          use(sample, (*one)[0]);
        } else if (IsDamage(one.status())) {
          damaged.push_back({sample, std::string(one.status().message())});
        } else {
          return one.status();
        }
      }
    } else {
      return images.status();
    }
    line.Update(what, begin + static_cast<int64_t>(samples.size()), size);
  }
  return damaged;
}

absl::Status DamagedStatus(const std::vector<DamagedImage>& damaged) {
  const size_t others = damaged.size() - 1;
  return absl::DataLossError(
      absl::StrCat(damaged[0].reason, others > 0 ? absl::StrCat("; so are ", others, " other images") : ""));
}

}  // namespace openset
