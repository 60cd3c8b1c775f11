// Tests that every metric must pass.
#ifndef OPENSET_EVAL_TESTING_METRIC_CONFORMANCE_H_
#define OPENSET_EVAL_TESTING_METRIC_CONFORMANCE_H_

#include "eval/metrics/metric.pb.h"

namespace openset {
namespace testing {

// Properties of one form of a metric, beside what all metrics have in common.
struct MetricForm {
  double low = 0;  // its range
  double high = 1;
  bool depends_on_ranks_only = true;  // and not on the scores' values
  bool depends_on_order = false;      // of the samples in the input
};

// On random inputs with and without ties, without known and without unknown samples, of one class, with infinite and
// with constant scores:
//   * a value is finite and in range; an absent one has a reason;
//   * the order of the samples and a strictly increasing function of the scores change nothing, as `form` says;
//   * weights give what repeated samples give, and weights of 0 what samples left out give.
void CheckMetric(const MetricSpec& spec, const MetricForm& form);

}  // namespace testing
}  // namespace openset

#endif  // OPENSET_EVAL_TESTING_METRIC_CONFORMANCE_H_
