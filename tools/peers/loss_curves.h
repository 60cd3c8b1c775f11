// Short trainings that another program can repeat step by step: this project's models, loss terms, open-set sources and
// optimisers on synthetic images, with all random draws recorded. tools/peers/loss_curve_peer.py repeats them in
// PyTorch.
#ifndef OPENSET_TOOLS_PEERS_LOSS_CURVES_H_
#define OPENSET_TOOLS_PEERS_LOSS_CURVES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/files/formats/npz.h"
#include "models/checkpoint.h"

namespace openset {

// The trainings, named by their losses.
std::vector<std::string> LossCurveNames();
// The networks, without dropout: "osrci_cnn" in f32 (in f64 for "cider") and "vgg32" (narrow) in f64.
std::vector<std::string> LossCurveModels();

// A training of S steps on one CPU thread, each with a batch of B of the N samples.
struct LossCurve {
  TensorMap weights;  // before the first step, with the weights of loss terms ("loss.1.centre")
  // "image" f32 [N, 3, 24, 24], "label" i64 [N] and "batch" i64 [S, B], the samples of each step, which are the same
  // for all trainings; "view" f32 [S, v * B, 3, 24, 24], the views of each batch one after the other; and what the
  // open-set source made: "order" i64 [S, n] and "coefficient" f64 [S] of feature mixup; "extra" f32 [S, U, 3, 24, 24],
  // images that the network sees after the batch; "order" (among the images of the batch) and "share" f64 [S] of mixed
  // images, which the network sees instead of the batch or in a separate pass; "far" f64 [S, 6, kept, D] of virtual
  // outliers.
  NpzArrays data;
  std::vector<double> loss;  // [S], the sum of all terms
};

// Precondition: the names are among those above, steps >= 1.
LossCurve RunLossCurve(const std::string& name, const std::string& model, int64_t steps);

// Writes NAME.safetensors (weights) and NAME.npz (data and "loss" f64 [S]) into an existing folder.
// Errors: kUnavailable with the path.
absl::Status WriteLossCurve(const LossCurve& curve, const std::string& folder, const std::string& name);

}  // namespace openset

#endif  // OPENSET_TOOLS_PEERS_LOSS_CURVES_H_
