#include "tools/cli/records/board.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "core/chart/page.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/status_macros.h"
#include "core/text/table.h"
#include "eval/metrics/display.h"
#include "experiments/report/report.h"
#include "experiments/report/report_tables.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/merge.h"
#include "experiments/store/records/metric_groups.h"
#include "experiments/store/records/record_id.h"
#include "experiments/store/store_contents.h"
#include "tools/cli/records/actions.h"
#include "tools/cli/records/difference_size.h"

namespace openset {
namespace {

constexpr char kBoardPage[] = "index.html", kBoardList[] = "records.csv";
constexpr size_t kMostListed = 2000;  // records on the page
constexpr size_t kDigits = 12;        // of digests on the page

constexpr char kStyle[] = R"(
h1, h2, p, td small { overflow-wrap: anywhere; }
thead th { white-space: normal; min-width: 7rem; }
nav a { display: inline-block; margin-right: 1.2rem; }
td small { display: block; color: var(--faint); white-space: normal; max-width: 14rem; margin-left: auto; }
td.once { border-left: 3px dotted var(--faint); }
td.others { border-left: 3px solid #56b4e9; }
td.again { border-left: 3px dashed #56b4e9; }
td.spread { border-left: 3px dashed #e69f00; }
td.differs { border-left: 3px double #e69f00; }
td.text, th.text { text-align: left; white-space: normal; overflow-wrap: break-word; min-width: 6rem; max-width: 24rem; }
)";

std::string UserOf(const StageProvenance& stage) {
  return absl::StrCat(stage.user_name(), stage.user_name().empty() ? "" : " on ",
                      stage.host().empty() ? "unknown host" : stage.host());
}

// "Xeon (AVX2)", "NVIDIA H200".
std::string MachineText(const StageProvenance& stage) {
  if (!stage.gpu().empty()) return stage.gpu();
  return absl::StrCat(stage.cpu().empty() ? "unknown processor" : stage.cpu(),
                      stage.cpu_capability().empty() ? "" : absl::StrCat(" (", stage.cpu_capability(), ")"));
}

std::string ProgramOf(const StageProvenance& stage) {
  return absl::StrCat(stage.commit().substr(0, kDigits), stage.dirty() ? ", with changes" : "");
}

// The different values of a record's stages.
std::string ValuesOf(const TrialRecord& record, std::string (*value)(const StageProvenance&)) {
  std::set<std::string> values;
  for (const StageProvenance& stage : record.provenance().stage()) values.insert(value(stage));
  return absl::StrJoin(values, "; ");
}

bool ShareAnExecution(const TrialRecord& a, const TrialRecord& b) {
  const auto is_told = [](const StageProvenance& stage) {
    return !stage.host().empty() && stage.started_at_seconds() > 0;
  };
  if (a.provenance().stage_size() == 0 || b.provenance().stage_size() == 0) return true;
  for (const StageProvenance& x : a.provenance().stage()) {
    for (const StageProvenance& y : b.provenance().stage()) {
      if (!is_told(x) || !is_told(y)) return true;
      if (x.key() == y.key() && x.host() == y.host() && x.started_at_seconds() == y.started_at_seconds()) return true;
    }
  }
  return false;
}

bool ShareAUser(const TrialRecord& a, const TrialRecord& b) {
  std::set<std::string> users;
  for (const StageProvenance& stage : a.provenance().stage()) users.insert(UserOf(stage));
  for (const StageProvenance& stage : b.provenance().stage()) {
    if (users.count(UserOf(stage)) > 0) return true;
  }
  return false;
}

std::string RerunText(Rerun rerun) {
  switch (rerun) {
    case Rerun::kOnce:
      return "not rerun";
    case Rerun::kAgainWithinSpread:
      return "rerun (within the spread)";
    case Rerun::kAgain:
      return "rerun (same bits)";
    case Rerun::kByOthersWithinSpread:
      return "rerun by others (within the spread)";
    case Rerun::kByOthers:
      return "rerun by others (same bits)";
    case Rerun::kOtherNumbers:
      return "other numbers";
  }
  return "";
}

// Whether the numbers were measured on outputs from elsewhere, which nobody can compute again from the record.
bool IsImported(const TrialSpec& trial) { return trial.method().model().outputs().has_file(); }

// "ours.zip (c0ffee)", "openset-store".
std::string SourceText(const BoardSource& source) {
  return absl::StrCat(source.name, source.digest.empty() ? "" : absl::StrCat(" (", source.digest, ")"));
}

const char* ClassOf(const std::map<Rerun, int>& counts) {
  if (counts.count(Rerun::kOtherNumbers) > 0) return "differs";
  if (counts.count(Rerun::kOnce) > 0) return "once";
  if (counts.count(Rerun::kAgainWithinSpread) > 0 || counts.count(Rerun::kByOthersWithinSpread) > 0) return "spread";
  return counts.count(Rerun::kAgain) > 0 ? "again" : "others";
}

// "5 runs: not rerun", "5 runs: 3 not rerun, 2 rerun by others (same bits); imported outputs".
std::string RunsText(const ReportCell& cell, const std::map<Rerun, int>& counts, bool is_imported) {
  return absl::StrCat(cell.n, cell.n == 1 ? " run: " : " runs: ",
                      absl::StrJoin(counts, ", ",
                                    [&](std::string* out, const auto& count) {
                                      absl::StrAppend(out, counts.size() > 1 ? absl::StrCat(count.second, " ") : "",
                                                      RerunText(count.first));
                                    }),
                      is_imported ? "; imported outputs" : "");
}

// The trials of a row of a level.
using BoardRow = std::pair<std::string, Level>;

BoardRow RowOf(const TrialSpec& trial) { return {RowName(trial), LevelOf(trial)}; }
BoardRow RowOf(const ReportCell& cell) { return {RowName(cell), LevelOf(cell)}; }

// The records by trial, the first one of each being the one that represents it (experiments/store/merge.h).
std::map<std::string, std::vector<const BoardRecord*>> ByTrial(const std::vector<BoardRecord>& records) {
  std::map<std::string, std::vector<const BoardRecord*>> trials;
  for (const BoardRecord& record : records) trials[record.record.trial_id()].push_back(&record);
  for (auto& [id, of_trial] : trials) {
    std::sort(of_trial.begin(), of_trial.end(), [](const BoardRecord* a, const BoardRecord* b) {
      const int order = CompareOrder(a->record, b->record);
      return order != 0 ? order < 0 : a->sha256 < b->sha256;
    });
  }
  return trials;
}

// Escaped, with a possible line break after each "_" and "+", as on a report's page.
std::string BreakableXml(const std::string& name) {
  return absl::StrReplaceAll(EscapeXml(name), {{"_", "_<wbr>"}, {"+", "+<wbr>"}});
}

// One table for each metric. `imported`: rows of imported outputs.
std::string NumbersHtml(const Report& report, const std::map<BoardRow, std::map<Rerun, int>>& reruns,
                        const std::set<BoardRow>& imported) {
  const LevelTitles titles(report);
  const std::vector<Emphasis> marks = BestMarks(report);
  std::vector<std::string> metrics;  // in the order of the report
  std::map<std::string, std::vector<std::string>> columns, rows;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> cells;
  for (size_t c = 0; c < report.cells.size(); ++c) {
    const ReportCell& cell = report.cells[c];
    if (cell.mean_of_one) continue;
    const Display display = SharedDisplay(cell);
    const std::string metric = absl::StrCat(LabelWithUnit(display), !display.higher_is_better.has_value() ? ""
                                                                    : *display.higher_is_better           ? " ↑"
                                                                                                          : " ↓");
    const std::string column = absl::StrCat(titles.Of(cell), cell.group == kPool ? "" : absl::StrCat(": ", cell.group));
    const auto add = [](const std::string& name, std::vector<std::string>* names) {
      if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
    };
    if (columns.count(metric) == 0) metrics.push_back(metric);
    add(column, &columns[metric]);
    add(RowName(cell), &rows[metric]);
    cells[{metric, RowName(cell), column}] = c;
  }
  std::string navigation = "<nav aria-label=\"contents\">", html;
  for (size_t m = 0; m < metrics.size(); ++m) {
    absl::StrAppend(&navigation, "<a href=\"#metric", m, "\">", EscapeXml(metrics[m]), "</a>\n");
    absl::StrAppend(&html, "<h2 id=\"metric", m, "\">", EscapeXml(metrics[m]),
                    "</h2>\n<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">method</th>");
    for (const std::string& column : columns[metrics[m]]) {
      absl::StrAppend(&html, "<th scope=\"col\">", BreakableXml(column), "</th>");
    }
    html += "</tr></thead>\n<tbody>\n";
    std::sort(rows[metrics[m]].begin(), rows[metrics[m]].end());
    for (const std::string& row : rows[metrics[m]]) {
      absl::StrAppend(&html, "<tr><th scope=\"row\">", BreakableXml(row), "</th>");
      for (const std::string& column : columns[metrics[m]]) {
        const auto found = cells.find({metrics[m], row, column});
        if (found == cells.end()) {
          html += "<td></td>";
          continue;
        }
        const ReportCell& cell = report.cells[found->second];
        const std::map<Rerun, int>& counts = reruns.at(RowOf(cell));
        const std::string text = EscapeXml(CellText(cell, Spread::kInterval));
        const bool is_imported = imported.count(RowOf(cell)) > 0;
        absl::StrAppend(&html, "<td class=\"", is_imported ? "once" : ClassOf(counts), "\">",
                        marks[found->second] == Emphasis::kBest ? absl::StrCat("<b>", text, "</b>") : text, "<small>",
                        EscapeXml(RunsText(cell, counts, is_imported)), "</small></td>");
      }
      html += "</tr>\n";
    }
    html += "</tbody></table></div>\n";
  }
  return absl::StrCat(navigation, "<a href=\"#who\">Who ran what</a>\n<a href=\"#sources\">Sources</a>\n",
                      "<a href=\"#records\">Records</a></nav>\n", html);
}

// Each execution of a stage counts once, although trials share it.
std::string WhoHtml(const std::vector<BoardRecord>& records) {
  struct Work {
    std::map<StageProvenance::Stage, int> stages;
    double cpu_seconds = 0;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Work> work;
  std::set<std::tuple<std::string, std::string, double>> executions;
  for (const BoardRecord& record : records) {
    for (const StageProvenance& stage : record.record.provenance().stage()) {
      if (!executions.insert({stage.key(), stage.host(), stage.started_at_seconds()}).second) continue;
      Work& of = work[{UserOf(stage), MachineText(stage), ProgramOf(stage)}];
      ++of.stages[stage.stage()];
      of.cpu_seconds += stage.cpu_seconds();
    }
  }
  std::vector<std::vector<HtmlCell>> rows;
  for (const auto& [who, of] : work) {
    const auto count = [&](StageProvenance::Stage stage) -> HtmlCell {
      const auto found = of.stages.find(stage);
      return {found == of.stages.end() ? "" : absl::StrCat(found->second)};
    };
    rows.push_back({{std::get<0>(who)},
                    {std::get<1>(who)},
                    {std::get<2>(who)},
                    count(StageProvenance::TRAIN),
                    count(StageProvenance::INFER),
                    count(StageProvenance::FIT),
                    count(StageProvenance::EVALUATE),
                    {absl::StrFormat("%.3g", of.cpu_seconds / 3600)}});
  }
  return absl::StrCat(
      "<h2 id=\"who\">Who ran what</h2>\n",
      HtmlTable({"who", "processor or GPU", "commit", "train", "infer", "fit", "evaluate", "CPU hours"}, rows, 3));
}

std::string SourcesHtml(absl::Span<const BoardSource> sources) {
  std::vector<std::vector<HtmlCell>> rows;
  for (const BoardSource& source : sources) {
    rows.push_back(
        {{source.name}, {source.digest.empty() ? "(a store)" : source.digest}, {absl::StrCat(source.records)}});
  }
  return absl::StrCat("<h2 id=\"sources\">Sources</h2>\n",
                      HtmlTable({"source", "SHA-256 of the content", "records"}, rows, 2));
}

}  // namespace

Rerun RerunOf(absl::Span<const TrialRecord* const> records, absl::Span<const TrialRecord> stored) {
  bool is_rerun = false, by_others = false, same_bits = true;
  for (const TrialRecord* other : records.subspan(1)) {
    const TrialRecord& first = *records[0];
    if (!SameNumbers(first, *other)) {
      const Reproduced verdict = VerdictOnAll(CompareAgain(first, *other, stored));
      if (verdict != Reproduced::kSameBits && verdict != Reproduced::kWithinSpread) return Rerun::kOtherNumbers;
      same_bits = same_bits && verdict == Reproduced::kSameBits;
    }
    if (ShareAnExecution(first, *other)) continue;
    is_rerun = true;
    by_others = by_others || !ShareAUser(first, *other);
  }
  if (!is_rerun) return Rerun::kOnce;
  if (by_others) return same_bits ? Rerun::kByOthers : Rerun::kByOthersWithinSpread;
  return same_bits ? Rerun::kAgain : Rerun::kAgainWithinSpread;
}

absl::StatusOr<Board> MakeBoard(std::vector<BoardSource> sources, std::vector<BoardRecord> records) {
  std::sort(sources.begin(), sources.end(), [](const BoardSource& a, const BoardSource& b) {
    return std::tie(a.name, a.digest, a.records) < std::tie(b.name, b.digest, b.records);
  });
  std::sort(records.begin(), records.end(),
            [](const BoardRecord& a, const BoardRecord& b) { return a.sha256 < b.sha256; });
  const std::map<std::string, std::vector<const BoardRecord*>> trials = ByTrial(records);
  std::vector<TrialRecord> first;  // of each trial
  std::map<BoardRow, std::vector<TrialRecord>> of_rows;
  for (const auto& [id, of_trial] : trials) {
    first.push_back(of_trial[0]->record);
    of_rows[RowOf(first.back().trial())].push_back(first.back());
  }
  std::map<std::string, Rerun> reruns;  // by trial
  std::map<Rerun, int> total;
  for (const auto& [id, of_trial] : trials) {
    std::vector<const TrialRecord*> same;
    for (const BoardRecord* record : of_trial) same.push_back(&record->record);
    reruns[id] = RerunOf(same, of_rows.at(RowOf(same[0]->trial())));
    ++total[reruns[id]];
  }
  const RecordResults made = ResultsOf(std::move(first));
  const Report report = MakeReport("", made.results);
  std::map<BoardRow, std::map<Rerun, int>> of_cells;
  std::set<BoardRow> imported;
  std::set<std::string> methods, tasks, studies;
  for (const TrialResult& result : made.results) {
    ++of_cells[RowOf(*result.trial)][reruns.at(result.record->trial_id())];
    if (IsImported(*result.trial)) imported.insert(RowOf(*result.trial));
    methods.insert(
        RowName(result.record->trial()));  // without the study, which is part of a row's name if there are several
    studies.insert(result.trial->experiment());
    tasks.insert(result.trial->task());
  }

  Table list{{"trial", "sha256", "method", "axis", "task", "split", "seed", "study", "by", "machine", "commit", "rerun",
              "outputs", "source"},
             {},
             5};
  std::vector<std::vector<HtmlCell>> listed;
  for (const auto& [id, of_trial] : trials) {
    for (const BoardRecord* record : of_trial) {
      const TrialSpec& trial = record->record.trial();
      const std::vector<AxisValue> axis(trial.axis().begin(), trial.axis().end());
      list.rows.push_back({id, record->sha256, trial.method().name(), AxisText(axis), trial.task(),
                           absl::StrCat(trial.split()), absl::StrCat(trial.seed()), trial.experiment(),
                           ValuesOf(record->record, &UserOf), ValuesOf(record->record, &MachineText),
                           ValuesOf(record->record, &ProgramOf), RerunText(reruns.at(id)),
                           IsImported(trial) ? "imported" : "", absl::StrJoin(record->sources, "; ")});
      if (listed.size() == kMostListed) continue;
      const std::vector<std::string>& row = list.rows.back();
      listed.push_back({{id.substr(0, kDigits)},
                        {RowName(trial)},
                        {trial.task()},
                        {row[8]},
                        {row[9]},
                        {row[12].empty() ? row[11] : absl::StrCat(row[11], "; imported outputs")},
                        {row[13]},
                        {row[5]},
                        {row[6]},
                        {record->sha256.substr(0, kDigits)}});
    }
  }

  Board board;
  board.csv = ToCsv(list);
  ChartPage page;
  const auto count = [](size_t n, const char* what) { return absl::StrCat(n, " ", what, n == 1 ? "" : "s"); };
  page.title = absl::StrCat("Board: ", count(methods.size(), "method"),
                            studies.size() > 1 ? absl::StrCat(" in ", studies.size(), " studies") : "", " on ",
                            count(tasks.size(), "task"));
  page.body = absl::StrCat(
      "<p class=\"state\">", count(trials.size(), "trial"), ", ", count(records.size(), "record"), ": ",
      absl::StrJoin(
          total, ", ",
          [](std::string* out, const auto& rerun) { absl::StrAppend(out, rerun.second, " ", RerunText(rerun.first)); }),
      ".</p>\n<p>Mean over splits and seeds ± half of its 95 % interval (Student's t over splits, or over seeds with "
      "one "
      "split). A number without ± is of one run, with the interval over its test samples in brackets if that was "
      "measured, or of runs with equal numbers. Bold: the best mean of its column among methods with "
      "all "
      "runs, by the mean alone, without a test: <code>openset compare</code> tests. Methods are in alphabetical "
      "order.</p>\n<p>A trial was <b>rerun</b> if two of its records share no execution of a training, an inference or "
      "an evaluation, and their numbers have the <b>same bits</b> or lie <b>within the spread</b> of the method's "
      "other "
      "seeds and splits; <b>by others</b> if they have no user and host in common. <b>Not rerun</b>: nobody has shown "
      "the number a second time. <b>Other "
      "numbers</b>: records of a trial disagree, or are too few to judge. Records say themselves who made them and "
      "when; a digest shows that a record is unchanged, not that it was measured. Imported outputs were computed "
      "elsewhere: a rerun repeats only their evaluation, and their cells look as if they were not rerun.</p>\n",
      NumbersHtml(report, of_cells, imported));
  for (const std::string& note : made.notes) {
    absl::StrAppend(&page.body, "<p class=\"state\">", EscapeXml(note), "</p>\n");
  }
  absl::StrAppend(
      &page.body, WhoHtml(records), SourcesHtml(sources), "<h2 id=\"records\">Records</h2>\n<p><a href=\"", kBoardList,
      "\">", kBoardList, "</a> has all digits of ", count(records.size(), "record"), "; its own SHA-256 is ",
      Sha256Hex(board.csv), ".</p>\n<details><summary>", count(listed.size(), "record"),
      listed.size() < records.size() ? " (the first ones)" : "", "</summary>\n",
      HtmlTable({"trial", "method", "task", "who", "processor or GPU", "rerun", "source", "split", "seed", "SHA-256"},
                listed, 7),
      "</details>\n");
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  OPENSET_ASSIGN_OR_RETURN(page.style, ReadFile(JoinPath(runfiles, "openset/experiments/report/report_page.css")));
  page.style += kStyle;
  OPENSET_ASSIGN_OR_RETURN(board.page, ToHtml(page));
  return board;
}

namespace {

// Collects the records of sources, each once.
class Collector {
 public:
  absl::Status Read(const Store& store) {
    OPENSET_RETURN_IF_ERROR(store.CheckIsStore());
    BoardSource& of = sources_.emplace_back();
    of.name = (std::filesystem::path(store.folder()) / "").parent_path().filename().string();
    if (store.bundle() != nullptr) of.digest = store.bundle()->digest;
    UnreadRecords unread;
    for (const std::string& id : RecordIds(store, &unread)) {
      std::vector<std::string> files = {store.RecordPath(id)};
      const absl::StatusOr<std::vector<std::string>> replicas = ReplicaPaths(store, id);
      unread.Add(replicas.status());
      if (replicas.ok()) files.insert(files.end(), replicas->begin(), replicas->end());
      for (const std::string& file : files) {
        const absl::StatusOr<std::string> bytes = store.ReadBytes(file);
        TrialRecord record;
        const absl::Status read = bytes.ok() ? DecodeSharedRecord(*bytes, id, &record) : bytes.status();
        if (read.ok()) {
          Add(record, *bytes);
        } else if (IsReadFailure(read)) {
          unread.Add(read);
        } else {
          damaged_.push_back(absl::StrCat(file, ": ", read.message()));
        }
      }
    }
    OPENSET_RETURN_IF_ERROR(unread.ReadFailure());
    damaged_.insert(damaged_.end(), unread.damaged.begin(), unread.damaged.end());
    return absl::OkStatus();
  }

  const std::vector<BoardSource>& sources() const { return sources_; }
  const std::vector<std::string>& damaged() const { return damaged_; }
  std::vector<BoardRecord> Take() { return std::move(records_); }

 private:
  void Add(const TrialRecord& record, const std::string& bytes) {
    ++sources_.back().records;
    const std::string sha256 = Sha256Hex(bytes);
    const auto [place, is_new] = places_.emplace(sha256, records_.size());
    if (is_new) {
      records_.push_back({sha256, record});
      records_.back().record.clear_epoch();
      records_.back().record.clear_details();
    }
    records_[place->second].sources.insert(SourceText(sources_.back()));
  }

  std::vector<BoardSource> sources_;
  std::vector<BoardRecord> records_;
  std::vector<std::string> damaged_;
  std::map<std::string, size_t> places_;  // in records_, by digest
};

}  // namespace

absl::Status WriteBoard(const std::string& out, const std::vector<std::string>& sources, const RunConfig& config) {
  const std::string folder = UserPath(out);
  if (IsBundle(out) || FileExists(JoinPath(folder, "records"))) {
    return absl::InvalidArgumentError(
        absl::StrCat(out, ": is a ", IsBundle(out) ? "bundle" : "store",
                     "; first name the folder to write: openset records board OUT [STORE|BUNDLE ...]"));
  }
  Collector collector;
  for (const std::string& source : sources) {
    OPENSET_ASSIGN_OR_RETURN(const Store store, StoreNamed(source));
    OPENSET_RETURN_IF_ERROR(collector.Read(store));
  }
  if (sources.empty()) {
    OPENSET_ASSIGN_OR_RETURN(const Store store, ExistingStore(config));
    OPENSET_RETURN_IF_ERROR(collector.Read(store));
  }
  std::vector<BoardRecord> records = collector.Take();
  if (records.empty()) return absl::NotFoundError("there are no records for a board");
  const size_t count = records.size();
  OPENSET_ASSIGN_OR_RETURN(const Board board, MakeBoard(collector.sources(), std::move(records)));
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, kBoardList), board.csv));
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, kBoardPage), board.page));
  std::cout << JoinPath(out, kBoardPage) << ": " << count << (count == 1 ? " record\n" : " records\n");
  if (collector.damaged().empty()) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(collector.damaged().size(),
                                         collector.damaged().size() == 1 ? " corrupt record" : " corrupt records",
                                         " left out:\n", absl::StrJoin(collector.damaged(), "\n")));
}

}  // namespace openset
