// The words of comparisons: columns, p values, names, sentences.
#ifndef OPENSET_EVAL_REPORT_COMPARISON_WORDS_H_
#define OPENSET_EVAL_REPORT_COMPARISON_WORDS_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "eval/metrics/display.h"

namespace openset {

// An explanation of the columns with intervals at Holm's levels (eval/statistics/paired_tests.h).
inline constexpr char kHolmColumns[] =
    "low, high (Holm): the interval at the level of Holm's procedure, which excludes 0 if there is a difference";

inline constexpr char kNoDifference[] = "no detectable difference";  // a verdict
inline constexpr size_t kMostSentences = 8;                          // below tables

// "a is better" as "better", "b is better" as "worse", kNoDifference as "not detected"; other verdicts unchanged.
std::string ShortVerdict(const std::string& verdict, const std::string& a, const std::string& b);

// "0.0312"; "< 0.0001" below that.
std::string ShowPValue(double p_value);

// The end that all names share, from a '+' or a comma on ("+laptop", ", lambda 0.1"), so that a table can show it once;
// "" if there is none or nothing would be left of a name.
std::string SharedEnd(const std::vector<std::string>& names);

// The same of beginnings, up to a comma: "digits, " of "digits, 2 unknown classes" and "digits, 8 unknown classes".
std::string SharedStart(const std::vector<std::string>& names);

// What the cells of a table call each of `names`: the name without the shared end or, if a cell of `per_cell` names
// would be wider than 60 letters, a number. Appends the lines above the table that explain this.
std::map<std::string, std::string> NamesForCells(const std::vector<std::string>& names, int per_cell,
                                                 std::vector<std::string>* lines);

// ---- What a sentence says about a comparison of methods a and b.

// A difference in the unit of tables: "2.10 points", "3.20 thousandths", "0.1200 nats".
std::string AmountText(double difference, const Display& display);

// A difference of 1 in the unit of tables: "1 point", "1 thousandth", "1 nat".
std::string OneText(const Display& display);

struct ComparedInWords {
  std::string place;  // "On 5 splits of cats"
  std::string a, b;
  double difference = 0, low = 0, high = 0;  // a - b; not scaled
  double confidence = 0;                     // of low and high
  double p_value = 1;                        // after Holm
  int tests = 1;                             // over which Holm's method corrects
  bool is_detected = false;
  std::string test;  // its name, if there are several kinds; may be empty
};

// "On 5 splits of cats, a had 2.10 points more AUROC than b (95 % interval 0.40 to 3.80; p = 0.0300 after Holm over 8
// comparisons)." If it is not detected: "On ..., no difference in AUROC between a and b was detected (a minus b: 0.40
// points; 95 % interval -1.00 to 1.80; p = ...)."
std::string ComparisonSentence(const ComparedInWords& compared, const Display& display);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_COMPARISON_WORDS_H_
