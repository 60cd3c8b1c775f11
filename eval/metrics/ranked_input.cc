#include "eval/metrics/ranked_input.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "core/in_parallel.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// Sorts one number for each position: the highest 33 bits of its key in which keys differ, above the position.
constexpr int kDigitBits = 11;
constexpr int kDigits = 3;
constexpr int kKeyBits = kDigits * kDigitBits;
constexpr int kPositionBits = 64 - kKeyBits;
constexpr uint64_t kDigitMask = (uint64_t{1} << kDigitBits) - 1;
constexpr uint64_t kKeyMask = (uint64_t{1} << kKeyBits) - 1;
constexpr uint64_t kPositionMask = (uint64_t{1} << kPositionBits) - 1;
// Runs of equal numbers of this length are sorted by insertion.
constexpr int64_t kShortRun = 16;
// The least number of keys for several threads: two threads then save a millisecond.
constexpr int64_t kWorthThreads = 200000;

// The bits as an unsigned number with the same order as the doubles.
uint64_t OrderedBits(double x) {
  x += 0.0;  // -0 becomes 0
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const uint64_t negative = -(bits >> 63);
  return bits ^ (negative | (uint64_t{1} << 63));
}

using Counts = std::array<uint32_t, kDigitMask + 1>;

uint64_t DigitOf(uint64_t packed, int digit) { return (packed >> (kPositionBits + digit * kDigitBits)) & kDigitMask; }

// Sorts positions with equal numbers by their keys. Positions start in ascending order and keep it for equal keys.
void SortRun(absl::Span<const double> key, uint32_t* begin, uint32_t* end) {
  const auto is_before = [&](uint32_t a, uint32_t b) { return key[a] < key[b] || (key[a] == key[b] && a < b); };
  if (end - begin > kShortRun) {
    if (!std::is_sorted(begin, end, is_before)) std::sort(begin, end, is_before);
    return;
  }
  for (uint32_t* next = begin + 1; next < end; ++next) {
    const uint32_t position = *next;
    uint32_t* to = next;
    for (; to > begin && key[position] < key[to[-1]]; --to) *to = to[-1];
    *to = position;
  }
}

}  // namespace

std::vector<uint32_t> StableOrder(absl::Span<const double> key) {
  const int64_t n = key.size();
  // Each thread sorts a part of the numbers, in order. The result doesn't depend on the number of threads.
  const int64_t parts = n < kWorthThreads ? 1 : NumThreads();
  const auto in_parts = [&](const std::function<void(int64_t part, int64_t begin, int64_t end)>& work) {
    InParallel(parts, [&](int64_t part) { work(part, n * part / parts, n * (part + 1) / parts); });
  };
  std::vector<uint64_t> all(parts, ~uint64_t{0}), any(parts, 0);
  in_parts([&](int64_t part, int64_t begin, int64_t end) {
    uint64_t all_here = ~uint64_t{0}, any_here = 0;
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t bits = OrderedBits(key[i]);
      all_here &= bits;
      any_here |= bits;
    }
    all[part] = all_here;
    any[part] = any_here;
  });
  uint64_t in_all = ~uint64_t{0}, in_any = 0;
  for (int64_t part = 0; part < parts; ++part) in_all &= all[part], in_any |= any[part];
  const uint64_t differing = in_all ^ in_any;
  if (n == 0 || differing == 0) {
    std::vector<uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  const int lowest = __builtin_ctzll(differing);
  const int highest = 63 - __builtin_clzll(differing);
  const int shift = std::max(lowest, highest + 1 - kKeyBits);

  std::unique_ptr<uint64_t[]> packed(new uint64_t[n]), next(new uint64_t[n]);
  std::vector<Counts> count(parts);
  for (int digit = 0; digit < kDigits; ++digit) {
    in_parts([&](int64_t part, int64_t begin, int64_t end) {
      Counts& here = count[part];
      here.fill(0);
      for (int64_t i = begin; i < end; ++i) {
        if (digit == 0) packed[i] = ((OrderedBits(key[i]) >> shift) & kKeyMask) << kPositionBits | i;
        ++here[DigitOf(packed[i], digit)];
      }
    });
    // A digit that is the same in all numbers needs no pass.
    int64_t like_first = 0;
    for (const Counts& here : count) like_first += here[DigitOf(packed[0], digit)];
    if (like_first == n) continue;
    uint32_t place = 0;
    for (uint64_t value = 0; value <= kDigitMask; ++value) {
      for (Counts& here : count) place += std::exchange(here[value], place);
    }
    in_parts([&](int64_t part, int64_t begin, int64_t end) {
      Counts& to = count[part];
      for (int64_t i = begin; i < end; ++i) next[to[DigitOf(packed[i], digit)]++] = packed[i];
    });
    packed.swap(next);
  }
  next.reset();

  std::vector<uint32_t> order(n);
  in_parts([&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) order[i] = static_cast<uint32_t>(packed[i] & kPositionMask);
  });
  if (shift == lowest) return order;
  for (int64_t begin = 0, end = 0; begin < n; begin = end) {
    const uint64_t number = packed[begin] >> kPositionBits;
    for (end = begin + 1; end < n && packed[end] >> kPositionBits == number;) ++end;
    if (end - begin > 1) SortRun(key, &order[begin], &order[begin] + (end - begin));
  }
  return order;
}

Ranking::Ranking(absl::Span<const double> unknown_score)
    : order_(StableOrder(unknown_score)),
      score_(new double[order_.size()]),
      block_begin_(new uint32_t[order_.size() + 1]) {
  // The score of each place first, which takes look-ups that are far from each other, and then of each block: the first
  // one in it.
  InParallelRanges(num_samples(), kRankingPiece, [&](int64_t begin, int64_t end) {
    for (int64_t place = begin; place < end; ++place) score_[place] = unknown_score[order_[place]];
  });
  double last = std::numeric_limits<double>::quiet_NaN();  // unequal to every score
  for (int64_t place = 0; place < num_samples(); ++place) {
    const double score = score_[place];
    score_[num_blocks_] = score;
    block_begin_[num_blocks_] = place;
    num_blocks_ += score == last ? 0 : 1;
    last = score;
  }
  block_begin_[num_blocks_] = num_samples();
}

namespace {

// The piece of work of a thread: about a millisecond.
constexpr int64_t kOutputsATurn = 100000;

// `exps` [K] is a buffer for the summands of SumSoftmax().
SoftmaxValues ValuesOf(absl::Span<const float> logits, int32_t label, int32_t prediction, int32_t num_classes,
                       std::vector<double>* exps) {
  SoftmaxSum sum;
  sum.argmax = ArgMax(logits);
  sum.max = logits[sum.argmax];
  for (int32_t c = 0; c < logits.size(); ++c) {
    (*exps)[c] = std::exp(logits[c] - sum.max);
    if (c != sum.argmax) sum.rest += (*exps)[c];
  }
  const auto probability = [&](int32_t c) { return (*exps)[c] / (1 + sum.rest); };
  SoftmaxValues values;
  if (prediction < num_classes) {
    values.confidence = probability(prediction);
  } else {
    for (int32_t c = num_classes; c < static_cast<int32_t>(logits.size()); ++c) values.confidence += probability(c);
  }
  if (label == kUnknownLabel) return values;
  values.nll = std::log1p(sum.rest) + (sum.max - logits[label]);
  for (int32_t c = 0; c < logits.size(); ++c) {
    const double distance = probability(c) - (c == label ? 1 : 0);
    values.brier += distance * distance;
  }
  return values;
}

}  // namespace

const std::vector<SoftmaxValues>& SoftmaxSummary::Values() const {
  std::call_once(once_, [this] {
    const int64_t width = input_.num_outputs();
    values_.resize(input_.num_samples());
    InParallelRanges(input_.num_samples(), std::max<int64_t>(1, kOutputsATurn / width),
                     [&](int64_t begin, int64_t end) {
                       std::vector<double> exps(width);
                       for (int64_t i = begin; i < end; ++i) {
                         values_[i] = ValuesOf(input_.logits().subspan(i * width, width), input_.label()[i],
                                               input_.prediction()[i], input_.num_classes(), &exps);
                       }
                     });
  });
  return values_;
}

namespace {

RankedSample SampleAt(const EvaluationInput& input, int64_t i) {
  const int32_t label = input.label()[i];
  const int32_t prediction = input.has_predictions() ? input.prediction()[i] : 0;
  const SampleKind judged = label == prediction ? SampleKind::kCorrect : SampleKind::kWrong;
  const SampleKind known = input.has_predictions() ? judged : SampleKind::kNotJudged;
  const SampleKind kind = label == kUnknownLabel ? SampleKind::kUnknown : known;
  return {static_cast<uint32_t>(prediction), static_cast<uint32_t>(kind), label};
}

// Without branches, because the processor can't predict the kind of the next sample.
void Add(SampleKind kind, uint32_t weight, Tally* tally) {
  tally->correct += kind == SampleKind::kCorrect ? weight : 0;
  tally->wrong += kind == SampleKind::kWrong ? weight : 0;
  tally->unknown += kind == SampleKind::kUnknown ? weight : 0;
  tally->not_judged += kind == SampleKind::kNotJudged ? weight : 0;
}

}  // namespace

RankedInput::RankedInput(const EvaluationInput& input)
    : input_(input), ranking_(std::make_shared<const Ranking>(input.unknown_score())), blocks_(ranking_->num_blocks()) {
  // In the order of the input first, so that a place of the ranking is one look-up.
  const int64_t n = ranking_->num_samples();
  std::vector<RankedSample> by_sample(n);
  InParallelRanges(n, kRankingPiece, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) by_sample[i] = SampleAt(input_, i);
  });
  auto samples = std::make_shared<std::vector<RankedSample>>(n);
  const absl::Span<const uint32_t> order = ranking_->order();
  InParallelRanges(ranking_->num_blocks(), kRankingPiece, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      Tally tally;
      for (int64_t place = ranking_->BlockBegin(block); place < ranking_->BlockBegin(block + 1); ++place) {
        const RankedSample sample = by_sample[order[place]];
        (*samples)[place] = sample;
        Add(sample.kind(), 1, &tally);
      }
      blocks_[block] = tally;
    }
  });
  samples_ = std::move(samples);
  if (!input.logits().empty()) softmax_ = std::make_shared<const SoftmaxSummary>(input);
  Sum();
}

void RankedInput::Reweight(absl::Span<const uint32_t> weight) {
  weight_.assign(weight.begin(), weight.end());
  if (cell_ == nullptr) {
    auto cell = std::make_shared<std::vector<uint32_t>>(weight.size());
    for (int64_t block = 0; block < ranking_->num_blocks(); ++block) {
      for (int64_t place = ranking_->BlockBegin(block); place < ranking_->BlockBegin(block + 1); ++place) {
        (*cell)[ranking_->order()[place]] = 4 * block + (*samples_)[place].kind_bits;
      }
    }
    cell_ = std::move(cell);
  }
  blocks_.assign(blocks_.size(), Tally());
  const std::vector<uint32_t>& cell = *cell_;
  for (size_t i = 0; i < weight.size(); ++i)
    Add(static_cast<SampleKind>(cell[i] % 4), weight[i], &blocks_[cell[i] / 4]);
  Sum();
}

std::vector<int64_t> SamplesOfClasses(const RankedInput& ranked) {
  const absl::Span<const int32_t> label = ranked.input().label();
  // Unknown samples are counted before the classes, which avoids a branch that the processor can't predict.
  std::vector<int64_t> samples(1 + ranked.input().num_classes());
  static_assert(kUnknownLabel == -1);
  for (size_t i = 0; i < label.size(); ++i) samples[1 + label[i]] += ranked.weight(static_cast<int64_t>(i));
  samples.erase(samples.begin());
  return samples;
}

void RankedInput::Sum() {
  total_ = Tally();
  for (const Tally& tally : blocks_) total_ += tally;
}

}  // namespace openset
