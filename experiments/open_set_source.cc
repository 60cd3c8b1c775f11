#include "core/torch.h"
// core/torch.h goes first: core/logging.h takes over its macros.
#include "core/logging.h"
#include "experiments/open_set_source.h"
#include "losses/feature_mixup.h"

namespace openset {

std::unique_ptr<OpenSetSource> MakeOpenSetSource(const OpenSetSpec& spec) {
  switch (spec.kind_case()) {
    case OpenSetSpec::kFeatureMixup:
      return MakeFeatureMixup(spec.feature_mixup());
    case OpenSetSpec::KIND_NOT_SET:
      break;
  }
  LOG(FATAL) << "an open-set source without a kind";
  return nullptr;
}

}  // namespace openset
