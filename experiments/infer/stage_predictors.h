// Inferences that use the feature maps of a network's stages.
#ifndef OPENSET_EXPERIMENTS_INFER_STAGE_PREDICTORS_H_
#define OPENSET_EXPERIMENTS_INFER_STAGE_PREDICTORS_H_

#include "core/tensor/torch.h"
#include "experiments/infer/predictor.h"

namespace openset {

// Returns each map [C, H, W] of [B, C, H, W] without its strongest direction: X - u u^T X for X [C, HW] and the unit
// vector u of the largest |u^T X|, which is X - s u v^T of its singular value decomposition. Computed in double from
// the eigenvectors of the smaller of X X^T and X^T X; the result has the map's type. If several singular values tie for
// the largest, any of their vectors may be used.
at::Tensor WithoutStrongestDirection(const at::Tensor& map);

// Returns [B, powers * C] for a map [B, C, H, W]: for each power q = 1, 2, ... and each channel, the signed q-th root
// of the row sum of F F^T, where F [C, HW] has the q-th powers of the map's elements (StageValuesSpec, GRAM). Computed
// in double.
at::Tensor GramRowSums(const at::Tensor& map, int powers);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_INFER_STAGE_PREDICTORS_H_
