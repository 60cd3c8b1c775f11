// Open-set source: features far out in the normal distributions of the known classes (VOS, Du et al., ICLR 2022), as
// VirtualOutliersSpec in open_set.proto says. Each step has K * kept open samples, of weight 0 until every class has
// `memory` features; the model's head computes their output.
//
// The class distributions have the same covariance S = L L^T, so the least likely of m + L e are those with the longest
// e. The lengths are the largest of `draws` square roots of chi-squared numbers with D degrees of freedom, and the
// directions are uniform. This has the same distribution as the released code, which draws all e, at a fraction of the
// cost.
#ifndef OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_VIRTUAL_OUTLIERS_H_
#define OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_VIRTUAL_OUTLIERS_H_

#include "core/random.h"
#include "core/tensor/torch.h"
#include "experiments/spec/open_set.pb.h"

namespace openset {

// Returns the `kept` longest of `draws` standard normal vectors of each class, longest first: f64 [K, kept, D]. The
// squared lengths of all classes are drawn first, then the directions.
at::Tensor DrawFarPoints(const VirtualOutliersSpec& spec, int64_t classes, int64_t dim, RandomStream* random);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_VIRTUAL_OUTLIERS_H_
