#include "data/image_source.h"

#include <algorithm>
#include <utility>

#include "core/in_parallel.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// The number of images that are in memory at once.
constexpr size_t kChunk = 64;

}  // namespace

absl::Status ImageSource::ReadEach(absl::Span<const int64_t> samples,
                                   const std::function<void(int64_t, Image)>& use) const {
  for (size_t begin = 0; begin < samples.size(); begin += kChunk) {
    OPENSET_ASSIGN_OR_RETURN(std::vector<Image> images, Read(samples.subspan(begin, kChunk)));
    InParallel(static_cast<int64_t>(images.size()),
               [&](int64_t i) { use(static_cast<int64_t>(begin) + i, std::move(images[i])); });
  }
  return absl::OkStatus();
}

}  // namespace openset
