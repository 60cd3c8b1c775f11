#include "experiments/plan/halving.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/metrics/metric_table.h"
#include "experiments/spec/resolve/actions.h"

namespace openset {

size_t KeptOf(size_t candidates, double keep) {
  // 0.1 of 30 is 3, not 4.
  const double kept = std::ceil(keep * static_cast<double>(candidates) - 1e-9);
  return std::clamp<size_t>(static_cast<size_t>(kept), 1, candidates);
}

std::vector<size_t> RungSizes(const TrialSearch& search) {
  std::vector<size_t> sizes = {search.candidates.size()};
  while (sizes.size() < search.rungs.size()) sizes.push_back(KeptOf(sizes.back(), search.keep));
  return sizes;
}

Trial AtRung(const TrialSearch& search, size_t candidate, size_t rung) {
  const Trial& whole = search.candidates[candidate];
  if (rung + 1 == search.rungs.size()) return whole;
  auto method = std::make_shared<TrialMethod>(*whole.shared_method());
  method->method.mutable_training()->set_stop_after_epochs(search.rungs[rung]);
  return whole.With(std::move(method));
}

absl::StatusOr<Rungs> ReadRungs(const TrialSearch& search, const Store& store) {
  const MetricSpec& criterion = search.candidates[0].metric()[0];
  const bool higher = HigherIsBetter(criterion).value();
  Rungs rungs;
  *rungs.log.mutable_criterion() = criterion;
  for (size_t c = 0; c < search.candidates.size(); ++c) rungs.log.add_candidate();
  std::vector<size_t> alive(search.candidates.size());
  std::iota(alive.begin(), alive.end(), 0);
  for (size_t r = 0; r < search.rungs.size(); ++r) {
    rungs.reached.push_back(alive);
    std::vector<std::pair<size_t, std::optional<double>>> measured;
    std::vector<SearchRung> entries;
    std::string absent_reason;
    for (const size_t c : alive) {
      const absl::StatusOr<TrialRecord> record = store.LoadRecord(TrialId(AtRung(search, c, r)));
      if (absl::IsNotFound(record.status()) || absl::IsDataLoss(record.status())) return rungs;
      OPENSET_RETURN_IF_ERROR(record.status());
      SearchRung& entry = entries.emplace_back();
      entry.set_epochs(search.rungs[r]);
      entry.set_trial_id(record->trial_id());
      const MetricRecord& value = record->metric(0);
      if (value.has_value()) entry.set_value(value.value());
      if (!value.has_value()) absent_reason = value.absent_reason();
      measured.emplace_back(c, value.has_value() ? std::optional(value.value()) : std::nullopt);
    }
    // The best first; equal ones in the order of the grid; undefined ones last.
    std::stable_sort(measured.begin(), measured.end(), [higher](const auto& a, const auto& b) {
      if (!a.second.has_value() || !b.second.has_value()) return a.second.has_value();
      return higher ? *a.second > *b.second : *a.second < *b.second;
    });
    if (!measured[0].second.has_value()) {
      rungs.undefined =
          absl::FailedPreconditionError(absl::StrCat(MetricName(criterion), " is undefined for all candidates after ",
                                                     search.rungs[r], " epochs: ", absent_reason));
      return rungs;
    }
    const bool is_last = r + 1 == search.rungs.size();
    if (is_last) rungs.log.set_chosen(static_cast<int>(measured[0].first));
    measured.resize(is_last ? 1 : KeptOf(alive.size(), search.keep));
    std::vector<size_t> kept;
    for (const auto& [c, value] : measured) kept.push_back(c);
    std::sort(kept.begin(), kept.end());
    for (size_t i = 0; i < alive.size(); ++i) {
      SearchCandidate* candidate = rungs.log.mutable_candidate(static_cast<int>(alive[i]));
      entries[i].set_kept(std::binary_search(kept.begin(), kept.end(), alive[i]));
      candidate->set_trial_id(entries[i].trial_id());
      candidate->clear_value();
      if (entries[i].has_value()) candidate->set_value(entries[i].value());
      *candidate->add_rung() = std::move(entries[i]);
    }
    alive = std::move(kept);
  }
  rungs.complete = true;
  return rungs;
}

}  // namespace openset
