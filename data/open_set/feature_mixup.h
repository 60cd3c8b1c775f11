// Open-set source: mixtures of two samples' features (manifold mixup), as FeatureMixupSpec in open_set.proto says.
//
// Each step draws a random order of the n mixed samples, then one coefficient or n of them, and makes n open samples
// from x_i = feature_i and x_j = feature_order(i). The model's head computes the output from them; gradients flow
// through it into both features. slot is i; weight is 1 if the labels differ and 0 if they are equal. A batch that
// can't be halved gives an output of 0 rows.
#ifndef OPENSET_DATA_OPEN_SET_FEATURE_MIXUP_H_
#define OPENSET_DATA_OPEN_SET_FEATURE_MIXUP_H_

#include <memory>

#include "core/tensor/open_set.h"
#include "data/open_set/open_set.pb.h"

namespace openset {

std::unique_ptr<OpenSetSource> MakeFeatureMixup(const FeatureMixupSpec& spec);

}  // namespace openset

#endif  // OPENSET_DATA_OPEN_SET_FEATURE_MIXUP_H_
