#include "tools/cli/serve/live_json.h"

#include <utility>

#include "core/text/one_line.h"
#include "tools/cli/run/run_lines.h"
#include "tools/cli/serve/routes.h"

namespace openset {

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
      json["actions"].push_back({{"line", OneLine(ActionLine(action))}, {"fraction", action.fraction()}});
    }
    live["runs"].push_back(std::move(json));
  }
  return live;
}

}  // namespace openset
