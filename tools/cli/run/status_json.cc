#include "tools/cli/run/status_json.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/text/json_text.h"
#include "experiments/plan/plan.h"
#include "nlohmann/json.hpp"
#include "tools/cli/run/run_display.h"

namespace openset {
namespace {

using Json = nlohmann::ordered_json;

const char* NameOf(FailureKind kind) {
  switch (kind) {
    case FailureKind::kMachine:
      return "machine";
    case FailureKind::kInput:
      return "input";
    case FailureKind::kMethod:
      return "method";
  }
  return "";
}

Json RunningJson(const std::vector<RunState>& runs) {
  Json running = Json::array();
  for (const RunState& run : runs) {
    Json json;
    json["study"] = run.experiment();
    json["overrides"] = std::vector<std::string>(run.overrides().begin(), run.overrides().end());
    json["by"] = RunnerText(run);
    json["user"] = run.user_name();
    json["slurm_job"] = run.slurm_job();
    json["started"] = run.started_at_seconds();
    json["updated"] = run.updated_at_seconds();
    json["actions"] = run.actions();
    json["ended"] = run.ended();
    json["failed"] = run.failed();
    json["fraction"] = run.fraction();
    json["seconds_left"] = run.has_seconds_left() ? Json(run.seconds_left()) : Json(nullptr);
    json["working_on"] = Json::array();
    for (const RunningAction& action : run.running()) json["working_on"].push_back(ActionLine(action));
    running.push_back(std::move(json));
  }
  return running;
}

}  // namespace

std::string StudyStatusJson(const Study& study, const std::vector<RunState>& runs,
                            const std::vector<StudyFailure>& failures) {
  const Plan& plan = study.plan();
  const int left = plan.CountNeeded(ActionKind::kEvaluate);
  Json json;
  json["study"] = study.name();
  json["overrides"] = study.experiment().overrides;
  json["trials"] = plan.trials.size();
  json["done"] = static_cast<int>(plan.trials.size()) - left;
  json["left"] = left;
  json["waiting"] = study.waiting();
  json["running"] = RunningJson(runs);
  json["failed"] = Json::array();
  for (const StudyFailure& failure : failures) {
    json["failed"].push_back({{"what", failure.what}, {"kind", NameOf(failure.kind)}, {"log", failure.log_tail}});
  }
  json["damaged"] = study.Damaged();
  json["unreadable"] = study.Unreadable();
  return JsonText(json, 2) + "\n";
}

std::string StoreStatusJson(const std::string& store, const std::vector<StudyUsage>& studies,
                            const std::map<std::string, int64_t>& by_user,
                            const std::vector<std::pair<std::string, int64_t>>& kinds,
                            const std::vector<RunState>& runs) {
  Json json;
  json["store"] = store;
  json["studies"] = Json::array();
  for (const StudyUsage& study : studies) {
    json["studies"].push_back({{"study", study.name},
                               {"records", study.records},
                               {"users", std::vector<std::string>(study.users.begin(), study.users.end())},
                               {"last", study.last_seconds > 0 ? Json(study.last_seconds) : Json(nullptr)},
                               {"bytes", study.bytes}});
  }
  json["users"] = Json::object();  // bytes
  for (const auto& [user, bytes] : by_user) json["users"][user] = bytes;
  json["bytes"] = Json::object();
  for (const auto& [kind, bytes] : kinds) json["bytes"][kind] = bytes;
  json["running"] = RunningJson(runs);
  return JsonText(json, 2) + "\n";
}

namespace {

// A label's value: quotes, backslashes and line ends are escaped.
std::string LabelValue(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}});
}

}  // namespace

std::string PrometheusText(const std::vector<StudyUsage>& studies, const std::map<std::string, int64_t>& by_user,
                           const std::vector<std::pair<std::string, int64_t>>& kinds,
                           const std::vector<RunState>& runs) {
  std::string text = "# TYPE openset_records gauge\n";
  for (const StudyUsage& study : studies) {
    absl::StrAppend(&text, "openset_records{study=\"", LabelValue(study.name), "\"} ", study.records, "\n");
  }
  text += "# TYPE openset_study_bytes gauge\n";
  for (const StudyUsage& study : studies) {
    absl::StrAppend(&text, "openset_study_bytes{study=\"", LabelValue(study.name), "\"} ", study.bytes, "\n");
  }
  text += "# TYPE openset_user_bytes gauge\n";
  for (const auto& [user, bytes] : by_user) {
    absl::StrAppend(&text, "openset_user_bytes{user=\"", LabelValue(user), "\"} ", bytes, "\n");
  }
  text += "# TYPE openset_store_bytes gauge\n";
  for (const auto& [kind, bytes] : kinds) {
    absl::StrAppend(&text, "openset_store_bytes{kind=\"", LabelValue(kind), "\"} ", bytes, "\n");
  }
  int64_t actions = 0;
  for (const RunState& run : runs) actions += run.running_size();
  absl::StrAppend(&text, "# TYPE openset_runs gauge\nopenset_runs ", runs.size(),
                  "\n# TYPE openset_running_actions gauge\nopenset_running_actions ", actions, "\n");
  return text;
}

}  // namespace openset
