#include "experiments/report/published_numbers.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "data/task.pb.h"
#include "eval/metrics/display.h"
#include "eval/metrics/metric.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/published/published.h"
#include "experiments/spec/method.proto.h"

namespace openset {
namespace {

// The key that a trial shares with a cell: level and row.
using Key = std::pair<Level, std::string>;

Key KeyOf(const ReportCell& cell) { return {LevelOf(cell), RowName(cell)}; }

Key KeyOf(const TrialSpec& trial) { return {LevelOf(trial), RowName(trial)}; }

const MetricSpec* FindMetric(const TrialSpec& trial, const std::string& name) {
  for (const MetricSpec& metric : trial.metric()) {
    if (MetricName(metric) == name) return &metric;
  }
  return nullptr;
}

template <typename Names>
std::string TheirName(const Names& names, const std::string& ours) {
  for (const PublishedName& name : names) {
    if (name.ours() == ours) return name.published();
  }
  return ours;
}

// The published metric for a study's metric: the same, or one of another kind by name.
MetricSpec TheirMetric(const PublishedReference& reference, const PublishedTable& table, const MetricSpec& ours) {
  const std::string name = TheirName(reference.metric(), MetricName(ours));
  if (name == MetricName(ours)) return ours;
  for (const PublishedColumn& column : table.column()) {
    if (MetricName(column.metric()) == name) return column.metric();
  }
  return ours;
}

const BalancedScoreSpec* BalancedScoreOf(const MetricSpec& metric) {
  if (metric.has_outer()) return &metric.outer();
  if (metric.has_halfpoint()) return &metric.halfpoint();
  if (metric.has_overall()) return &metric.overall();
  return nullptr;
}

// The label of our metric in the form of theirs: our metric contains the threshold instead of "of the method".
std::string LabelBeside(const MetricSpec& theirs, const MetricSpec& ours) {
  const BalancedScoreSpec* their_score = BalancedScoreOf(theirs);
  const BalancedScoreSpec* our_score = BalancedScoreOf(ours);
  const bool is_of_method = their_score != nullptr && their_score->has_of_method() && our_score != nullptr &&
                            our_score->has_threshold() && theirs.kind_case() == ours.kind_case();
  return DisplayOf(is_of_method && their_score->denominator() == our_score->denominator() ? theirs : ours).label;
}

std::vector<std::string> Reasons(const TrialSpec& trial, const ReportCell& cell, const MetricSpec& ours,
                                 const PublishedKey& key, const PublishedPlace& place, bool of_splits) {
  std::vector<std::string> reasons;
  if (key.task != cell.task) reasons.push_back(absl::StrCat("other data: ", cell.task, " for ", key.task));
  if (place.column->has_data()) reasons.push_back(absl::StrCat("other data: ", place.column->data()));
  if (key.method != cell.method) {
    reasons.push_back(absl::StrCat("another method: ", cell.method, " for ", key.method));
  } else if (!place.is_same_method) {
    reasons.push_back(absl::StrCat("another recipe: ", cell.method, " for ", place.row->method(0)));
  }
  const std::string label = LabelBeside(place.column->metric(), ours),
                    their_label = DisplayOf(place.column->metric()).label;
  if (label != their_label) reasons.push_back(absl::StrCat("another convention: ", label, " for ", their_label));
  if (trial.method().has_training() && place.row->has_epochs() &&
      trial.method().training().epochs() != place.row->epochs()) {
    reasons.push_back(absl::StrCat(trial.method().training().epochs() < place.row->epochs() ? "fewer" : "more",
                                   " epochs: ", trial.method().training().epochs(), " for ", place.row->epochs()));
  }
  if (const int limit = trial.data().train().limit_per_class(); limit > 0 && trial.method().has_training()) {
    reasons.push_back(absl::StrCat("fewer training images: ", limit, " a class"));
  }
  if (const int limit = trial.data().test_known().limit_per_class(); limit > 0) {
    reasons.push_back(absl::StrCat("fewer test images: ", limit, " a class"));
  }
  const int splits = static_cast<int>(std::set<int>(cell.splits.begin(), cell.splits.end()).size());
  if (!of_splits && place.row->has_runs() && cell.n < place.row->runs()) {
    reasons.push_back(absl::StrCat("fewer runs: ", cell.n, cell.n == 1 ? " value" : " values", " of ", splits,
                                   splits == 1 ? " split for " : " splits for ", place.row->runs()));
  }
  return reasons;
}

// The mean of the cell's splits, if the value of each is published.
bool MeanOfSplits(const PublishedCell& published, const ReportCell& cell, PublishedNumber* number) {
  const std::set<int> splits(cell.splits.begin(), cell.splits.end());
  if (splits.empty() || published.of_split_size() == 0) return false;
  double sum = 0;
  for (const int split : splits) {
    const auto found = absl::c_find_if(published.of_split(), [&](const auto& of) { return of.split() == split; });
    if (found == published.of_split().end()) return false;
    sum += found->value();
  }
  number->value = sum / static_cast<double>(splits.size());
  number->splits.assign(splits.begin(), splits.end());
  number->std.reset();
  return true;
}

template <typename Lines>
void AppendAll(const Lines& lines, std::vector<std::string>* all) {
  all->insert(all->end(), lines.begin(), lines.end());
}

}  // namespace

void AddPublished(const ReportSpec& spec, const std::vector<PublishedTable>& tables,
                  absl::Span<const TrialResult> results, Report* report) {
  std::map<Key, const TrialSpec*> trials;  // the first of each
  for (const TrialResult& result : results) trials.emplace(KeyOf(*result.trial), result.trial);
  for (int t = 0; t < static_cast<int>(tables.size()); ++t) {
    const PublishedTable& table = tables[t];
    const PublishedReference& reference = spec.published(t);
    bool is_used = false;
    for (ReportCell& cell : report->cells) {
      const auto trial = trials.find(KeyOf(cell));
      const MetricSpec* ours = trial == trials.end() ? nullptr : FindMetric(*trial->second, cell.metric);
      if (ours == nullptr) continue;
      const MetricSpec metric = TheirMetric(reference, table, *ours);
      // The levels of openness must be equal even if the spec renames the task.
      const std::string task = TheirName(reference.task(), cell.task);
      const PublishedKey key = {task,
                                TheirName(reference.method(), cell.method),
                                &metric,
                                cell.group,
                                cell.known_classes,
                                cell.unknown_classes};
      const std::optional<PublishedPlace> place = FindPublished(table, key);
      if (!place.has_value()) continue;
      is_used = true;
      PublishedNumber number;
      number.source = SourceText(table);
      number.place = absl::StrCat(place->row->label(), ", ", place->column->label());
      number.form = place->row->form();
      number.value = place->cell->value();
      if (place->cell->has_std()) number.std = place->cell->std() * place->column->scale();
      const bool of_splits = MeanOfSplits(*place->cell, cell, &number);
      number.value *= place->column->scale();
      number.reasons = Reasons(*trial->second, cell, *ours, key, *place, of_splits);
      AppendAll(place->row->doubt(), &number.doubts);
      AppendAll(place->column->doubt(), &number.doubts);
      AppendAll(place->cell->doubt(), &number.doubts);
      cell.published.push_back(std::move(number));
    }
    if (!is_used) continue;
    const std::string source = SourceText(table);
    if (table.has_convention()) report->published_lines.push_back(absl::StrCat(source, ": ", table.convention()));
    for (const std::string& doubt : table.doubt()) {
      report->published_lines.push_back(absl::StrCat(source, ": doubtful: ", doubt));
    }
  }
}

}  // namespace openset
