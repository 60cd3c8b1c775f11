// Critical-difference diagrams (Demsar 2006).
#ifndef OPENSET_EVAL_REPORT_CRITICAL_DIFFERENCE_H_
#define OPENSET_EVAL_REPORT_CRITICAL_DIFFERENCE_H_

#include <string>
#include <vector>

#include "core/chart/vega_lite.h"
#include "eval/statistics/several_methods.h"

namespace openset {

// Mean ranks on an axis (1 = best, at the left), with the critical difference above it and bars over methods that don't
// differ significantly. `methods` are the names, in the order of the test.
VegaLite CriticalDifferenceDiagram(const std::string& title, const std::vector<std::string>& methods,
                                   const FriedmanTest& test);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_CRITICAL_DIFFERENCE_H_
