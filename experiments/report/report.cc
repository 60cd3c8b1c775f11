#include "experiments/report/report.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "data/selection.h"
#include "data/sets/feature_data_set.h"
#include "data/splits/split_digest.h"
#include "data/task.pb.h"
#include "eval/metrics/metric.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/method/method_threshold.h"
#include "experiments/spec/trial.h"
#include "experiments/store/records/evaluated_at.h"
#include "experiments/store/records/metric_groups.h"
#include "models/model.pb.h"

namespace openset {
namespace {

// "12,345"
std::string Thousands(int64_t value) {
  std::string digits = absl::StrCat(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string Range(const std::set<int64_t>& values) {
  if (values.empty()) return "?";
  if (values.size() == 1) return Thousands(*values.begin());
  return absl::StrCat(Thousands(*values.begin()), "-", Thousands(*values.rbegin()));
}

// " (cifar100 9,000, svhn 26,032)" if there are several sets of unknown samples.
std::string SetsText(const std::vector<std::pair<std::string, std::set<int64_t>>>& sets) {
  if (sets.size() < 2) return "";
  return absl::StrCat(
      " (",
      absl::StrJoin(sets, ", ",
                    [](std::string* out, const auto& set) { absl::StrAppend(out, set.first, " ", Range(set.second)); }),
      ")");
}

std::vector<std::string> TaskLines(absl::Span<const TrialResult> results) {
  struct Facts {
    std::set<int64_t> known_classes, unknown_classes, known, unknown;
    std::set<double> openness;
    std::vector<std::pair<std::string, std::set<int64_t>>> sets;  // samples of each set of unknown ones
  };
  std::vector<std::string> order;
  std::map<std::string, Facts> tasks;
  for (const TrialResult& result : results) {
    const TrialSpec& trial = *result.trial;
    if (tasks.count(trial.task()) == 0) order.push_back(trial.task());
    Facts& facts = tasks[trial.task()];
    facts.known_classes.insert(trial.data().test_known().class_id_size());
    facts.unknown_classes.insert(CountUnknownClasses(trial.data()));
    facts.openness.insert(trial.openness());
    if (result.record == nullptr) continue;
    facts.known.insert(result.record->counts().known());
    facts.unknown.insert(result.record->counts().unknown());
    for (const GroupCount& group : result.record->counts().group()) {
      auto set =
          std::find_if(facts.sets.begin(), facts.sets.end(), [&](const auto& s) { return s.first == group.name(); });
      if (set == facts.sets.end()) set = facts.sets.insert(set, {group.name(), {}});
      set->second.insert(group.samples());
    }
  }
  std::vector<std::string> lines;
  for (const std::string& task : order) {
    const Facts& facts = tasks[task];
    std::string openness = absl::StrFormat("%.3f", *facts.openness.begin());
    if (facts.openness.size() > 1) absl::StrAppendFormat(&openness, "-%.3f", *facts.openness.rbegin());
    lines.push_back(absl::StrCat(task, ": ", Range(facts.known_classes), " known and ", Range(facts.unknown_classes),
                                 " unknown classes, openness ", openness, ", known:unknown test samples ",
                                 Range(facts.known), ":", Range(facts.unknown), SetsText(facts.sets)));
  }
  return lines;
}

// "temperature 10, epsilon 0.002"
std::string ChoiceOf(const SearchLog& log) {
  const SearchCandidate& chosen = log.candidate(log.chosen());
  return AxisText({chosen.axis().begin(), chosen.axis().end()});
}

// "odin (tuned) on task, split 0, seed 0: temperature 10, epsilon 0.002 (best aurc of 44: 0.12)"
std::string SearchLine(const TrialSpec& trial) {
  const SearchLog& log = trial.search();
  const SearchCandidate& chosen = log.candidate(log.chosen());
  std::string text =
      absl::StrCat(trial.method().name(), " on ", trial.task(), ", split ", trial.split(), ", seed ", trial.seed());
  for (const AxisValue& axis : trial.axis()) absl::StrAppend(&text, ", ", axis.name(), " ", axis.value());
  absl::StrAppend(&text, ": ", ChoiceOf(log), " (best validation ", MetricName(log.criterion()), " of ",
                  log.candidate_size(), ": ", absl::StrFormat("%.4g", chosen.value()), ")");
  return text;
}

// "tuned: 2 tensors of its weights were left out: bn.bias, bn.weight"
std::string LeftOutLine(const TrialResult& result) {
  const auto& tensors = result.record->ignored_tensor();
  return absl::StrCat(
      result.trial->method().name(), ": ", tensors.size(),
      tensors.size() == 1 ? " tensor of its weights was left out: " : " tensors of its weights were left out: ",
      absl::StrJoin(tensors, ", "));
}

// "weights of model.ckpt: all names begin with 'model.', which is left out"
std::vector<std::string> ImportLines(const TrialResult& result) {
  const std::string& file = result.trial->method().model().weights().file();
  const std::string name =
      file.empty() ? result.trial->method().name() : std::filesystem::path(file).filename().string();
  std::vector<std::string> lines;
  for (const std::string& note : result.record->import_note()) {
    lines.push_back(absl::StrCat("weights of ", name, ": ", note));
  }
  return lines;
}

// The cells, in the order of the trials.
class Cells {
 public:
  ReportCell* Of(const TrialSpec& trial, const std::string& group, const std::string& metric, const Display& display) {
    const std::vector<AxisValue> axis(trial.axis().begin(), trial.axis().end());
    const int unknown_classes = CountUnknownClasses(trial.data());
    const int known_classes = trial.data().test_known().class_id_size();
    const auto [entry, is_new] = index_.try_emplace(
        Key{trial.task(), trial.method().name(), AxisText(axis), known_classes, unknown_classes, group, metric},
        cells_.size());
    if (is_new) {
      ReportCell cell;
      cell.method = trial.method().name();
      cell.task = trial.task();
      cell.axis = axis;
      cell.known_classes = known_classes;
      cell.unknown_classes = unknown_classes;
      cell.openness = trial.openness();
      cell.group = group;
      cell.metric = metric;
      cell.display = display;
      cells_.push_back(std::move(cell));
    }
    return &cells_[entry->second];
  }

  std::vector<ReportCell> Take() { return std::move(cells_); }

 private:
  using Key = std::tuple<std::string, std::string, std::string, int, int, std::string, std::string>;
  std::map<Key, size_t> index_;
  std::vector<ReportCell> cells_;
};

ReportTrial TrialOf(const TrialResult& result) {
  const TrialSpec& trial = *result.trial;
  const TrialRecord& record = *result.record;
  ReportTrial found;
  found.id = record.trial_id();
  found.method = trial.method().name();
  found.task = trial.task();
  found.axis.assign(trial.axis().begin(), trial.axis().end());
  found.split = trial.split();
  found.seed = trial.seed();
  found.checkpoint_key = record.checkpoint_key();
  found.outputs_key = record.outputs_key();
  found.epochs.assign(record.epoch().begin(), record.epoch().end());
  return found;
}

// Returns a record's entry for a metric; null if there is none. It is usually at `next`, because records have their
// metrics in the order of their trials.
const MetricRecord* FindMeasured(const TrialRecord& record, const ReportCell& cell, int* next) {
  for (int i = 0; i < record.metric_size(); ++i) {
    const int place = (*next + i) % record.metric_size();
    const MetricRecord& measured = record.metric(place);
    if (!IsMeasured(measured, cell.metric) || GroupText(measured.group()) != cell.group) continue;
    *next = place + 1;
    return &measured;
  }
  return nullptr;
}

// Whether a group is the mean over one set, and so the same as that set.
bool IsMeanOfOne(const MetricGroup& group, const TaskData& data) {
  if (group.kind() != MetricGroup::NEAR_MEAN && group.kind() != MetricGroup::FAR_MEAN) return false;
  const UnknownGroup::Distance distance =
      group.kind() == MetricGroup::NEAR_MEAN ? UnknownGroup::NEAR : UnknownGroup::FAR;
  return absl::c_count_if(data.test_unknown(), [&](const UnknownGroup& set) { return set.distance() == distance; }) ==
         1;
}

// Adds a trial's value to its cell.
void AddResult(const TrialResult& result, int draw, int* next, ReportCell* cell) {
  if (result.record == nullptr) {
    ++cell->missing;
    return;
  }
  const MetricRecord* const measured = FindMeasured(*result.record, *cell, next);
  if (measured == nullptr) return;
  if (!measured->has_value()) {
    cell->absent_reasons.push_back(measured->absent_reason());
    return;
  }
  cell->values.push_back(measured->value());
  cell->splits.push_back(result.trial->split());
  cell->draws.push_back(draw);
  cell->seeds.push_back(result.trial->seed());
  cell->without_blocks.emplace_back(measured->without_block().begin(), measured->without_block().end());
  cell->intervals.emplace_back();
  if (measured->interval().has_low()) {
    cell->intervals.back() = {measured->interval().low(), measured->interval().high()};
  }
}

// Methods and their thresholds, by known classes, most first.
using Thresholds = std::map<int, std::vector<std::pair<std::string, double>>, std::greater<>>;

// "4 known classes: softmax -0.48, noise_softmax 0; 2 known classes: softmax -0.8".
std::string ThresholdsText(const Thresholds& thresholds) {
  const auto of_method = [](std::string* out, const std::pair<std::string, double>& method) {
    absl::StrAppend(out, method.first, " ", method.second);
  };
  return absl::StrJoin(thresholds, "; ", [&](std::string* out, const auto& level) {
    absl::StrAppend(out, level.first, " known classes: ", absl::StrJoin(level.second, ", ", of_method));
  });
}

// Merges the columns of methods that have different thresholds in a metric, and adds a line with the thresholds.
void ShareColumns(absl::Span<const TrialResult> results, Report* report) {
  std::map<std::string, std::set<std::string>> labels;  // by the metric's name
  for (const ReportCell& cell : report->cells) labels[cell.metric].insert(cell.display.label);
  if (absl::c_all_of(labels, [](const auto& of_metric) { return of_metric.second.size() == 1; })) return;
  std::map<std::string, std::string> shared;
  std::map<std::string, Thresholds> thresholds;
  for (const TrialResult& result : results) {
    for (MetricSpec metric : result.trial->metric()) {
      const std::string name = MetricName(metric);
      if (labels[name].size() < 2) continue;
      const std::optional<double> threshold = TakeThreshold(&metric);
      if (!threshold.has_value()) continue;
      shared[name] = DisplayOf(metric).label;
      auto& of_level = thresholds[name][result.trial->data().test_known().class_id_size()];
      const std::pair<std::string, double> method = {result.trial->method().name(), *threshold};
      if (!absl::c_linear_search(of_level, method)) of_level.push_back(method);
    }
  }
  std::map<std::string, std::vector<std::string>> lines;  // metrics by the text of their line
  for (const auto& [name, of_metric] : thresholds) lines[ThresholdsText(of_metric)].push_back(name);
  for (const auto& [line, names] : lines) {
    report->note_lines.push_back(absl::StrCat("Thresholds (", absl::StrJoin(names, ", "), "): ", line));
  }
  for (ReportCell& cell : report->cells) {
    if (const auto label = shared.find(cell.metric); label != shared.end()) cell.shared_label = label->second;
  }
}

// Marks the cells that have fewer runs than others that they could be compared with.
void MarkFewerRuns(Report* report) {
  std::map<Place, size_t> most;
  const auto runs = [](const ReportCell& cell) { return cell.n + cell.missing + cell.absent_reasons.size(); };
  for (const ReportCell& cell : report->cells) {
    size_t& of_place = most[PlaceOf(cell)];
    of_place = std::max(of_place, runs(cell));
  }
  for (ReportCell& cell : report->cells) cell.has_fewer_runs = runs(cell) < most[PlaceOf(cell)];
}

}  // namespace

std::string AxisText(const std::vector<AxisValue>& axis) {
  return absl::StrJoin(axis, ", ",
                       [](std::string* out, const AxisValue& a) { absl::StrAppend(out, a.name(), " ", a.value()); });
}

int Draws::Of(const Level& level, int split, const TaskData& data) {
  if (data.test_known().class_id().empty()) return split;  // its classes are not known
  const auto [found, is_new] = of_split_.try_emplace({level, split}, split);
  if (is_new) found->second = first_.try_emplace({level, DrawDigest(data)}, split).first->second;
  return found->second;
}

int DrawOf(const ReportCell& cell, size_t value) { return cell.draws.empty() ? cell.splits[value] : cell.draws[value]; }

Display SharedDisplay(const ReportCell& cell) {
  Display display = cell.display;
  display.label = cell.shared_label.value_or(display.label);
  return display;
}

bool IsIncomplete(const ReportCell& cell) {
  return cell.missing > 0 || !cell.absent_reasons.empty() || cell.has_fewer_runs;
}

void Summarise(ReportCell* cell) {
  cell->n = static_cast<int>(cell->values.size());
  if (cell->n == 0) return;
  double sum = 0;
  for (double value : cell->values) sum += value;
  cell->mean = sum / cell->n;
  double squares = 0;
  for (double value : cell->values) squares += (value - cell->mean) * (value - cell->mean);
  cell->std = std::sqrt(squares / cell->n);
}

std::string RowName(const std::string& method, const std::vector<AxisValue>& axis) {
  return axis.empty() ? method : absl::StrCat(method, ", ", AxisText(axis));
}

std::string RowName(const ReportCell& cell) { return RowName(cell.method, cell.axis); }

std::string RowName(const TrialSpec& trial) {
  return RowName(trial.method().name(), {trial.axis().begin(), trial.axis().end()});
}

Report MakeReport(const std::string& experiment, absl::Span<const TrialResult> results) {
  Report report;
  report.experiment = experiment;
  report.trials = static_cast<int>(results.size());
  if (!results.empty()) {  // the same for all trials
    const auto& overrides = results[0].trial->overrides();
    report.overrides.assign(overrides.begin(), overrides.end());
  }
  report.task_lines = TaskLines(results);
  Cells cells;
  Draws draws;
  for (const TrialResult& result : results) {
    const TrialSpec& trial = *result.trial;
    report.missing += result.record == nullptr;
    if (!trial.method().title().empty()) report.titles.try_emplace(trial.method().name(), trial.method().title());
    if (trial.has_search()) {
      report.search_lines.push_back(SearchLine(trial));
      ++report.choices[RowName(trial)][ChoiceOf(trial.search())];
    }
    if (result.record != nullptr) report.results.push_back(TrialOf(result));
    if (result.record != nullptr) {
      std::vector<std::string> lines = ImportLines(result);
      if (result.record->ignored_tensor_size() > 0) lines.push_back(LeftOutLine(result));
      for (const std::string& line : lines) {
        if (!absl::c_linear_search(report.note_lines, line)) report.note_lines.push_back(line);
      }
    }
    const int draw = draws.Of(LevelOf(trial), trial.split(), trial.data());
    int next = 0;  // index of the record's metric
    for (const MetricGroup& group : MetricGroupsOf(trial.data())) {
      for (const MetricSpec& metric : trial.metric()) {
        const Display display = DisplayOf(metric);
        if (group.kind() != MetricGroup::POOL && !display.reads_unknown) continue;
        ReportCell* const cell = cells.Of(trial, GroupText(group), MetricName(metric), display);
        cell->mean_of_one = IsMeanOfOne(group, trial.data());
        AddResult(result, draw, &next, cell);
      }
    }
  }
  report.cells = cells.Take();
  for (ReportCell& cell : report.cells) Summarise(&cell);
  MarkFewerRuns(&report);
  ShareColumns(results, &report);
  return report;
}

Level LevelOf(const ReportCell& cell) { return {cell.task, cell.known_classes, cell.unknown_classes}; }

Place PlaceOf(const ReportCell& cell) { return {LevelOf(cell), cell.group, cell.metric}; }

Level LevelOf(const TrialSpec& trial) {
  return {trial.task(), trial.data().test_known().class_id_size(), CountUnknownClasses(trial.data())};
}

LevelTitles::LevelTitles(const Report& report) {
  for (const ReportCell& cell : report.cells) Add(LevelOf(cell));
}

LevelTitles::LevelTitles(absl::Span<const TrialResult> results) {
  for (const TrialResult& result : results) Add(LevelOf(*result.trial));
}

void LevelTitles::Add(const Level& level) {
  const auto& [task, known, unknown] = level;
  known_[task].insert(known);
  levels_[task].insert({known, unknown});
}

std::string LevelTitles::Of(const ReportCell& cell) const { return Title(LevelOf(cell), cell.openness); }

std::string LevelTitles::Of(const TrialSpec& trial) const { return Title(LevelOf(trial), trial.openness()); }

std::string LevelTitles::Title(const Level& level, double openness) const {
  const auto& [task, known, unknown] = level;
  if (levels_.at(task).size() < 2) return task;
  return absl::StrFormat("%s, %s%d unknown %s, openness %.3f", task,
                         known_.at(task).size() < 2 ? "" : absl::StrCat(known, " known and "), unknown,
                         unknown == 1 ? "class" : "classes", openness);
}

std::string LevelTitles::SuffixOf(const TrialSpec& trial) const {
  const auto& [task, known, unknown] = LevelOf(trial);
  return absl::StrCat(levels_.size() < 2 ? "" : absl::StrCat("_", task),
                      levels_.at(task).size() < 2 ? "" : absl::StrCat("_", known, "_", unknown));
}

int LevelTitles::size() const {
  int number = 0;
  for (const auto& [task, levels] : levels_) number += static_cast<int>(levels.size());
  return number;
}

namespace {

// The fields with one value for each cell, in the order of tables.
using TrialPlace = std::tuple<std::string, int, int, std::string, int, uint64_t>;

TrialPlace TrialPlaceOf(const TrialSpec& trial) {
  return {trial.task(),
          trial.data().test_known().class_id_size(),
          CountUnknownClasses(trial.data()),
          RowName(trial),
          trial.split(),
          trial.seed()};
}

// The command line's changes of the trial. --seeds, --methods and --until only choose trials.
std::string ChangesOf(const TrialSpec& trial) {
  std::vector<std::string> changes;
  for (const std::string& change : trial.overrides()) {
    const bool chooses_trials = absl::StartsWith(change, "--seeds") || absl::StartsWith(change, "--methods") ||
                                absl::StartsWith(change, "--until");
    if (!chooses_trials) changes.push_back(change);
  }
  return absl::StrJoin(changes, " ");
}

void AddAxis(const std::string& name, const std::string& value, TrialSpec* trial) {
  if (value.empty()) return;
  AxisValue* axis = trial->add_axis();
  axis->set_name(name);
  axis->set_value(value);
}

std::string LeftOutText(int64_t count, const std::string& why) {
  return absl::StrCat(count, count == 1 ? " record is" : " records are", " left out: ", why);
}

// A line for each part of a data set of which the records of a task were measured on several contents.
std::vector<std::string> OtherImageLines(absl::Span<const TrialResult> results) {
  // The records of each content, by task, data set, part and, of files of features, which may be others in each split,
  // the split: records have their names only.
  std::map<std::tuple<std::string, std::string, std::string, int>, std::map<std::string, std::vector<const TrialSpec*>>>
      contents;
  for (const TrialResult& result : results) {
    const TaskData& data = result.trial->data();
    std::vector<const Selection*> selections = TestSelections(data);
    selections.push_back(&data.train());
    for (const Selection* selection : selections) {
      for (const PartOfDataSet& part : PartsOf(*selection)) {
        if (!part.has_part_digest()) continue;
        const int split = absl::StartsWith(selection->data_set(), kFeaturesPrefix) ? result.trial->split() : -1;
        std::vector<const TrialSpec*>& of_content =
            contents[{result.trial->task(), selection->data_set(), part.part(), split}][part.part_digest()];
        if (of_content.empty() || of_content.back() != result.trial) of_content.push_back(result.trial);
      }
    }
  }
  std::vector<std::string> lines;
  for (const auto& [place, of_part] : contents) {
    if (of_part.size() < 2) continue;
    const auto fewest = std::min_element(
        of_part.begin(), of_part.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    const TrialSpec& one = *fewest->second[0];
    lines.push_back(absl::StrCat(std::get<0>(place), ": the records were measured on ", of_part.size(),
                                 " states of part '", std::get<2>(place), "' of data set '", std::get<1>(place), "'; ",
                                 fewest->second.size(), " of them (", RowName(one), ", split ", one.split(), ", seed ",
                                 one.seed(), fewest->second.size() > 1 ? ", ..." : "",
                                 ") on one that the others don't have: their differences are not between methods"));
  }
  return lines;
}

}  // namespace

RecordResults ResultsOf(std::vector<TrialRecord> records,
                        const google::protobuf::RepeatedPtrField<std::string>& methods) {
  RecordResults made;
  std::set<std::string> candidates, studies, changes;
  for (const TrialRecord& record : records) {
    for (const SearchCandidate& candidate : record.trial().search().candidate()) {
      candidates.insert(candidate.trial_id());
      for (const SearchRung& rung : candidate.rung()) candidates.insert(rung.trial_id());
    }
  }
  const auto is_candidate = [&](const TrialRecord& record) { return candidates.count(record.trial_id()) > 0; };
  const auto end = std::remove_if(records.begin(), records.end(), is_candidate);
  if (const int64_t count = records.end() - end; count > 0) {
    made.notes.push_back(LeftOutText(count, "candidates of searches"));
  }
  records.erase(end, records.end());
  for (const TrialRecord& record : records) {
    studies.insert(record.trial().experiment());
    changes.insert(ChangesOf(record.trial()));
  }
  std::map<TrialPlace, std::pair<TrialSpec, TrialRecord>> newest;
  int64_t others = 0;
  for (TrialRecord& record : records) {
    TrialSpec trial = record.trial();
    if (studies.size() > 1) AddAxis("study", trial.experiment(), &trial);
    if (changes.size() > 1) AddAxis("changed", ChangesOf(trial), &trial);
    const auto [at, is_new] = newest.try_emplace(TrialPlaceOf(trial));
    others += !is_new;
    if (!is_new && EvaluatedAt(at->second.second) >= EvaluatedAt(record)) continue;
    at->second = {std::move(trial), std::move(record)};
  }
  if (others > 0) {
    made.notes.push_back(
        LeftOutText(others, "a newer one has the same method, task, split and seed ('openset records ls' lists all)"));
  }
  for (auto& [at, of_place] : newest) {
    made.trials.push_back(std::move(of_place.first));
    made.records.push_back(std::move(of_place.second));
    made.results.push_back({&made.trials.back(), &made.records.back()});
  }
  const auto place = [&](const TrialResult& result) {
    const absl::string_view name = absl::StripSuffix(result.trial->method().name(), kTunedSuffix);
    return std::tuple(LevelOf(*result.trial), absl::c_find(methods, name) - methods.begin());
  };
  std::stable_sort(made.results.begin(), made.results.end(),
                   [&](const TrialResult& a, const TrialResult& b) { return place(a) < place(b); });
  for (std::string& line : OtherImageLines(made.results)) made.notes.push_back(std::move(line));
  return made;
}

}  // namespace openset
