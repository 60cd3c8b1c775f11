#include "eval/statistics/jackknife.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "core/random.h"

namespace openset {

std::vector<int> JackknifeBlocksOf(const EvaluationInput& input) {
  const bool has_clusters = !input.cluster().empty();
  std::map<int64_t, int64_t> place;  // of each cluster among all
  for (const int64_t cluster : input.cluster()) place[cluster] = 0;
  int64_t next = 0;
  for (auto& [cluster, of_cluster] : place) of_cluster = next++;
  const auto part = [&](int64_t i) {
    return has_clusters || !input.IsUnknown(i) ? -1 : input.group().empty() ? 0 : input.group()[i];
  };
  std::map<int32_t, int64_t> dealt;  // of each part, how many are dealt: samples or clusters
  std::vector<int64_t> order(input.num_samples());
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    order[i] = has_clusters ? place[input.cluster()[i]] : dealt[part(i)]++;
  }
  if (has_clusters) dealt[-1] = next;
  std::map<int32_t, std::vector<int64_t>> shuffled;
  for (const auto& [of, number] : dealt) shuffled[of] = RandomStream(0, "jackknife blocks").Permutation(number);
  std::vector<int> block(input.num_samples());
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    block[i] = static_cast<int>(shuffled[part(i)][order[i]] % kJackknifeBlocks);
  }
  return block;
}

std::vector<double> WithoutBlocks(const RankedInput& ranked, PairStatistic statistic, absl::Span<const int> block) {
  using OfBlocks = std::array<double, kJackknifeBlocks>;
  const EvaluationInput& input = ranked.input();
  OfBlocks known = {}, unknown = {};                      // numbers of samples
  OfBlocks below = {};                                    // known samples that count, at lower scores
  OfBlocks of_known = {}, of_unknown = {}, of_both = {};  // pairs in the right order: of a block's known samples, ...
  for (int64_t tied = 0; tied < ranked.ranking().num_blocks(); ++tied) {
    OfBlocks here = {};
    for (const uint32_t sample : ranked.ranking().Block(tied)) {
      if (ranked.weight(sample) == 0 || input.IsUnknown(sample)) continue;
      known[block[sample]] += 1;
      here[block[sample]] += statistic == PairStatistic::kAuroc || input.IsCorrect(sample);
    }
    for (const uint32_t sample : ranked.ranking().Block(tied)) {
      if (ranked.weight(sample) == 0 || !input.IsUnknown(sample)) continue;
      const int own = block[sample];
      unknown[own] += 1;
      for (int b = 0; b < kJackknifeBlocks; ++b) {
        const double pairs = below[b] + here[b] / 2;
        of_known[b] += pairs;
        of_unknown[own] += pairs;
        if (b == own) of_both[b] += pairs;
      }
    }
    for (int b = 0; b < kJackknifeBlocks; ++b) below[b] += here[b];
  }
  double all_known = 0, all_unknown = 0, all_pairs = 0;
  for (int b = 0; b < kJackknifeBlocks; ++b) {
    all_known += known[b];
    all_unknown += unknown[b];
    all_pairs += of_known[b];
  }
  std::vector<double> without;
  if (std::min(all_known, all_unknown) < kJackknifeBlocks) return without;
  for (int b = 0; b < kJackknifeBlocks; ++b) {
    const double pairs = (all_known - known[b]) * (all_unknown - unknown[b]);
    if (pairs == 0) return {};
    without.push_back((all_pairs - of_known[b] - of_unknown[b] + of_both[b]) / pairs);
  }
  return without;
}

double JackknifeCovariance(absl::Span<const double> a, absl::Span<const double> b) {
  const double n = static_cast<double>(a.size());
  double mean_a = 0, mean_b = 0, products = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    mean_a += a[i] / n;
    mean_b += b[i] / n;
  }
  for (size_t i = 0; i < a.size(); ++i) products += (a[i] - mean_a) * (b[i] - mean_b);
  return (n - 1) / n * products;
}

}  // namespace openset
