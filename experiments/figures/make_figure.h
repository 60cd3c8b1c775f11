// Figures that need no training: data and plot of each.
#ifndef OPENSET_EXPERIMENTS_FIGURES_MAKE_FIGURE_H_
#define OPENSET_EXPERIMENTS_FIGURES_MAKE_FIGURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/chart/vega_lite.h"
#include "core/text/table.h"
#include "experiments/figures/figure.pb.h"

namespace openset {

// Softmax outputs of small networks over a plane: how confident they are near their training samples and far from them.

// The largest softmax output at each point of a square grid.
struct ToyMap {
  std::string method;         // "MCP", "Deep Ensemble", "Outlier Exposure"
  std::vector<double> value;  // [grid, grid]: y from the top down, x from the left
};

// Known samples are normal around class centres on a circle, the first at the top. Each network is 2 -> hidden, ReLU ->
// classes, starts from N(0, 2 / inputs) and biases 0, and takes steps of gradient descent on the cross-entropy of all
// samples. The ensemble is the mean of its members' softmax outputs, of which MCP is the first. Outlier Exposure adds
// `outlier_weight` times the cross-entropy to the uniform distribution, on samples drawn uniformly from the square that
// have no class centre nearer than `outlier_distance`. The same spec and seed give the same maps.
std::vector<ToyMap> ToySoftmaxMaps(const ToySoftmaxSpec& spec, uint64_t seed);

// Coordinate of grid line i: -range to range.
double ToyCoordinate(const ToySoftmaxSpec& spec, int i);

// ---- Figures that need no training.

struct Figure {
  Table data;  // everything that is drawn, in full precision
  VegaLite chart;
};

// The same spec gives the same figure. Precondition: the spec obeys its schema's rules.
Figure MakeFigure(const FigureSpec& spec);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_FIGURES_MAKE_FIGURE_H_
