#include "eval/report/curves/threshold_curves.h"

#include <algorithm>
#include <utility>

#include "eval/metrics/detection/threshold_metric.h"

namespace openset {

ThresholdCurves MakeThresholdCurves(const RankedInput& ranked, int max_rows) {
  const struct {
    const char* name;
    const char* label;
    ThresholdMetric metric;
  } metrics[] = {{"open_set_f_macro", "F1 of known classes, macro", OpenSetFMacro()},
                 {"open_set_f_micro", "F1 of known classes, micro", OpenSetFMicro()},
                 {"youden_macro", "Youden's J, macro", YoudenMacro()},
                 {"youden_micro", "Youden's J, micro", YoudenMicro()},
                 {"nacc", "normalised accuracy", NaccEq6()},
                 {"nacc_rates", "normalised accuracy, of rates", NaccRates()}};
  ThresholdCurves curves;
  curves.table.header = {"threshold", "unknown_rejected", "known_accepted"};
  curves.plot.title = "Metrics of the decisions at a threshold";
  curves.plot.x_label = "TPR of the unknown class: unknown samples rejected";
  curves.plot.y_label = "value";
  curves.plot.x_high = curves.plot.y_high = 1;
  const double known = ranked.total().known();
  const double unknown = ranked.total().unknown;
  int color = 0;
  for (const auto& [name, label, metric] : metrics) {
    const std::vector<ThresholdValue> values = OverThresholds(metric, ranked);
    const size_t rows = std::min<size_t>(values.size(), max_rows);
    const bool first = curves.table.rows.empty();
    curves.table.header.push_back(name);
    PlotSeries series;
    series.name = label;
    series.color = color++;
    series.dashed = series.color % 2 == 1;
    for (size_t i = 0; i < rows; ++i) {
      const size_t at = rows == 1 ? 0 : i * (values.size() - 1) / (rows - 1);
      const ThresholdValue& value = values[at];
      const double rejected = 1 - value.accepted.unknown / unknown;
      if (first) {
        curves.table.rows.push_back(
            {FullPrecision(value.threshold), FullPrecision(rejected), FullPrecision(value.accepted.known() / known)});
      }
      curves.table.rows[i].push_back(FullPrecision(value.value));
      series.points.emplace_back(rejected, value.value);
    }
    curves.plot.series.push_back(std::move(series));
  }
  return curves;
}

}  // namespace openset
