#include "eval/metrics/confusion.h"

#include "absl/strings/str_cat.h"
#include "core/table.h"

namespace openset {

ConfusionMatrix ConfusionAt(const RankedInput& ranked, double threshold) {
  const EvaluationInput& input = ranked.input();
  const int32_t classes = input.num_classes();
  ConfusionMatrix confusion{classes, std::vector<int64_t>((int64_t{classes} + 1) * (classes + 1), 0)};
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    const int64_t row = input.IsUnknown(i) ? classes : input.label()[i];
    const int64_t column = input.unknown_score()[i] <= threshold ? input.prediction()[i] : classes;
    confusion.counts[row * (classes + 1) + column] += ranked.weight(i);
  }
  return confusion;
}

std::vector<std::optional<double>> AccuracyPerClass(const ConfusionMatrix& confusion) {
  std::vector<std::optional<double>> accuracy(confusion.num_classes);
  for (int32_t c = 0; c < confusion.num_classes; ++c) {
    int64_t samples = 0;
    for (int32_t column = 0; column <= confusion.num_classes; ++column) samples += confusion.at(c, column);
    if (samples > 0) accuracy[c] = static_cast<double>(confusion.at(c, c)) / static_cast<double>(samples);
  }
  return accuracy;
}

std::string AccuracyPerClassCsv(const ConfusionMatrix& confusion) {
  std::string csv = "class,samples,accuracy\n";
  const std::vector<std::optional<double>> accuracy = AccuracyPerClass(confusion);
  for (int32_t c = 0; c < confusion.num_classes; ++c) {
    int64_t samples = 0;
    for (int32_t column = 0; column <= confusion.num_classes; ++column) samples += confusion.at(c, column);
    absl::StrAppend(&csv, c, ",", samples, ",", accuracy[c] ? FullPrecision(*accuracy[c]) : "", "\n");
  }
  return csv;
}

std::string ConfusionCsv(const ConfusionMatrix& confusion) {
  std::string csv = "class";
  for (int32_t c = 0; c < confusion.num_classes; ++c) absl::StrAppend(&csv, ",", c);
  absl::StrAppend(&csv, ",rejected\n");
  for (int32_t row = 0; row <= confusion.num_classes; ++row) {
    absl::StrAppend(&csv, row < confusion.num_classes ? absl::StrCat(row) : "unknown");
    for (int32_t column = 0; column <= confusion.num_classes; ++column) {
      absl::StrAppend(&csv, ",", confusion.at(row, column));
    }
    csv += '\n';
  }
  return csv;
}

}  // namespace openset
