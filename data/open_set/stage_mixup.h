// Open-set source: mixtures of the feature maps after the network's last stage but one, as StageMixupSpec in
// open_set.proto says. Each step has floor(B / 2) open samples of weight 1, without slots. The order is drawn before
// the share. Source: Zhou et al., CVPR 2021 (CVPR21-Proser, proser_unknown_detection.py). There the known samples of
// the loss are the other half of the batch; here they are the whole batch, in a separate pass.
#ifndef OPENSET_DATA_OPEN_SET_STAGE_MIXUP_H_
#define OPENSET_DATA_OPEN_SET_STAGE_MIXUP_H_

#include <memory>

#include "core/tensor/open_set.h"
#include "data/open_set/open_set.pb.h"

namespace openset {

// `stages`: the number of the network's stages. Precondition: at least 2.
std::unique_ptr<OpenSetSource> MakeStageMixup(const StageMixupSpec& spec, int stages);

}  // namespace openset

#endif  // OPENSET_DATA_OPEN_SET_STAGE_MIXUP_H_
