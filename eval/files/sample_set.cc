#include "eval/files/sample_set.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "eval/files/same_network.h"
#include "eval/scores/input.h"
#include "eval/scores/output_kind.h"

namespace openset {
namespace {

// Calls visit(index) for each class among the kept rows' labels or predictions; unknown labels are not classes.
template <typename Visit>
void ForEachClass(const std::vector<bool>& keep, MaybeBorrowed<int64_t>* values, Visit visit) {
  std::vector<int64_t>& own = values->Own();
  for (size_t row = 0; row < own.size(); ++row) {
    if (keep[row] && own[row] >= 0) visit(&own[row]);
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> NumberClasses(const std::vector<std::vector<bool>>& keep,
                                                       std::vector<ScoreFile>* files) {
  const auto named = absl::c_find_if(*files, [](const ScoreFile& file) { return !file.class_names.empty(); });
  if (named == files->end()) return std::vector<std::string>();
  for (size_t f = 0; f < files->size(); ++f) {
    ScoreFile& file = (*files)[f];
    const auto classes = static_cast<int64_t>(file.class_names.size());
    int64_t largest = -1;
    for (MaybeBorrowed<int64_t>* values : {&file.label, &file.prediction}) {
      ForEachClass(keep[f], values, [&](int64_t* index) { largest = std::max(largest, *index); });
    }
    if (largest < classes) continue;
    if (classes == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(file.path, ": numbers the classes, and ", named->path, " names them"));
    }
    // A number where others are names: from an array in another file.
    return absl::InvalidArgumentError(
        absl::StrCat(file.path, ": class ", largest, " is not one of the ", classes, " that are named"));
  }
  if (named->num_outputs > 0) {
    for (const ScoreFile& file : *files) {
      if (file.class_names == named->class_names) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(file.path, ": its logits are of ",
                       file.class_names.empty() ? "numbered classes" : absl::StrJoin(file.class_names, ", "),
                       ", but the logits of ", named->path, " are of ", absl::StrJoin(named->class_names, ", ")));
    }
    return named->class_names;
  }
  std::map<std::string, int64_t> number;
  std::vector<std::string> names;
  for (MaybeBorrowed<int64_t> ScoreFile::*values : {&ScoreFile::label, &ScoreFile::prediction}) {
    std::set<std::string> found;
    for (size_t f = 0; f < files->size(); ++f) {
      ScoreFile& file = (*files)[f];
      ForEachClass(keep[f], &(file.*values), [&](int64_t* index) { found.insert(file.class_names[*index]); });
    }
    for (const std::string& name : found) {
      if (number.try_emplace(name, names.size()).second) names.push_back(name);
    }
  }
  for (size_t f = 0; f < files->size(); ++f) {
    ScoreFile& file = (*files)[f];
    for (MaybeBorrowed<int64_t>* values : {&file.label, &file.prediction}) {
      ForEachClass(keep[f], values, [&](int64_t* index) { *index = number[file.class_names[*index]]; });
    }
  }
  return names;
}

namespace {

enum class Role { kNone, kKnown, kUnknown, kNear, kFar, kSkip };

// In a table, `column` of a row is the array or, of logits, one of several.
absl::Status BadRow(const ScoreFile& file, absl::string_view array, int64_t row, absl::string_view problem,
                    absl::string_view column) {
  if (file.is_table) {
    const int64_t line = file.lines.empty() ? row + 2 : file.lines[row];
    return absl::InvalidArgumentError(absl::StrCat(file.path, ": line ", line, ": column '", column, "': ", problem));
  }
  return absl::InvalidArgumentError(absl::StrCat(file.path, ": array '", array, "', row ", row, ": ", problem));
}

absl::Status BadRow(const ScoreFile& file, absl::string_view array, int64_t row, absl::string_view problem) {
  return BadRow(file, array, row, problem, array);
}

std::string LogitColumn(const ScoreFile& file, int64_t output) {
  if (output < static_cast<int64_t>(file.class_names.size())) return absl::StrCat("logit_", file.class_names[output]);
  return absl::StrCat("logit_", output);
}

absl::StatusOr<std::map<std::string, Role>> RolesByName(const SetRoles& roles, const std::vector<ScoreFile>& files) {
  std::set<std::string> names;
  for (const ScoreFile& file : files) names.insert(file.set_names.begin(), file.set_names.end());
  std::map<std::string, Role> by_name;
  for (const auto& [list, role] : {std::pair(&roles.unknown, Role::kUnknown), std::pair(&roles.near, Role::kNear),
                                   std::pair(&roles.far, Role::kFar), std::pair(&roles.known, Role::kKnown),
                                   std::pair(&roles.skip, Role::kSkip)}) {
    for (const std::string& name : *list) {
      if (names.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat("group '", name, "' has a role, but the samples have no groups"));
      }
      if (names.count(name) == 0) {
        const bool comma =
            absl::c_any_of(names, [](const std::string& group) { return absl::StrContains(group, ','); });
        return absl::InvalidArgumentError(
            absl::StrCat(UnknownName("group", name, {names.begin(), names.end()}),
                         comma ? "; on the command line, a name with a comma needs double quotes: '\"a, b\"'" : ""));
      }
      if (!by_name.emplace(name, role).second) {
        return absl::InvalidArgumentError(absl::StrCat("group '", name, "' has two roles"));
      }
    }
  }
  return by_name;
}

// If there are several files, samples without a set get the set of their file.
void NameSetsByFile(std::vector<ScoreFile>* files) {
  if (files->size() < 2) return;
  for (ScoreFile& file : *files) {
    if (!file.set.empty()) continue;
    file.set = std::vector<int64_t>(file.num_samples, 0);
    file.set_names = {std::filesystem::path(file.path).stem().string()};
  }
}

absl::Status CheckSets(const ScoreFile& file) {
  const int64_t sets = file.set_names.size();
  for (int64_t row = 0; row < file.set.size(); ++row) {
    if (file.set[row] < -1 || file.set[row] >= sets) {
      return BadRow(file, "group", row,
                    absl::StrCat("is ", file.set[row], "; it must lie in 0 .. ", sets - 1, " (group_names), or be -1"));
    }
  }
  return absl::OkStatus();
}

bool HasHead(const ScoreFile& file) { return !file.head_weight.empty() || !file.head_bias.empty(); }

// The first file with a head; without one, the first file.
const ScoreFile& WithHead(const std::vector<ScoreFile>& files) {
  const auto found = absl::c_find_if(files, HasHead);
  return found == files.end() ? files.front() : *found;
}

// Labels of other data sets count as known unless a role says otherwise, so at most one set of labels may be without.
absl::Status CheckForeignLabels(const std::vector<ScoreFile>& files, const std::map<std::string, Role>& roles) {
  std::set<std::string> known, open;
  for (const ScoreFile& file : files) {
    if (!file.labels_depend_on_set) continue;
    if (file.set_names.size() > 1 && roles.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(file.path, ": holds the data sets ", absl::StrJoin(file.set_names, ", "),
                       " by number: give each a role (--known, --near, --far, --unknown, --skip)"));
    }
    for (int64_t row = 0; row < file.num_samples; ++row) {
      if (file.label[row] == kUnknownLabel) continue;
      const std::string& name = file.set_names[file.set[row]];
      const auto role = roles.find(name);
      if (role == roles.end()) open.insert(name);
      if (role == roles.end() || role->second == Role::kKnown) known.insert(name);
    }
  }
  if (known.size() < 2 || open.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the data sets ", absl::StrJoin(known, ", "),
                                                 " have labels other than -1, which may be classes of their own; ",
                                                 "without a role, their samples would all be known: give each a role "
                                                 "(--known, --near, --far, --unknown, --skip)"));
}

// The properties that all files must share.
absl::Status CheckAgreement(const std::vector<ScoreFile>& files) {
  const ScoreFile& first = files.front();
  for (const ScoreFile& file : files) {
    const auto differ = [&](absl::string_view what) {
      return absl::InvalidArgumentError(absl::StrCat(file.path, ": ", what, " ", first.path));
    };
    if (file.num_outputs != first.num_outputs) return differ("doesn't have as many logits per sample as");
    for (const auto& [name, lacks, first_lacks] :
         {std::tuple("unknown_score", file.unknown_score.empty(), first.unknown_score.empty()),
          std::tuple("prediction", file.num_outputs == 0 && file.prediction.empty(),
                     file.num_outputs == 0 && first.prediction.empty()),
          std::tuple("member_uncertainty", file.member_uncertainty.empty(), first.member_uncertainty.empty()),
          std::tuple("cluster", file.cluster.empty(), first.cluster.empty())}) {
      if (lacks != first_lacks) return differ(absl::StrCat(lacks ? "has no " : "has ", name, ", unlike"));
    }
    if (file.feature_dim != first.feature_dim) return differ("doesn't have as many features per sample as");
    if (file.num_classes != first.num_classes) return differ("doesn't have the num_classes of");
  }
  const ScoreFile& head = WithHead(files);
  for (const ScoreFile& file : files) {
    if (!HasHead(file) || (file.head_weight == head.head_weight && file.head_bias == head.head_bias)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(file.path, ": its head (head_weight, head_bias) differs from the one in ", head.path));
  }
  return absl::OkStatus();
}

// Either all files say how good their answers are, or none does; files of unknown samples alone need not. After
// ApplyRoles().
absl::Status AgreeOnLoss(std::vector<ScoreFile>* files) {
  const auto with = absl::c_find_if(*files, [](const ScoreFile& file) { return !file.loss.empty(); });
  if (with == files->end()) return absl::OkStatus();
  for (ScoreFile& file : *files) {
    const bool is_unknown = absl::c_all_of(file.label, [](int64_t label) { return label == kUnknownLabel; });
    if (file.loss.empty() && is_unknown && file.prediction.empty() && file.num_outputs == 0) {
      file.loss.assign(file.num_samples, 0);
      file.only_correct = with->only_correct;
    }
    if (!file.loss.empty() && file.only_correct == with->only_correct) continue;
    return absl::InvalidArgumentError(absl::StrCat(file.path, ": has a '", with->only_correct ? "correct" : "loss",
                                                   "' or lacks it, unlike ", with->path));
  }
  return absl::OkStatus();
}

// A label that is not a class index (a line number, say) must not create tables of a billion classes.
constexpr int64_t kMostClasses = 1000000;

// Sets labels of unknown sets to -1, and marks rows to leave out.
std::vector<std::vector<bool>> ApplyRoles(const std::map<std::string, Role>& roles, std::vector<ScoreFile>* files) {
  std::vector<std::vector<bool>> keep;
  for (ScoreFile& file : *files) {
    keep.emplace_back(file.num_samples, true);
    if (file.set.empty()) continue;
    std::vector<Role> role;
    for (const std::string& name : file.set_names) {
      const auto entry = roles.find(name);
      role.push_back(entry == roles.end() ? Role::kNone : entry->second);
    }
    for (int64_t row = 0; row < file.num_samples; ++row) {
      if (file.set[row] < 0) continue;
      const Role of_set = role[file.set[row]];
      if (of_set == Role::kSkip) keep.back()[row] = false;
      const bool is_unknown = of_set == Role::kUnknown || of_set == Role::kNear || of_set == Role::kFar;
      if (is_unknown) file.label.Own()[row] = kUnknownLabel;
    }
  }
  return keep;
}

// Whether the largest value of an unsigned type is a label that only -1 can explain: the class below it has no sample.
absl::Status CheckUnsignedLabels(const ScoreFile& file) {
  const int64_t largest = file.largest_label;
  if (largest == 0 || file.num_outputs > largest || file.num_classes.value_or(0) > largest) return absl::OkStatus();
  if (!absl::c_linear_search(file.label, largest) || absl::c_linear_search(file.label, largest - 1) ||
      absl::c_linear_search(file.prediction, largest)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(file.path, ": array 'label' holds ", largest,
                                                 ", which is -1 (unknown) in an unsigned type: "
                                                 "save it as int64, with -1 for unknown samples"));
}

absl::StatusOr<int32_t> NumClasses(const std::vector<ScoreFile>& files, const std::vector<std::vector<bool>>& keep) {
  const ScoreFile& first = files.front();
  if (first.num_classes.has_value()) {
    const int64_t num_classes = *first.num_classes;
    if (num_classes < 1 || num_classes > kMostClasses) {
      return absl::InvalidArgumentError(
          absl::StrCat(first.path, ": array 'num_classes' is ", num_classes, "; it must lie in 1 .. ", kMostClasses));
    }
    if (first.num_outputs > 0 && num_classes > first.num_outputs) {
      return absl::InvalidArgumentError(absl::StrCat(first.path, ": array 'num_classes' is ", num_classes,
                                                     ", but there are ", first.num_outputs, " logits per sample"));
    }
    return static_cast<int32_t>(num_classes);
  }
  if (first.num_outputs > kMostClasses)
    return absl::InvalidArgumentError(absl::StrCat(first.path, ": too many logits"));
  if (first.num_outputs > 0) return static_cast<int32_t>(first.num_outputs);
  int64_t largest = 0;
  for (size_t f = 0; f < files.size(); ++f) {
    for (int64_t row = 0; row < files[f].num_samples; ++row) {
      if (!keep[f][row]) continue;
      const int64_t prediction = files[f].prediction.empty() ? 0 : files[f].prediction[row];
      for (const auto& [name, value] : {std::pair("label", files[f].label[row]), std::pair("prediction", prediction)}) {
        largest = std::max(largest, value);
        if (value >= kMostClasses) {
          return BadRow(files[f], name, row,
                        absl::StrCat("is ", value, "; classes are numbered from 0, below ", kMostClasses));
        }
      }
    }
  }
  return static_cast<int32_t>(largest + 1);
}

constexpr char kSubtractOne[] = ": the labels seem to begin at 1: subtract 1 from those of known samples";

// Labels 1 .. num_classes.
bool BeginsAtOne(const ScoreFile& file, int32_t num_classes) {
  return absl::c_linear_search(file.label, num_classes) && absl::c_all_of(file.label, [&](int64_t label) {
           return label == kUnknownLabel || (label >= 1 && label <= num_classes);
         });
}

absl::Status CheckRow(const ScoreFile& file, int64_t row, int32_t num_classes) {
  if (file.label[row] < kUnknownLabel || file.label[row] >= num_classes) {
    return BadRow(file, "label", row,
                  absl::StrCat("is ", file.label[row], "; it must lie in 0 .. ", num_classes - 1,
                               ", or be -1 for unknown", BeginsAtOne(file, num_classes) ? kSubtractOne : ""));
  }
  if (!file.prediction.empty() && (file.prediction[row] < 0 || file.prediction[row] >= num_classes)) {
    return BadRow(file, "prediction", row,
                  absl::StrCat("is ", file.prediction[row], "; it must lie in 0 .. ", num_classes - 1));
  }
  if (!file.unknown_score.empty() && std::isnan(file.unknown_score[row])) {
    return BadRow(file, "unknown_score", row, "is NaN");
  }
  bool all_minus_infinity = file.num_outputs > 0;
  for (int64_t c = 0; c < file.num_outputs; ++c) {
    const float logit = file.logits[row * file.num_outputs + c];
    if (!(logit < std::numeric_limits<float>::infinity())) {
      return BadRow(file, "logits", row,
                    absl::StrCat("is ", logit, file.is_table ? "" : absl::StrCat(" at output ", c)),
                    LogitColumn(file, c));
    }
    all_minus_infinity = all_minus_infinity && std::isinf(logit);
  }
  if (all_minus_infinity)
    return BadRow(file, "logits", row, file.is_table ? "all logits are -inf" : "all are -inf", LogitColumn(file, 0));
  return absl::OkStatus();
}

// Whether all rows of a file without logits pass CheckRow(): in one loop without early exit, which is faster.
bool AllRowsAreValid(const ScoreFile& file, int32_t num_classes) {
  bool valid = file.num_outputs == 0;
  for (const int64_t label : file.label) valid &= (label >= kUnknownLabel) & (label < num_classes);
  for (const int64_t prediction : file.prediction) valid &= (prediction >= 0) & (prediction < num_classes);
  for (const double score : file.unknown_score) valid &= !std::isnan(score);
  return valid;
}

// Refuses probabilities, and notes what else the kept logits of a file are.
absl::Status TakeKind(const ScoreFile& file, absl::Span<const float> logits, SampleSet* samples) {
  const OutputKind kind = file.log_probabilities ? OutputKind::kLogProbabilities : KindOf(logits, file.num_outputs);
  switch (kind) {
    case OutputKind::kLogits:
      break;
    case OutputKind::kWithinOne:
      samples->hints.push_back(absl::StrCat(
          file.path,
          ": all logits lie in [0, 1], like sigmoid outputs or rounded probabilities, but scores apply a softmax to "
          "them: if they are probabilities, save the network's outputs before its last activation"));
      break;
    case OutputKind::kProbabilities:
    case OutputKind::kPercentages:
      return absl::InvalidArgumentError(
          absl::StrCat(file.path, ": the logits are softmax outputs (none is negative, each row sums to ",
                       kind == OutputKind::kPercentages ? "100" : "1",
                       "): save the network's outputs before the softmax, or provide unknown_score and prediction "
                       "instead of logits"));
    case OutputKind::kLogProbabilities:
      if (samples->log_probabilities.empty()) samples->log_probabilities = file.path;
      break;
  }
  return absl::OkStatus();
}

// Appends the kept rows of an array, [N, width] or empty.
template <typename From, typename To>
void AppendKept(const From& from, const std::vector<bool>& keep, int64_t width, std::vector<To>* to) {
  if (from.empty()) return;
  const auto rows = static_cast<int64_t>(keep.size());
  for (int64_t begin = 0, end = 0; begin < rows; begin = end) {
    for (end = begin; end < rows && keep[end];) ++end;
    to->insert(to->end(), from.begin() + begin * width, from.begin() + end * width);
    while (end < rows && !keep[end]) ++end;
  }
}

// The same for an array that is not used again: moved if all rows are kept and the result is empty.
template <typename T>
void TakeKept(MaybeBorrowed<T>* from, const std::vector<bool>& keep, int64_t width, MaybeBorrowed<T>* to) {
  if (to->empty() && !absl::c_linear_search(keep, false)) {
    *to = std::move(*from);
  } else {
    AppendKept(*from, keep, width, &to->Own());
  }
}

// Appends what the kept rows say about right and wrong answers. Unknown samples have none.
absl::Status TakeLoss(const ScoreFile& file, const std::vector<bool>& keep, SampleSet* samples) {
  samples->has_classes = !file.only_correct;
  for (int64_t row = 0; row < file.num_samples; ++row) {
    if (!keep[row]) continue;
    const bool is_unknown = file.label[row] == kUnknownLabel;
    const float loss = is_unknown ? 0 : file.loss[row];
    if (file.only_correct && loss != 0 && loss != 1) {
      return BadRow(file, "correct", row,
                    absl::StrCat("is ", 1 - loss, "; it must be 0 or 1 (a 'loss' may lie between)"));
    }
    if (!(loss >= 0 && loss <= 1))
      return BadRow(file, "loss", row, absl::StrCat("is ", loss, "; it must lie in 0 .. 1"));
    if (!file.only_correct) {
      samples->loss.push_back(loss);
    } else {
      samples->prediction.push_back(is_unknown || loss == 1 ? samples->num_classes
                                                            : static_cast<int32_t>(file.label[row]));
    }
  }
  return absl::OkStatus();
}

// Groups of unknown samples, numbered in the order of their first call.
class GroupNumbers {
 public:
  explicit GroupNumbers(const std::map<std::string, Role>& roles) : roles_(roles) {}

  int32_t Number(const std::string& name) {
    const auto [entry, is_new] = number_.try_emplace(name, static_cast<int32_t>(groups.size()));
    if (is_new) {
      const auto role = roles_.find(name);
      const Role of_set = role == roles_.end() ? Role::kNone : role->second;
      groups.push_back({name, of_set == Role::kNear  ? Distance::kNear
                              : of_set == Role::kFar ? Distance::kFar
                                                     : Distance::kUnspecified});
    }
    return entry->second;
  }

  std::vector<Group> groups;

 private:
  const std::map<std::string, Role>& roles_;
  std::map<std::string, int32_t> number_;
};

// The group of each row's unknown sample, 0 for known ones. Sets are numbered in the order of the file's names.
void AppendGroups(const ScoreFile& file, const std::vector<bool>& keep, GroupNumbers* numbers,
                  std::vector<int32_t>* group) {
  const auto is_unknown = [&](int64_t row) { return file.label[row] == kUnknownLabel; };
  const auto set_of = [&](int64_t row) { return file.set.empty() ? -1 : file.set[row]; };
  std::vector<bool> occurs(file.set_names.size());
  bool others = false;
  for (int64_t row = 0; row < file.num_samples; ++row) {
    if (!keep[row] || !is_unknown(row)) continue;
    if (set_of(row) >= 0) {
      occurs[set_of(row)] = true;
    } else {
      others = true;
    }
  }
  std::vector<int32_t> number(occurs.size());
  for (size_t set = 0; set < occurs.size(); ++set) {
    if (occurs[set]) number[set] = numbers->Number(file.set_names[set]);
  }
  const int32_t other = others ? numbers->Number("other unknown") : 0;
  for (int64_t row = 0; row < file.num_samples; ++row) {
    if (!keep[row]) continue;
    group->push_back(!is_unknown(row) ? 0 : set_of(row) >= 0 ? number[set_of(row)] : other);
  }
}

}  // namespace

ScoreInput SampleSet::Outputs() const {
  ScoreInput input;
  input.num_samples = num_samples;
  input.num_outputs = num_outputs;
  input.feature_dim = feature_dim;
  input.logits = logits;
  input.features = features;
  input.head_weight = head_weight;
  input.head_bias = head_bias;
  input.member_uncertainty = member_uncertainty;
  return input;
}

absl::StatusOr<EvaluationInput> SampleSet::Input() const {
  EvaluationInput::Arrays arrays;
  arrays.unknown_score = unknown_score;
  arrays.prediction = prediction;
  arrays.label = label;
  arrays.num_classes = num_classes;
  arrays.group = group;
  arrays.cluster = cluster;
  arrays.loss = loss;
  arrays.has_classes = has_classes;
  const bool own_probabilities = !probability_logits.empty();
  arrays.logits = own_probabilities ? absl::MakeConstSpan(probability_logits) : absl::MakeConstSpan(logits);
  arrays.num_outputs = static_cast<int32_t>(own_probabilities ? probability_outputs : num_outputs);
  return EvaluationInput::Create(arrays);
}

absl::StatusOr<SampleSet> ReadSampleSet(const std::vector<std::string>& paths, const SetRoles& roles,
                                        ScoreDirection direction) {
  std::vector<std::string> unknown = roles.unknown;
  unknown.insert(unknown.end(), roles.near.begin(), roles.near.end());
  unknown.insert(unknown.end(), roles.far.begin(), roles.far.end());
  OPENSET_ASSIGN_OR_RETURN(std::vector<ScoreFile> files, ReadScoreFiles(paths, direction, unknown));
  return MakeSampleSet(std::move(files), roles);
}

absl::StatusOr<SampleSet> SampleSetOf(ScoreFile file, const SetRoles& roles) {
  std::vector<ScoreFile> files;
  files.push_back(std::move(file));
  return MakeSampleSet(std::move(files), roles);
}

absl::StatusOr<SampleSet> MakeSampleSet(std::vector<ScoreFile> files, const SetRoles& roles) {
  NameSetsByFile(&files);
  OPENSET_ASSIGN_OR_RETURN(const auto role_of, RolesByName(roles, files));
  OPENSET_RETURN_IF_ERROR(CheckAgreement(files));
  for (const ScoreFile& file : files) OPENSET_RETURN_IF_ERROR(CheckSets(file));
  OPENSET_RETURN_IF_ERROR(CheckForeignLabels(files, role_of));
  const std::vector<std::vector<bool>> keep = ApplyRoles(role_of, &files);
  for (const ScoreFile& file : files) OPENSET_RETURN_IF_ERROR(CheckUnsignedLabels(file));
  OPENSET_RETURN_IF_ERROR(AgreeOnLoss(&files));

  SampleSet samples;
  samples.path = files.front().path;
  OPENSET_ASSIGN_OR_RETURN(samples.class_names, NumberClasses(keep, &files));
  OPENSET_ASSIGN_OR_RETURN(samples.num_classes, NumClasses(files, keep));
  samples.num_classes_given = files.front().num_classes.has_value();
  samples.num_outputs = files.front().num_outputs;
  samples.feature_dim = files.front().feature_dim;
  samples.head_weight = WithHead(files).head_weight;
  samples.head_bias = WithHead(files).head_bias;
  int64_t rows = 0;
  for (const ScoreFile& file : files) rows += file.num_samples;
  // One file of which all samples are kept: its large arrays are taken as they are.
  const bool is_whole = files.size() == 1 && !absl::c_linear_search(keep.front(), false);
  samples.label.reserve(rows);
  samples.prediction.reserve(rows);
  samples.group.reserve(rows);
  if (!is_whole) {
    if (!files.front().unknown_score.empty()) samples.unknown_score.Own().reserve(rows);
    samples.logits.Own().reserve(rows * samples.num_outputs);
    samples.features.Own().reserve(rows * samples.feature_dim);
  }
  GroupNumbers numbers(role_of);
  std::unordered_map<std::string, int64_t> cluster_of;  // its number
  for (size_t f = 0; f < files.size(); ++f) {
    ScoreFile& file = files[f];
    const bool is_valid = AllRowsAreValid(file, samples.num_classes);
    for (int64_t row = 0; row < file.num_samples && !is_valid; ++row) {
      if (keep[f][row]) OPENSET_RETURN_IF_ERROR(CheckRow(file, row, samples.num_classes));
    }
    const size_t before = samples.logits.size(), features_before = samples.features.size();
    TakeKept(&file.logits, keep[f], file.num_outputs, &samples.logits);
    const absl::Span<const float> logits = absl::MakeConstSpan(samples.logits).subspan(before);
    OPENSET_RETURN_IF_ERROR(TakeKind(file, logits, &samples));
    TakeKept(&file.features, keep[f], file.feature_dim, &samples.features);
    ScoreInput outputs;
    outputs.num_outputs = file.num_outputs;
    outputs.num_samples = file.num_outputs > 0 ? static_cast<int64_t>(logits.size()) / file.num_outputs : 0;
    outputs.logits = logits;
    if (samples.log_probabilities.empty()) {
      outputs.feature_dim = file.feature_dim;
      outputs.features = absl::MakeConstSpan(samples.features).subspan(features_before);
      outputs.head_weight = samples.head_weight;
      outputs.head_bias = samples.head_bias;
      OPENSET_RETURN_IF_ERROR(CheckHead(outputs, file.path));
    }
    if (file.prediction.empty() && file.num_outputs > 0) {
      absl::StatusOr<std::vector<int32_t>> prediction = ClosedSetPrediction(outputs, samples.num_classes);
      if (!prediction.ok()) return Annotate(prediction.status(), file.path);
      samples.prediction.insert(samples.prediction.end(), prediction->begin(), prediction->end());
    }
    AppendGroups(file, keep[f], &numbers, &samples.group);
    for (int64_t row = 0; row < file.num_samples && roles.known.size() >= 2; ++row) {
      if (!keep[f][row]) continue;
      const bool has_set = file.label[row] != kUnknownLabel && !file.set.empty() && file.set[row] >= 0;
      const auto known = has_set ? absl::c_find(roles.known, file.set_names[file.set[row]]) : roles.known.end();
      samples.known_set.push_back(known == roles.known.end() ? -1 : static_cast<int32_t>(known - roles.known.begin()));
    }
    for (size_t row = 0; row < file.cluster.size(); ++row) {
      if (!keep[f][row]) continue;
      const auto next = static_cast<int64_t>(cluster_of.size());
      samples.cluster.push_back(cluster_of.try_emplace(file.cluster[row], next).first->second);
    }
    AppendKept(file.label, keep[f], 1, &samples.label);
    AppendKept(file.prediction, keep[f], 1, &samples.prediction);
    if (!file.loss.empty()) OPENSET_RETURN_IF_ERROR(TakeLoss(file, keep[f], &samples));
    AppendKept(file.member_uncertainty, keep[f], 3, &samples.member_uncertainty);
    TakeKept(&file.unknown_score, keep[f], 1, &samples.unknown_score);
    file = ScoreFile();  // its memory
  }
  samples.num_samples = samples.label.size();
  if (samples.num_samples == 0) return absl::InvalidArgumentError("no samples are left: --skip removes every group");
  samples.groups = std::move(numbers.groups);
  if (roles.known.size() >= 2) samples.known_sets = roles.known;
  const bool has_distances =
      absl::c_any_of(samples.groups, [](const Group& g) { return g.distance != Distance::kUnspecified; });
  if (samples.groups.size() < 2 && !has_distances) {
    samples.group.clear();
    samples.groups.clear();
  }
  return samples;
}

namespace {

// Calls visit(name, array, width, is_required) with each array that has `width` values for each sample or, unless it is
// required, may be empty.
template <typename Samples, typename Visit>
void ForEachArray(Samples& samples, Visit visit) {
  visit("logits", samples.logits, samples.num_outputs, false);
  visit("features", samples.features, samples.feature_dim, false);
  visit("member_uncertainty", samples.member_uncertainty, 3, false);
  visit("known_set", samples.known_set, 1, false);
  visit("cluster", samples.cluster, 1, false);
  visit("label", samples.label, 1, true);
  visit("group", samples.group, 1, true);
  visit("prediction", samples.prediction, 1, false);
  visit("loss", samples.loss, 1, false);
  visit("unknown_score", samples.unknown_score, 1, false);
  visit("probability_logits", samples.probability_logits, samples.probability_outputs, false);
}

absl::Status CheckSizes(const SampleSet& samples) {
  absl::Status status;
  ForEachArray(samples, [&](const char* name, const auto& array, int64_t width, bool is_required) {
    const auto wanted = static_cast<size_t>(samples.num_samples * width);
    if (array.size() == wanted || (array.empty() && !is_required)) return;
    status.Update(absl::InvalidArgumentError(
        absl::StrCat("array '", name, "' has ", array.size(), " values, not ", wanted, " for all samples")));
  });
  return status;
}

}  // namespace

absl::StatusOr<SampleSet> OnlyUnknownSet(SampleSet samples, const std::string& set) {
  if (samples.groups.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no group '", set, "': the unknown samples have no groups"));
  }
  OPENSET_RETURN_IF_ERROR(CheckSizes(samples));
  int32_t number = -1;
  std::vector<std::string> names;
  for (size_t g = 0; g < samples.groups.size(); ++g) {
    names.push_back(samples.groups[g].name);
    if (names.back() == set) number = static_cast<int32_t>(g);
  }
  if (number < 0) return absl::InvalidArgumentError(UnknownName("group", set, names));
  std::vector<bool> keep;
  for (int64_t i = 0; i < samples.num_samples; ++i) {
    keep.push_back(samples.label[i] != kUnknownLabel || samples.group[i] == number);
  }
  ForEachArray(samples, [&](const char* /*name*/, auto& array, int64_t width, bool /*is_required*/) {
    std::vector<typename std::decay_t<decltype(array)>::value_type> kept;
    AppendKept(array, keep, width, &kept);
    array = std::move(kept);
  });
  samples.num_samples = static_cast<int64_t>(samples.label.size());
  samples.group.clear();
  samples.groups.clear();
  return samples;
}

}  // namespace openset
