#include "eval/metrics/confusion.h"

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
    confusion.counts[row * (int64_t{classes} + 1) + column] += ranked.weight(i);
  }
  return confusion;
}

std::vector<ClassCount> CountPerClass(const RankedInput& ranked) {
  std::vector<ClassCount> counts(ranked.input().num_classes());
  for (int64_t i = 0; i < ranked.input().num_samples(); ++i) {
    if (ranked.input().IsUnknown(i)) continue;
    const int32_t label = ranked.input().label()[i];
    counts[label].samples += ranked.weight(i);
    if (ranked.input().prediction()[i] == label) counts[label].correct += ranked.weight(i);
  }
  return counts;
}

std::string AccuracyPerClassCsv(const RankedInput& ranked, absl::Span<const std::string> names) {
  Table table{{"class", "samples", "accuracy"}, {}, 1};
  for (const ClassCount& count : CountPerClass(ranked)) {
    const double accuracy = static_cast<double>(count.correct) / static_cast<double>(count.samples);
    table.rows.push_back({ClassName(static_cast<int32_t>(table.rows.size()), names), absl::StrCat(count.samples),
                          count.samples > 0 ? FullPrecision(accuracy) : std::string()});
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
