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

std::string SharedStart(const std::vector<std::string>& names) {
  if (names.size() < 2) return "";
  std::string start = names[0];
  for (const std::string& name : names) {
    size_t length = 0;
    while (length < std::min(start.size(), name.size()) && start[length] == name[length]) ++length;
    start.resize(length);
  }
  const size_t comma = start.rfind(", ");
  if (comma == std::string::npos) return "";
  start.resize(comma + 2);
  return absl::c_linear_search(names, start) ? "" : start;
}

std::map<std::string, std::string> NamesForCells(const std::vector<std::string>& names, int per_cell,
                                                 std::vector<std::string>* lines) {
  constexpr size_t kWidestCell = 60;
  const std::string end = SharedEnd(names);
  std::map<std::string, std::string> in_cells;
  size_t widest = 0;
  for (const std::string& name : names) {
    in_cells[name] = name.substr(0, name.size() - end.size());
    widest = std::max(widest, in_cells[name].size());
  }
  if (widest * per_cell <= kWidestCell) {
    if (!end.empty()) lines->push_back(absl::StrCat("all methods: ", end));
    return in_cells;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    in_cells[names[i]] = absl::StrCat("[", i + 1, "]");
    lines->push_back(absl::StrCat(in_cells[names[i]], " ", names[i]));
  }
  return in_cells;
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
  // "a had 2 points less" has the interval of b - a; what is not detected has a sign.
  const bool turned = compared.is_detected && compared.difference < 0;
  const double low = turned ? -compared.high : compared.low, high = turned ? -compared.low : compared.high;
  const std::string p = ShowPValue(compared.p_value);
  const std::string numbers = absl::StrCat(
      absl::StrFormat("%g %% interval ", 100 * compared.confidence), Shown(low, display), " to ", Shown(high, display),
      compared.tests > 1 ? " of this comparison alone" : "", "; p ", p[0] == '<' ? "" : "= ", p,
      compared.tests > 1 ? absl::StrCat(" after Holm over ", compared.tests, " comparisons") : "",
      compared.test.empty() ? "" : "; ", compared.test);
  if (compared.is_detected) {
    return absl::StrCat(compared.place, ", ", compared.a, " had ", AmountText(std::abs(compared.difference), display),
                        turned ? " less " : " more ", display.label, " than ", compared.b, " (", numbers, ").");
  }
  return absl::StrCat(compared.place, ", no difference in ", display.label, " between ", compared.a, " and ",
                      compared.b, " was detected (", compared.a, " minus ", compared.b, ": ",
                      AmountText(compared.difference, display), "; ", numbers, ").");
}

}  // namespace openset
