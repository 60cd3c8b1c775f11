// Open-set source: mixtures of two samples' features (manifold mixup), as FeatureMixupSpec in open_set.proto says.
//
// At each step it draws a random order of the n mixed samples, then one coefficient or n of them, and makes n open
// samples from x_i = feature_i and x_j = feature_order(i). The model's head turns them into the output; gradients flow
// through it into both features. slot is i, weight 1 for labels that differ and 0 for equal ones. A batch that can't be
// halved gives an output of 0 rows.
#ifndef OPENSET_DATA_OPEN_SET_FEATURE_MIXUP_H_
#define OPENSET_DATA_OPEN_SET_FEATURE_MIXUP_H_

#include <memory>

#include "core/tensor/open_set.h"
#include "data/open_set/open_set.pb.h"

namespace openset {

std::unique_ptr<OpenSetSource> MakeFeatureMixup(const FeatureMixupSpec& spec);

}  // namespace openset

#endif  // OPENSET_DATA_OPEN_SET_FEATURE_MIXUP_H_
