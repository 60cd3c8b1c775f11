// Figures that need no training.
#ifndef OPENSET_EXPERIMENTS_FIGURES_MAKE_FIGURE_H_
#define OPENSET_EXPERIMENTS_FIGURES_MAKE_FIGURE_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/chart/vega_lite.h"
#include "core/text/table.h"
#include "experiments/figures/figure.pb.h"

namespace openset {

struct Figure {
  Table data;  // everything that is drawn, in full precision
  VegaLite chart;
};

// The same spec gives the same figure. Precondition: the spec obeys its schema's rules.
Figure MakeFigure(const FigureSpec& spec);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_FIGURES_MAKE_FIGURE_H_
