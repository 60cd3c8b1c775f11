#include "eval/report/comparison_words.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace openset {
std::string ShortVerdict(const std::string& verdict, const std::string& a, const std::string& b) {
  if (verdict == absl::StrCat(a, " is better")) return "better";
  if (verdict == absl::StrCat(b, " is better")) return "worse";
  return verdict == kNoDifference ? "not detected" : verdict;
}

std::string ShowPValue(double p_value) { return p_value < 1e-4 ? "< 0.0001" : absl::StrFormat("%.4f", p_value); }

std::string SharedEnd(const std::vector<std::string>& names) {
  if (names.size() < 2) return "";
  size_t length = names[0].size();
  for (const std::string& name : names) {
    length = std::min(length, name.size());
    while (name.compare(name.size() - length, length, names[0], names[0].size() - length, length) != 0) --length;
  }
  const std::string end = names[0].substr(names[0].size() - length);
  const size_t from = std::min(end.find('+'), end.find(", "));
  if (from == std::string::npos) return "";
  const size_t left = end.size() - from;
  const bool is_all = absl::c_any_of(names, [&](const std::string& name) { return name.size() == left; });
  return is_all ? "" : end.substr(from);
}

std::string AmountText(double difference, const Display& display) {
  const std::string unit = display.unit == "%" ? "points" : display.unit == "x1000" ? "thousandths" : display.unit;
  return absl::StrCat(Shown(difference, display), unit.empty() ? "" : " ", unit);
}

std::string OneText(const Display& display) {
  if (display.unit == "%") return "1 point";
  if (display.unit == "x1000") return "1 thousandth";
  return display.unit == "nats" ? "1 nat" : "1";
}

std::string ComparisonSentence(const ComparedInWords& compared, const Display& display) {
  const bool is_less = compared.difference < 0;
  const std::string amount =
      absl::StrCat(AmountText(std::abs(compared.difference), display), is_less ? " less" : " more");
  // The interval of the amount, which is b - a if a has less.
  const double low = is_less && compared.is_detected ? -compared.high : compared.low;
  const double high = is_less && compared.is_detected ? -compared.low : compared.high;
  const std::string p = ShowPValue(compared.p_value);
  const std::string numbers = absl::StrCat(
      absl::StrFormat("%g %% interval ", 100 * compared.confidence), Shown(low, display), " to ", Shown(high, display),
      compared.tests > 1 ? " of this comparison alone" : "", "; p ", p[0] == '<' ? "" : "= ", p,
      compared.tests > 1 ? absl::StrCat(" after Holm over ", compared.tests, " comparisons") : "",
      compared.test.empty() ? "" : "; ", compared.test);
  if (compared.is_detected) {
    return absl::StrCat(compared.place, ", ", compared.a, " had ", amount, " ", display.label, " than ", compared.b,
                        " (", numbers, ").");
  }
  return absl::StrCat(compared.place, ", no difference in ", display.label, " between ", compared.a, " and ",
                      compared.b, " was detected (", compared.a, " had ", amount, "; ", numbers, ").");
}

}  // namespace openset
