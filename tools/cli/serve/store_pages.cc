#include "tools/cli/serve/store_pages.h"

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/in_parallel.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"
#include "core/text/one_line.h"
#include "data/selection.h"
#include "data/sets/data_set.h"
#include "data/task.pb.h"
#include "experiments/report/html_report.h"
#include "experiments/report/report.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/collect_garbage.h"
#include "experiments/store/details.pb.h"
#include "experiments/store/merge.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/store_contents.h"
#include "experiments/study/study.h"
#include "tools/cli/records/brief_record.h"
#include "tools/cli/run/run_display.h"
#include "tools/cli/run/status_json.h"

namespace openset {

std::string HtmlLines(const std::string& text) { return absl::StrCat("<pre>", EscapeXml(text), "</pre>\n"); }
std::string HtmlHead(const std::string& text) { return absl::StrCat("<h2>", EscapeXml(text), "</h2>\n"); }

std::string NavigationHtml(const std::vector<HtmlCell>& links) {
  std::string html = "<nav>";
  for (const HtmlCell& link : links) absl::StrAppend(&html, CellHtml(link), "\n");
  return absl::StrCat(html, "</nav>\n");
}

std::string LiveHtml(const std::string& study_id) {
  return absl::StrCat("<div id=\"news\" role=\"status\"></div>\n<div id=\"runs\"",
                      study_id.empty() ? "" : absl::StrCat(" data-study=\"", EscapeXml(study_id), "\""), "></div>\n");
}

absl::StatusOr<HttpAnswer> AnswerOf(ChartPage page, const nlohmann::ordered_json* live) {
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  const auto read = [&](const char* name) { return ReadFile(JoinPath(runfiles, absl::StrCat("openset/", name))); };
  if (page.style.empty()) {  // otherwise it is a report's
    OPENSET_ASSIGN_OR_RETURN(page.style, read("experiments/report/report_page.css"));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string style, read("tools/cli/serve/serve_page.css"));
  page.style += style;
  if (live != nullptr) {
    OPENSET_ASSIGN_OR_RETURN(const std::string script, read("tools/cli/serve/serve_page.js"));
    page.script += script;
    page.data["live"] = *live;
  }
  page.is_served = true;
  OPENSET_ASSIGN_OR_RETURN(HtmlPage made, ToHtmlPage(page));
  HttpAnswer answer;
  answer.type = "text/html; charset=utf-8";
  answer.body = std::move(made.html);
  answer.policy = std::move(made.policy);
  return answer;
}

nlohmann::ordered_json LiveJson(int64_t records, const std::vector<RunState>& runs, double now) {
  using Json = nlohmann::ordered_json;
  Json live;
  live["records"] = records;
  live["runs"] = Json::array();
  for (const RunState& run : runs) {
    if (run.experiment().empty()) continue;  // it has only begun
    Json json;
    json["id"] = StudyId(run.experiment());
    json["study"] = OneLine(StudyText(run));
    json["by"] = OneLine(RunnerText(run));
    json["line"] = OneLine(TotalLine(run));
    json["fraction"] = run.fraction();
    const double silent = now - run.updated_at_seconds();
    json["silent"] = silent > run.lease_seconds() ? Json(silent) : Json(nullptr);
    json["actions"] = Json::array();
    for (const RunningAction& action : run.running()) {
      json["actions"].push_back({{"line", OneLine(ActionLine(action))}, {"fraction", action.progress().fraction()}});
    }
    live["runs"].push_back(std::move(json));
  }
  return live;
}

namespace {

constexpr size_t kMostFailures = 200;
constexpr int kMostMetrics = 6;  // columns of a list of records
constexpr size_t kMostText = 400'000;

std::string TimeText(double seconds) {
  if (!(seconds > 0)) return "-";
  return absl::FormatTime("%Y-%m-%d %H:%M", absl::UnixEpoch() + absl::Seconds(seconds), absl::LocalTimeZone());
}

absl::StatusOr<nlohmann::ordered_json> Live(const Store& store, absl::Time now) {
  UnreadRecords unread;
  const auto records = static_cast<int64_t>(RecordIds(store, &unread).size());
  OPENSET_RETURN_IF_ERROR(unread.ReadFailure());
  return LiveJson(records, RunsOf(store), absl::ToDoubleSeconds(now - absl::UnixEpoch()));
}

std::string StudyPath(const std::string& id) { return absl::StrCat("/study/", id); }
std::string NameOrNone(const std::string& name) { return name.empty() ? "(no name)" : name; }
const HtmlCell kToOverview = {"all studies", "/"};

// The records of these trials; adds a line to `problems` for each one that can't be read.
std::vector<TrialRecord> Load(const Store& store, const std::vector<std::string>& ids,
                              std::vector<std::string>* problems) {
  std::vector<absl::StatusOr<TrialRecord>> loaded(ids.size());
  InParallel(static_cast<int64_t>(ids.size()), [&](int64_t i) { loaded[i] = LoadFirstRecord(store, ids[i]); });
  std::vector<TrialRecord> records;
  for (absl::StatusOr<TrialRecord>& record : loaded) {
    if (record.ok()) {
      records.push_back(*std::move(record));
    } else {
      problems->push_back(std::string(record.status().message()));
    }
  }
  return records;
}

HttpAnswer FailedAnswer(const absl::Status& status) {
  return TextAnswer(absl::IsNotFound(status) ? 404 : 500, std::string(status.message()));
}

// The pool's value of a metric: "0.8312", "-" if it is undefined or missing.
std::string ValueOf(const TrialRecord& record, const std::string& name) {
  for (const MetricRecord& metric : record.metric()) {
    if (metric.name() != name || metric.group().kind() != MetricGroup::POOL || !metric.has_value()) continue;
    return absl::StrFormat("%.4f", metric.value());
  }
  return "-";
}

}  // namespace

HttpAnswer StorePages::Answer(const Route& route, absl::Time now) {
  // The store may have been removed, unmounted or closed since the start.
  const absl::Status is_store = store_.CheckIsStore();
  absl::StatusOr<HttpAnswer> answer = is_store.ok() ? Make(route, now) : is_store;
  return answer.ok() ? *std::move(answer) : FailedAnswer(answer.status());
}

absl::StatusOr<HttpAnswer> StorePages::Make(const Route& route, absl::Time now) {
  // It may have been there when the program started.
  if (route.kind != Route::kIcon && route.kind != Route::kNone) OPENSET_RETURN_IF_ERROR(store_.CheckIsStore());
  switch (route.kind) {
    case Route::kOverview:
      return Overview(now);
    case Route::kStudy:
      return StudyPage(route.id, now);
    case Route::kRecords:
      return RecordsPage(route.id, route.page);
    case Route::kRecord:
      return RecordPage(route.id, now);
    case Route::kFailures:
      return Failures();
    case Route::kLive: {
      OPENSET_ASSIGN_OR_RETURN(const nlohmann::ordered_json live, Live(store_, now));
      HttpAnswer answer;
      answer.type = "application/json";
      answer.body = JsonText(live);
      return answer;
    }
    case Route::kStatus:
    case Route::kMetrics: {
      UnreadRecords unread;
      std::map<std::string, int64_t> by_user;
      const std::vector<StudyUsage> studies = UsageByStudy(store_, &unread, &by_user);
      const auto kinds = UsageByKind(store_, &unread);
      OPENSET_RETURN_IF_ERROR(unread.ReadFailure());
      HttpAnswer answer;
      const bool is_status = route.kind == Route::kStatus;
      answer.type = is_status ? "application/json" : "text/plain; version=0.0.4";
      answer.body = is_status ? StoreStatusJson(store_.folder(), studies, by_user, kinds, RunsOf(store_))
                              : PrometheusText(studies, by_user, kinds, RunsOf(store_));
      return answer;
    }
    case Route::kHealth:
      return TextAnswer(200, "ok");
    case Route::kIcon: {
      HttpAnswer answer = TextAnswer(204, "");
      answer.body.clear();
      return answer;
    }
    case Route::kNone:
      break;
  }
  return absl::NotFoundError("no such page");
}

absl::StatusOr<HttpAnswer> StorePages::Overview(absl::Time now) const {
  UnreadRecords unread;
  std::map<std::string, int64_t> by_user;
  const std::vector<StudyUsage> studies = UsageByStudy(store_, &unread, &by_user);
  ChartPage page;
  page.title = absl::StrCat("openset: ", store_.folder());
  page.body = absl::StrCat(NavigationHtml({{"failures", "/failures"}}), HtmlHead("Running"), LiveHtml());
  std::vector<std::vector<HtmlCell>> rows;
  for (const StudyUsage& study : studies) {
    rows.push_back({{NameOrNone(study.name), StudyPath(StudyId(study.name))},
                    {study.users.empty() ? "-" : absl::StrJoin(study.users, ", ")},
                    {absl::StrCat(study.records)},
                    {TimeText(study.last_seconds)},
                    {BytesText(study.bytes)}});
  }
  absl::StrAppend(&page.body, HtmlHead("Studies"),
                  rows.empty() && unread.unreadable.empty() ? "<p class=\"state\">The store has no record yet.</p>\n"
                  : rows.empty()                            ? ""
                                 : HtmlTable({"study", "by", "records", "last record", "disk"}, rows, 2));
  rows.clear();
  for (const auto& [kind, bytes] : UsageByKind(store_, &unread)) rows.push_back({{kind}, {BytesText(bytes)}});
  if (!rows.empty()) absl::StrAppend(&page.body, HtmlHead("Disk"), HtmlTable({"folder", "size"}, rows, 1));
  rows.clear();
  for (const auto& [user, bytes] : by_user) rows.push_back({{user}, {BytesText(bytes)}});
  if (!rows.empty()) absl::StrAppend(&page.body, HtmlHead("Disk by user"), HtmlTable({"user", "size"}, rows, 1));
  std::vector<std::string> problems = unread.VersionLines();
  problems.insert(problems.end(), unread.damaged.begin(), unread.damaged.end());
  const absl::StatusOr<std::vector<std::string>> quarantined = store_.Quarantined();
  unread.Add(quarantined.status());
  if (quarantined.ok()) problems.insert(problems.end(), quarantined->begin(), quarantined->end());
  if (!problems.empty()) {
    absl::StrAppend(&page.body, HtmlHead("Corrupt, or of another version"), HtmlLines(absl::StrJoin(problems, "\n")));
  }
  if (!unread.unreadable.empty()) {
    absl::StrAppend(&page.body, HtmlHead("Not readable now"), HtmlLines(UnreadableText(unread.unreadable)));
  }
  const absl::StatusOr<nlohmann::ordered_json> live = Live(store_, now);
  return AnswerOf(std::move(page), live.ok() ? &*live : nullptr);
}

absl::StatusOr<StorePages::Found> StorePages::Find(const std::string& id) {
  const std::lock_guard<std::mutex> lock(names_mutex_);
  UnreadRecords unread;
  const std::vector<std::string> ids = RecordIds(store_, &unread);
  std::vector<std::string> unknown;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(unknown),
               [this](const std::string& trial) { return names_.count(trial) == 0; });
  constexpr int kWithout[] = {TrialRecord::kMetricFieldNumber, TrialRecord::kEpochFieldNumber,
                              TrialRecord::kDetailsFieldNumber};
  std::vector<std::string> names(unknown.size());
  std::vector<char> is_read(unknown.size());
  ForEachRecord(
      store_, unknown, kWithout,
      [&](int64_t i, const TrialRecord* record) {
        names[i] = record->trial().experiment();
        is_read[i] = true;
      },
      &unread);
  for (size_t i = 0; i < unknown.size(); ++i) {
    if (is_read[i]) names_[unknown[i]] = names[i];
  }
  Found found;
  found.unreadable = unread.unreadable;  // they may belong to it
  for (const std::string& trial : ids) {
    const auto name = names_.find(trial);
    if (name == names_.end() || StudyId(name->second) != id) continue;
    found.name = name->second;
    found.records.push_back(trial);
  }
  if (!found.records.empty()) return found;
  for (const RunState& run : RunsOf(store_)) {
    if (StudyId(run.experiment()) == id) return Found{run.experiment(), {}, unread.unreadable};
  }
  OPENSET_RETURN_IF_ERROR(unread.ReadFailure());
  return absl::NotFoundError("the store has no record of this study");
}

std::string StorePages::Sheet(const TrialRecord& record, ExampleContext* context) {
  if (MistakesOf(record).empty()) return "";
  // If the data has changed since the measurement, the rows would show other images.
  Catalog catalog = catalog_;
  for (const Selection* selection : TestSelections(record.trial().data())) {
    std::set<std::string> parts;
    for (const PartOfDataSet& part : PartsOf(*selection)) parts.insert(part.part());
    if (!AddContentDigests(selection->data_set(), parts, data_folders_, &catalog).ok()) return "";
    if (!CountSamples(*selection, catalog).ok()) return "";
  }
  absl::StatusOr<std::vector<std::string>> samples =
      MistakenSamples(record.trial(), record, catalog, data_folders_, &open_parts_);
  if (samples.ok()) context->samples[record.trial_id()] = *std::move(samples);
  return MistakeSheet(record.trial(), record, catalog, data_folders_, &open_parts_).value_or("");
}

absl::StatusOr<ChartPage> StorePages::PageOf(const std::string& name, std::vector<TrialRecord> records,
                                             const std::vector<std::string>& problems) {
  const std::lock_guard<std::mutex> lock(report_mutex_);
  OPENSET_ASSIGN_OR_RETURN(const KeptSpec kept, LoadKeptSpec(store_, name));
  const RecordResults made = ResultsOf(std::move(records), kept.spec.method());
  Report report = MakeReport(name, made.results);
  if (kept.spec.method_size() > 0) AddSignificance(kept.spec.report().baseline(), &report);
  report.note_lines.insert(report.note_lines.end(), made.notes.begin(), made.notes.end());
  report.note_lines.insert(report.note_lines.end(), problems.begin(), problems.end());
  ReportContext context;
  context.question = kept.spec.question();
  context.spec = kept.text;
  const std::vector<ExampleTrial> examples = ExamplesOf(made.results);
  context.examples.class_names = ClassNamesOf(examples, catalog_);
  AddSheets(
      examples, [&](const ExampleTrial& example) { return Sheet(*example.record, &context.examples); },
      &context.examples);
  return ReportPage(report, made.results, context);
}

absl::StatusOr<HttpAnswer> StorePages::StudyPage(const std::string& id, absl::Time now) {
  OPENSET_ASSIGN_OR_RETURN(const Found found, Find(id));
  const absl::StatusOr<nlohmann::ordered_json> live = Live(store_, now);
  std::vector<std::string> problems = found.unreadable;
  std::vector<TrialRecord> records = Load(store_, found.records, &problems);
  const bool is_empty = records.empty();
  ChartPage page;
  if (!is_empty) {
    OPENSET_ASSIGN_OR_RETURN(page, PageOf(NameOrNone(found.name), std::move(records), problems));
  }
  page.title = NameOrNone(found.name);
  page.body =
      absl::StrCat(NavigationHtml({kToOverview, {"records", absl::StrCat(StudyPath(id), "/records")}}), LiveHtml(id),
                   page.body, is_empty ? "<p class=\"state\">There is no record of it yet.</p>\n" : "",
                   is_empty && !problems.empty() ? HtmlLines(absl::StrJoin(problems, "\n")) : "");
  return AnswerOf(std::move(page), live.ok() ? &*live : nullptr);
}

absl::StatusOr<HttpAnswer> StorePages::RecordsPage(const std::string& id, int number) {
  OPENSET_ASSIGN_OR_RETURN(const Found found, Find(id));
  const int pages = std::max(1, (static_cast<int>(found.records.size()) + kRecordsOfPage - 1) / kRecordsOfPage);
  if (number > pages) return absl::NotFoundError(absl::StrCat("there are ", pages, " pages"));
  const auto begin = found.records.begin() + (number - 1) * kRecordsOfPage;
  const auto end = std::min(begin + kRecordsOfPage, found.records.end());
  std::vector<std::string> problems = found.unreadable;
  const std::vector<TrialRecord> records = Load(store_, {begin, end}, &problems);
  std::vector<std::string> metrics;
  for (const TrialRecord& record : records) {
    for (const MetricRecord& metric : record.metric()) {
      if (metric.group().kind() != MetricGroup::POOL || metrics.size() == kMostMetrics) continue;
      if (!absl::c_linear_search(metrics, metric.name())) metrics.push_back(metric.name());
    }
  }
  std::vector<std::string> heads = {"method", "trial", "task", "changed", "split", "seed"};
  heads.insert(heads.end(), metrics.begin(), metrics.end());
  std::vector<std::pair<std::string, std::vector<HtmlCell>>> rows;  // by their sort key
  for (const TrialRecord& record : records) {
    const TrialSpec& trial = record.trial();
    std::vector<HtmlCell> row = {{RowName(trial)},
                                 {record.trial_id().substr(0, 12), absl::StrCat("/record/", record.trial_id())},
                                 {trial.task()},
                                 {absl::StrJoin(trial.overrides(), " ")},
                                 {absl::StrCat(trial.split())},
                                 {absl::StrCat(trial.seed())}};
    for (const std::string& metric : metrics) row.push_back({ValueOf(record, metric)});
    rows.emplace_back(absl::StrCat(trial.task(), "\n", RowName(trial), "\n",
                                   absl::StrFormat("%08d %020d", trial.split(), trial.seed())),
                      std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::vector<HtmlCell>> sorted;
  for (auto& [by, row] : rows) sorted.push_back(std::move(row));
  std::vector<HtmlCell> links = {kToOverview, {"report", StudyPath(id)}};
  for (int p = 1; pages > 1 && p <= pages; ++p) {
    links.push_back({absl::StrCat("page ", p), p == number ? "" : absl::StrCat(StudyPath(id), "/records/", p)});
  }
  ChartPage page;
  page.title = absl::StrCat(NameOrNone(found.name), ": ", found.records.size(), " records");
  page.body = absl::StrCat(NavigationHtml(links), HtmlTable(heads, sorted, 4),
                           problems.empty() ? "" : HtmlLines(absl::StrJoin(problems, "\n")));
  return AnswerOf(std::move(page), /*live=*/nullptr);
}

absl::StatusOr<HttpAnswer> StorePages::RecordPage(const std::string& id, absl::Time now) {
  OPENSET_ASSIGN_OR_RETURN(const bool is_there, store_.HasRecord(id));
  if (!is_there) return absl::NotFoundError("the store has no such record");
  OPENSET_ASSIGN_OR_RETURN(const std::vector<TrialRecord> records, LoadReplicas(store_, id));
  TrialRecord record = records[0];
  const TrialSpec& trial = record.trial();
  const std::string study = StudyPath(StudyId(trial.experiment()));
  std::string head = absl::StrCat(
      NavigationHtml({kToOverview, {NameOrNone(trial.experiment()), study}, {"records", study + "/records"}}),
      HtmlLines(BriefText(record, now)));
  if (const std::vector<std::string> lines = DifferenceLines(records); !lines.empty()) {
    absl::StrAppend(&head, HtmlHead("Other records of this trial differ"), HtmlLines(absl::StrJoin(lines, "\n")));
  }
  OPENSET_ASSIGN_OR_RETURN(ChartPage page, PageOf(NameOrNone(trial.experiment()), {record}, {}));
  page.title = absl::StrCat(RowName(trial), " on ", trial.task(), ", split ", trial.split(), ", seed ", trial.seed());
  record.clear_details();
  std::string text = ToText(record);
  if (text.size() > kMostText) {
    text = absl::StrCat(text.substr(0, kMostText), "\n... ('openset records show' has the rest)");
  }
  page.body = absl::StrCat(head, page.body, HtmlHead("The record, without curves and counts"), "<details><summary>", id,
                           "</summary>", HtmlLines(text), "</details>\n");
  return AnswerOf(std::move(page), /*live=*/nullptr);
}

absl::StatusOr<HttpAnswer> StorePages::Failures() const {
  std::vector<FailureRecord> failures;
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> keys, store_.KeysOfFailures());
  for (const std::string& key : keys) {
    bool is_done = false;
    for (const absl::StatusOr<bool>& has : {store_.HasRecord(key), store_.HasCheckpoint(key), store_.HasOutputs(key)}) {
      OPENSET_RETURN_IF_ERROR(has.status());
      is_done |= *has;
    }
    if (is_done) continue;  // since
    absl::StatusOr<FailureRecord> failure = store_.LoadFailure(key);
    if (IsReadFailure(failure.status())) return failure.status();
    if (failure.ok()) failures.push_back(*std::move(failure));
  }
  std::sort(failures.begin(), failures.end(), [](const FailureRecord& a, const FailureRecord& b) {
    return a.failed_at_seconds() > b.failed_at_seconds();
  });
  ChartPage page;
  page.title =
      absl::StrCat(failures.size(), failures.size() == 1 ? " action" : " actions", " failed at the last attempt");
  page.body = NavigationHtml({kToOverview});
  if (failures.size() > kMostFailures) {
    absl::StrAppend(&page.body, "<p class=\"state\">The last ", kMostFailures, " are shown.</p>\n");
    failures.resize(kMostFailures);
  }
  for (const FailureRecord& failure : failures) {
    absl::StrAppend(
        &page.body, HtmlHead(absl::StrCat(failure.kind(), " ", failure.description())), "<p class=\"state\">",
        EscapeXml(absl::StrCat(TimeText(static_cast<double>(failure.failed_at_seconds())), ", on ", failure.host())),
        "</p>\n",
        HtmlLines(absl::StrCat(failure.message(), failure.log_tail().empty() ? "" : "\n\n", failure.log_tail())));
  }
  return AnswerOf(std::move(page), /*live=*/nullptr);
}

}  // namespace openset
