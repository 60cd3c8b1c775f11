// What runs on a store now, as the pages of `openset serve` ask for it every other second.
#ifndef OPENSET_TOOLS_CLI_SERVE_LIVE_JSON_H_
#define OPENSET_TOOLS_CLI_SERVE_LIVE_JSON_H_

#include <cstdint>
#include <vector>

#include "experiments/store/processes/run_state.pb.h"
#include "nlohmann/json.hpp"

namespace openset {

// {"records": N, "runs": [{"id", "study", "by", "line", "fraction", "silent", "actions": [{"line", "fraction"}]}]}; id:
// StudyId(); silent: how many seconds without a sign of life, null within its lease. `now`: seconds since 1970.
nlohmann::ordered_json LiveJson(int64_t records, const std::vector<RunState>& runs, double now);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SERVE_LIVE_JSON_H_
