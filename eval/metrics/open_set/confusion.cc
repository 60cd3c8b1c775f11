#include "eval/metrics/open_set/confusion.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/text/table.h"

namespace openset {
namespace {

std::string ClassName(int32_t c, absl::Span<const std::string> names) {
  return c < static_cast<int64_t>(names.size()) ? names[c] : absl::StrCat(c);
}

}  // namespace

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

std::string AccuracyPerClassCsv(const ConfusionMatrix& confusion, absl::Span<const std::string> names) {
  Table table{{"class", "samples", "accuracy"}, {}, 1};
  const std::vector<std::optional<double>> accuracy = AccuracyPerClass(confusion);
  for (int32_t c = 0; c < confusion.num_classes; ++c) {
    int64_t samples = 0;
    for (int32_t column = 0; column <= confusion.num_classes; ++column) samples += confusion.at(c, column);
    table.rows.push_back(
        {ClassName(c, names), absl::StrCat(samples), accuracy[c] ? FullPrecision(*accuracy[c]) : std::string()});
  }
  return ToCsv(table);
}

std::string ConfusionCsv(const ConfusionMatrix& confusion, absl::Span<const std::string> names) {
  Table table{{"class"}, {}, 1};
  for (int32_t c = 0; c < confusion.num_classes; ++c) table.header.push_back(ClassName(c, names));
  table.header.push_back("rejected");
  for (int32_t row = 0; row <= confusion.num_classes; ++row) {
    std::vector<std::string> cells = {row < confusion.num_classes ? ClassName(row, names) : "unknown"};
    for (int32_t column = 0; column <= confusion.num_classes; ++column) {
      cells.push_back(absl::StrCat(confusion.at(row, column)));
    }
    table.rows.push_back(std::move(cells));
  }
  return ToCsv(table);
}

}  // namespace openset
