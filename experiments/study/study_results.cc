#include "experiments/study/study_results.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/in_parallel.h"
#include "experiments/spec/describe.h"
#include "experiments/store/merge.h"
#include "experiments/store/store_contents.h"

namespace openset {
namespace {

constexpr size_t kLargestBlock = 1 << 18;  // of an arena, in bytes

}  // namespace

std::unique_ptr<StudyResults> LoadStudyResults(const Plan& plan, const std::vector<int>& reported, const Store& store) {
  constexpr int64_t kRange = 256;
  constexpr int kWithout[] = {TrialRecord::kTrialFieldNumber};
  auto loaded = std::make_unique<StudyResults>();
  const auto count = static_cast<int64_t>(reported.size());
  loaded->results.resize(count);
  loaded->arenas.resize((count + kRange - 1) / kRange);
  std::vector<absl::Status> read(count);
  std::vector<TrialRecord*> records(count);
  InParallelWaitingRanges(count, kRange, [&](int64_t from, int64_t to) {
    google::protobuf::ArenaOptions options;
    options.max_block_size = kLargestBlock;
    auto& arena = loaded->arenas[from / kRange] = std::make_unique<google::protobuf::Arena>(options);
    SharedTrialSpecs specs(arena.get());
    for (int64_t i = from; i < to; ++i) {
      loaded->results[i].trial = specs.Add(plan.trials[reported[i]]);
      records[i] = google::protobuf::Arena::CreateMessage<TrialRecord>(arena.get());
      read[i] = store.LoadRecord(plan.trial_id(reported[i]), kWithout, records[i]);
    }
  });
  const std::vector<std::string> replicas = ReplicaIds(store, &loaded->unread);
  const std::set<std::string> has_replicas(replicas.begin(), replicas.end());
  for (int64_t i = 0; i < count; ++i) {
    if (!read[i].ok()) {
      loaded->unread.Add(read[i]);
      continue;
    }
    loaded->results[i].record = records[i];
    const std::string& id = plan.trial_id(reported[i]);
    if (has_replicas.count(id) == 0) continue;
    const absl::StatusOr<std::vector<TrialRecord>> all = LoadReplicas(store, id);
    if (!all.ok()) {
      loaded->unread.Add(all.status());
      loaded->results[i].record = nullptr;
      continue;
    }
    const std::vector<std::string> lines = DifferenceLines(*all);
    if (!lines.empty()) {
      loaded->differing.push_back(absl::StrCat(Describe(plan.trials[reported[i]]), ": ", absl::StrJoin(lines, "; ")));
    }
    *records[i] = (*all)[0];
    records[i]->clear_trial();
  }
  return loaded;
}

}  // namespace openset
