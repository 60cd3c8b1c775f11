#include "eval/files/score_file.h"

#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/shell_word.h"
#include "eval/files/csv_arrays.h"

namespace openset {
namespace {

std::string Stem(const std::string& path) { return std::filesystem::path(path).stem().string(); }

// Arrays and their layout.
enum class Layout { kOwn, kOpenOod, kFdShifts, kFdShiftsConfidence, kOneArray };

struct RawFile {
  std::string path;
  Layout layout = Layout::kOwn;
  NpzArrays arrays;
  std::vector<std::string> columns;      // of a table
  std::vector<std::string> class_names;  // of a table
  bool is_table = false;
  std::vector<int64_t> lines;                  // of a table
  std::map<std::string, std::string> path_of;  // of arrays from other files than `path`
};

Layout LayoutOf(const std::string& path, const NpzArrays& arrays) {
  const auto has = [&](const char* name) { return arrays.count(name) > 0; };
  if (has("logits") || has("unknown_score")) return Layout::kOwn;
  if (has("conf")) return Layout::kOpenOod;
  if (has("arr_0")) return Stem(path) == "external_confids" ? Layout::kFdShiftsConfidence : Layout::kFdShifts;
  return Layout::kOwn;
}

absl::StatusOr<RawFile> ReadNpyFile(const std::string& argument) {
  const size_t equals = FileExists(argument) ? std::string::npos : argument.find('=');
  RawFile file;
  file.layout = Layout::kOneArray;
  file.path = equals == std::string::npos ? argument : argument.substr(equals + 1);
  const std::string name = equals == std::string::npos ? Stem(file.path) : argument.substr(0, equals);
  OPENSET_ASSIGN_OR_RETURN(NpyArray array, ReadNpy(file.path));
  if (!absl::c_linear_search(ScoreFileArrays(), name)) {
    return absl::InvalidArgumentError(absl::StrCat(file.path,
                                                   ": its name doesn't say which array it is: write ARRAY=", file.path,
                                                   " (known: ", absl::StrJoin(ScoreFileArrays(), ", "), ")"));
  }
  file.arrays[name] = std::move(array);
  return file;
}

// Reads the arrays of an archive that any layout uses. Of the others, only the names are read, for messages: they are
// not inflated, however large they are.
absl::StatusOr<NpzArrays> ReadKnownArrays(const std::string& path) {
  std::vector<std::string> known = ScoreFileArrays();
  known.insert(known.end(), {"conf", "pred", "arr_0"});
  OPENSET_ASSIGN_OR_RETURN(NpzArrays arrays, ReadNpz(path, known));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, NpzNames(path));
  for (const std::string& name : names) arrays.try_emplace(name);
  return arrays;
}

// " (it has a.csv, b.npz)": the first files of scores in a folder, by name; "" without any.
std::string FilesIn(const std::string& folder) {
  constexpr size_t kShown = 5;
  std::set<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string ending = absl::AsciiStrToLower(entry->path().extension().string());
    if (ending == ".npz" || ending == ".npy" || ending == ".csv" || ending == ".tsv") {
      names.insert(OneLine(entry->path().filename().string()));
    }
  }
  if (names.empty()) return "";
  const bool more = names.size() > kShown;
  while (names.size() > kShown) names.erase(std::prev(names.end()));
  return absl::StrCat(" (it has ", absl::StrJoin(names, ", "), more ? ", ...)" : ")");
}

absl::StatusOr<RawFile> ReadRawFile(const std::string& argument) {
  if (argument.empty()) return absl::InvalidArgumentError("the name of a file of scores is empty: name a file");
  std::error_code error;
  if (std::filesystem::is_directory(argument, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(argument, " is a folder: name a file of scores in it", FilesIn(argument)));
  }
  const std::string extension = absl::AsciiStrToLower(std::filesystem::path(argument).extension().string());
  if (extension == ".npy") return ReadNpyFile(argument);
  RawFile file;
  file.path = argument;
  if (extension == ".npz") {
    OPENSET_ASSIGN_OR_RETURN(file.arrays, ReadKnownArrays(argument));
    file.layout = LayoutOf(argument, file.arrays);
    return file;
  }
  if (extension == ".csv" || extension == ".tsv") {
    OPENSET_ASSIGN_OR_RETURN(const std::string text, ReadFile(argument, kMaxTableBytes));
    absl::StatusOr<CsvArrays> table = ParseCsvArrays(text);
    if (!table.ok()) return Annotate(table.status(), argument);
    file.arrays = std::move(table->arrays);
    file.columns = std::move(table->columns);
    file.class_names = std::move(table->class_names);
    file.is_table = true;
    file.lines = std::move(table->lines);
    file.layout = LayoutOf(argument, file.arrays);
    return file;
  }
  return absl::InvalidArgumentError(absl::StrCat(argument, ": files of scores end in .npz, .npy, .csv or .tsv",
                                                 extension.empty() ? "" : ", not in ", extension,
                                                 ConversionText(argument)));
}

// Joins files that each hold some arrays of the same samples.
absl::StatusOr<RawFile> Join(std::vector<RawFile> files) {
  RawFile joined;
  bool has_table = false;
  for (RawFile& file : files) {
    if (file.layout == Layout::kFdShiftsConfidence) {
      auto confidence = file.arrays.extract("arr_0");
      confidence.key() = "confidence";
      file.arrays.insert(std::move(confidence));
    } else if (file.layout != Layout::kOneArray) {
      if (has_table) {
        return absl::InvalidArgumentError(
            absl::StrCat("single arrays go with at most one other file, not with ", joined.path, " and ", file.path));
      }
      has_table = true;
      joined.layout = file.layout;
      joined.class_names = std::move(file.class_names);
    }
    for (auto& [name, array] : file.arrays) {
      joined.path_of[name] = file.path;
      if (!joined.arrays.emplace(name, std::move(array)).second) {
        return absl::InvalidArgumentError(absl::StrCat(file.path, ": array '", name, "' is in another file too"));
      }
    }
    // The table's name, or the labels' file, else the first.
    if (joined.path.empty() || file.layout == joined.layout || file.arrays.count("label") > 0) joined.path = file.path;
  }
  return joined;
}

bool IsText(const NpyArray& array) {
  return absl::StrContains(array.descr, 'U') || absl::StrContains(array.descr, 'S');
}

// Names of classes as their indices in class_names; labels that are blank or 'unknown', unless a class is called that,
// as -1.
absl::Status ReadTexts(const NamedArrays& arrays, const std::string& name, const std::vector<int64_t>& shape,
                       MaybeBorrowed<int64_t>* values) {
  const bool is_label = name == "label";
  if (!arrays.Has("class_names")) {
    return arrays.Problem(name, absl::StrCat("holds texts, and there is no array 'class_names': add it, the names of "
                                             "all known classes in the order of the logits, as in numpy.savez(file, "
                                             "class_names=['cat', 'dog'], ...), or write the index of each class",
                                             is_label ? ", and -1 for unknown samples" : ""));
  }
  std::vector<std::string> names, texts;
  OPENSET_RETURN_IF_ERROR(arrays.Read("class_names", {-1}, &ToTexts, &names));
  OPENSET_RETURN_IF_ERROR(arrays.Read(name, shape, &ToTexts, &texts));
  std::map<std::string, int64_t> index;
  for (const std::string& known : names) index.try_emplace(known, index.size());
  for (size_t row = 0; row < texts.size(); ++row) {
    const auto found = index.find(texts[row]);
    const bool is_unknown = texts[row].empty() || SaysUnknown(texts[row]);
    if (found == index.end() && !(is_label && is_unknown)) {
      return arrays.Problem(name, absl::StrCat("row ", row, ": '", OneLine(texts[row]), "' is none of class_names",
                                               is_label ? "; unknown samples have the label '' or 'unknown'" : ""));
    }
    values->Own().push_back(found == index.end() ? -1 : found->second);
  }
  return absl::OkStatus();
}

// Whether labels or predictions are names of classes.
bool HasTexts(const NamedArrays& arrays) {
  for (const char* name : {"label", "prediction"}) {
    const absl::StatusOr<const NpyArray*> array = arrays.Get(name, {-1});
    if (array.ok() && IsText(**array)) return true;
  }
  return false;
}

absl::Status ReadLabels(const NamedArrays& arrays, ScoreFile* file) {
  OPENSET_ASSIGN_OR_RETURN(const NpyArray* array, arrays.Get("label", {-1}));
  if (IsText(*array)) return ReadTexts(arrays, "label", {-1}, &file->label);
  if (absl::EndsWith(array->descr, "b1")) {
    return arrays.Problem("label",
                          "holds True and False; it must hold the classes of known samples, and -1 for unknown ones");
  }
  if (array->descr.size() > 1 && array->descr[1] == 'u') {
    const absl::string_view bytes = absl::string_view(array->descr).substr(2);
    file->largest_label = bytes == "1" ? 255 : bytes == "2" ? 65535 : bytes == "4" ? 4294967295 : 0;
  }
  return arrays.Read("label", {-1}, &ToInt64, &file->label);
}

absl::Status ReadClusters(const NamedArrays& arrays, int64_t n, ScoreFile* file) {
  OPENSET_ASSIGN_OR_RETURN(const NpyArray* array, arrays.Get("cluster", {n}));
  if (absl::StrContains(array->descr, 'U')) return arrays.Read("cluster", {n}, &ToTexts, &file->cluster);
  std::vector<int64_t> numbers;
  OPENSET_RETURN_IF_ERROR(arrays.Read("cluster", {n}, &ToInt64, &numbers));
  for (const int64_t number : numbers) file->cluster.push_back(absl::StrCat(number));
  return absl::OkStatus();
}

// Sets by name, an empty one for none, or by index into group_names.
absl::Status ReadGroups(const NamedArrays& arrays, int64_t n, ScoreFile* file) {
  OPENSET_ASSIGN_OR_RETURN(const NpyArray* array, arrays.Get("group", {n}));
  if (absl::StrContains(array->descr, 'U')) {
    if (arrays.Has("group_names")) {
      return arrays.Problem("group", "has names, and 'group_names' is for indices: leave 'group_names' out");
    }
    std::vector<std::string> names;
    OPENSET_RETURN_IF_ERROR(arrays.Read("group", {n}, &ToTexts, &names));
    std::map<std::string, int64_t> index;
    for (const std::string& name : names) {
      const bool is_new = !name.empty() && index.try_emplace(name, file->set_names.size()).second;
      if (is_new) file->set_names.push_back(OneLine(name));
      file->set.Own().push_back(name.empty() ? -1 : index.at(name));
    }
    return absl::OkStatus();
  }
  OPENSET_RETURN_IF_ERROR(arrays.Read("group", {n}, &ToInt64, &file->set));
  if (arrays.Has("group_names")) {
    OPENSET_RETURN_IF_ERROR(arrays.Read("group_names", {-1}, &ToTexts, &file->set_names));
    for (std::string& name : file->set_names) name = OneLine(name);
    return absl::OkStatus();
  }
  const int64_t largest = *absl::c_max_element(file->set);
  if (largest >= n + 1000) return arrays.Problem("group", absl::StrCat("holds the number ", largest));
  for (int64_t g = 0; g <= largest; ++g) file->set_names.push_back(absl::StrCat("group ", g));
  return absl::OkStatus();
}

// Whether each answer is right, or how bad it is, where there are no predictions.
absl::Status ReadLoss(const NamedArrays& arrays, ScoreFile* file) {
  const bool is_correct = arrays.Has("correct");
  const char* const name = is_correct ? "correct" : "loss";
  for (const char* other : {"prediction", "logits", is_correct ? "loss" : "prediction"}) {
    if (arrays.Has(other)) {
      return arrays.Problem(name, absl::StrCat("is there next to '", other, "': keep one of them"));
    }
  }
  OPENSET_ASSIGN_OR_RETURN(const NpyArray* array, arrays.Get(name, {-1}));
  if (absl::EndsWith(array->descr, "b1")) {
    std::vector<int64_t> whole;
    OPENSET_RETURN_IF_ERROR(arrays.Read(name, {-1}, &ToInt64, &whole));
    file->loss.assign(whole.begin(), whole.end());
  } else {
    OPENSET_RETURN_IF_ERROR(arrays.Read(name, {-1}, &ToFloat, &file->loss));
  }
  if (file->loss.empty()) return arrays.Problem(name, "is empty");
  file->only_correct = is_correct;
  if (is_correct) {
    for (float& loss : file->loss) loss = 1 - loss;
  }
  return absl::OkStatus();
}

// The names of the classes, in the order of the logits. Precondition: num_outputs and num_classes have been read.
absl::Status ReadClassNames(const NamedArrays& arrays, ScoreFile* file) {
  std::vector<std::string> names;
  OPENSET_RETURN_IF_ERROR(arrays.Read("class_names", {-1}, &ToTexts, &names));
  const int64_t named = file->num_outputs > 0 ? file->num_outputs : static_cast<int64_t>(names.size());
  const int64_t classes = file->num_classes.value_or(named);
  if (static_cast<int64_t>(names.size()) != classes) {
    return arrays.Problem("class_names", absl::StrCat("has ", names.size(), " names of ", classes, " classes"));
  }
  std::set<std::string> seen;
  for (std::string& name : names) {
    name = OneLine(name);
    if (!seen.insert(name).second) return arrays.Problem("class_names", absl::StrCat("has '", name, "' twice"));
  }
  file->class_names = std::move(names);
  return absl::OkStatus();
}

absl::Status ReadOwn(const NamedArrays& arrays, ScoreDirection direction, ScoreFile* file) {
  if (arrays.Has("correct") || arrays.Has("loss")) OPENSET_RETURN_IF_ERROR(ReadLoss(arrays, file));
  if (arrays.Has("label") || file->loss.empty()) {
    OPENSET_RETURN_IF_ERROR(ReadLabels(arrays, file));
  } else {
    file->label = std::vector<int64_t>(file->loss.size(), 0);
  }
  const int64_t n = file->num_samples = file->label.size();
  if (n == 0) return arrays.Problem(arrays.Has("logits") ? "logits" : "label", "is empty");
  if (!file->loss.empty() && static_cast<int64_t>(file->loss.size()) != n) {
    return arrays.Problem(file->only_correct ? "correct" : "loss",
                          absl::StrCat("has ", file->loss.size(), " values for ", n, " labels"));
  }
  if (arrays.Has("logits")) {
    OPENSET_ASSIGN_OR_RETURN(const NpyArray* logits, arrays.Get("logits", {n, -1}));
    file->num_outputs = logits->shape[1];
    if (file->num_outputs == 0) return arrays.Problem("logits", "has no outputs");
    OPENSET_RETURN_IF_ERROR(arrays.Read("logits", {n, -1}, &ToFloat, &file->logits));
  }
  if (arrays.Has("features")) {
    OPENSET_ASSIGN_OR_RETURN(const NpyArray* features, arrays.Get("features", {n, -1}));
    file->feature_dim = features->shape[1];
    OPENSET_RETURN_IF_ERROR(arrays.Read("features", {n, -1}, &ToFloat, &file->features));
  }
  if (arrays.Has("head_weight")) {
    OPENSET_RETURN_IF_ERROR(
        arrays.Read("head_weight", {file->num_outputs, file->feature_dim}, &ToFloat, &file->head_weight));
  }
  if (arrays.Has("head_bias")) {
    OPENSET_RETURN_IF_ERROR(arrays.Read("head_bias", {file->num_outputs}, &ToFloat, &file->head_bias));
  }
  if (arrays.Has("member_uncertainty")) {
    OPENSET_RETURN_IF_ERROR(arrays.Read("member_uncertainty", {n, 3}, &ToFloat, &file->member_uncertainty));
  }
  if (arrays.Has("prediction")) {
    OPENSET_ASSIGN_OR_RETURN(const NpyArray* prediction, arrays.Get("prediction", {n}));
    OPENSET_RETURN_IF_ERROR(IsText(*prediction) ? ReadTexts(arrays, "prediction", {n}, &file->prediction)
                                                : arrays.Read("prediction", {n}, &ToInt64, &file->prediction));
  }
  if (arrays.Has("unknown_score")) {
    OPENSET_RETURN_IF_ERROR(arrays.Read("unknown_score", {n}, &ToDouble, &file->unknown_score));
    if (direction == ScoreDirection::kHigherIsKnown) {
      for (double& score : file->unknown_score.Own()) score = -score;
    }
  } else if (direction == ScoreDirection::kHigherIsKnown) {
    return arrays.Missing("unknown_score");
  }
  if (arrays.Has("group")) OPENSET_RETURN_IF_ERROR(ReadGroups(arrays, n, file));
  if (arrays.Has("cluster")) OPENSET_RETURN_IF_ERROR(ReadClusters(arrays, n, file));
  if (arrays.Has("num_classes")) {
    OPENSET_ASSIGN_OR_RETURN(const int64_t num_classes, arrays.ReadOne("num_classes"));
    file->num_classes = num_classes;
  }
  if (arrays.Has("class_names") && !arrays.IsTable() && (file->num_outputs > 0 || HasTexts(arrays))) {
    OPENSET_RETURN_IF_ERROR(ReadClassNames(arrays, file));
  }
  if (file->unknown_score.empty() && file->logits.empty()) {
    return arrays.Missing(arrays.IsTable() ? "unknown_score' or 'logit_0" : "unknown_score' or 'logits");
  }
  return absl::OkStatus();
}

absl::Status ReadOpenOod(const NamedArrays& arrays, ScoreFile* file) {
  OPENSET_RETURN_IF_ERROR(ReadLabels(arrays, file));
  const int64_t n = file->num_samples = file->label.size();
  if (n == 0) return arrays.Problem("label", "is empty");
  if (arrays.Has("pred")) OPENSET_RETURN_IF_ERROR(arrays.Read("pred", {n}, &ToInt64, &file->prediction));
  OPENSET_RETURN_IF_ERROR(arrays.Read("conf", {n}, &ToDouble, &file->unknown_score));
  for (double& score : file->unknown_score.Own()) score = -score;
  file->set = std::vector<int64_t>(n, 0);
  file->set_names = {Stem(file->path)};
  file->labels_depend_on_set = true;
  return absl::OkStatus();
}

absl::Status ReadFdShifts(const NamedArrays& arrays, ScoreFile* file) {
  if (arrays.Has("arr_1")) {
    return arrays.Problem("arr_0",
                          "is an array without a name, as numpy.savez(file, a, b) saves it: name all of them, "
                          "as in numpy.savez(file, label=..., logits=...)");
  }
  const absl::StatusOr<const NpyArray*> found = arrays.Get("arr_0", {-1, -1});
  if (!found.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(found.status().message(),
                     ": FD-Shifts' raw_logits.npz and raw_output.npz have a row of outputs, label and data "
                     "set for each sample (outputs of several passes, raw_logits_dist.npz, aren't read); "
                     "other arrays need names, as in numpy.savez(file, label=..., logits=...)"));
  }
  const NpyArray* const shape = *found;
  const int64_t n = file->num_samples = shape->shape[0];
  const int64_t columns = shape->shape[1];
  if (n == 0) return arrays.Problem("arr_0", "is empty");
  if (columns < 3) {
    return arrays.Problem(
        "arr_0", absl::StrCat("has ", columns, " columns; logits, label and data set (FD-Shifts) need at least 3"));
  }
  std::vector<double> values;
  OPENSET_RETURN_IF_ERROR(arrays.Read("arr_0", {n, columns}, &ToDouble, &values));
  const bool probabilities = absl::StartsWith(Stem(file->path), "raw_output");
  file->log_probabilities = probabilities;
  file->num_outputs = columns - 2;
  std::vector<float>& logits = file->logits.Own();
  logits.reserve(n * file->num_outputs);
  std::map<int64_t, int64_t> samples_of_set;
  for (int64_t row = 0; row < n; ++row) {
    const double* begin = &values[row * columns];
    for (int64_t c = 0; c < columns - 2; ++c) {
      if (probabilities && !(begin[c] >= 0 && begin[c] <= 1.001)) {
        return arrays.Problem("arr_0", absl::StrCat("holds ", begin[c], ", no probability, in row ", row));
      }
      logits.push_back(static_cast<float>(probabilities ? std::log(begin[c]) : begin[c]));
    }
    for (int64_t c = columns - 2; c < columns; ++c) {
      if (begin[c] != std::floor(begin[c]) || std::abs(begin[c]) > 1e9) {
        return arrays.Problem("arr_0", absl::StrCat("holds ", begin[c], " as ", c + 1 == columns ? "data set" : "label",
                                                    " in row ", row, ", not a whole number"));
      }
    }
    file->label.Own().push_back(static_cast<int64_t>(begin[columns - 2]));
    file->set.Own().push_back(static_cast<int64_t>(begin[columns - 1]));
    ++samples_of_set[file->set.Own().back()];
  }
  std::map<int64_t, int64_t> index;
  for (const auto& [set, samples] : samples_of_set) {
    index[set] = file->set_names.size();
    file->set_names.push_back(absl::StrCat(set));
  }
  for (int64_t& set : file->set.Own()) set = index[set];
  file->labels_depend_on_set = file->set_names.size() > 1;
  if (arrays.Has("confidence")) {
    OPENSET_RETURN_IF_ERROR(arrays.Read("confidence", {n}, &ToDouble, &file->unknown_score));
    for (double& score : file->unknown_score.Own()) score = -score;
  }
  return absl::OkStatus();
}

// The labels of a file without labels whose samples are all unknown.
void AddUnknownLabels(RawFile* file) {
  if (file->layout != Layout::kOwn || file->arrays.count("label") > 0) return;
  for (const char* name : {"unknown_score", "logits"}) {
    const auto array = file->arrays.find(name);
    if (array == file->arrays.end() || array->second.shape.empty()) continue;
    const int64_t samples = array->second.shape[0];
    if (samples > 0 && array->second.size() == 0) continue;  // of no width: as many as the file claims
    file->arrays["label"] = MakeNpy(std::vector<int64_t>(samples, -1), {samples});
    return;
  }
}

absl::StatusOr<ScoreFile> Interpret(const RawFile& raw, ScoreDirection direction) {
  NamedArrays arrays(raw.path, raw.arrays, raw.columns);
  arrays.SetPaths(raw.path_of);
  ScoreFile file;
  file.path = raw.path;
  file.class_names = raw.class_names;
  file.is_table = raw.is_table;
  file.lines = raw.lines;
  if (arrays.Has("pred") && arrays.Has("prediction")) {
    return arrays.Problem("pred", "is there next to 'prediction': keep one of them");
  }
  if (direction == ScoreDirection::kHigherIsKnown && raw.layout != Layout::kOwn && raw.layout != Layout::kOneArray) {
    return absl::InvalidArgumentError(
        absl::StrCat(raw.path, ": has confidences (larger = more known) in this layout; leave out --higher_is_known"));
  }
  switch (raw.layout) {
    case Layout::kOwn:
    case Layout::kOneArray:
      OPENSET_RETURN_IF_ERROR(ReadOwn(arrays, direction, &file));
      break;
    case Layout::kOpenOod:
      OPENSET_RETURN_IF_ERROR(ReadOpenOod(arrays, &file));
      break;
    case Layout::kFdShifts:
      OPENSET_RETURN_IF_ERROR(ReadFdShifts(arrays, &file));
      break;
    case Layout::kFdShiftsConfidence:
      return absl::InvalidArgumentError(absl::StrCat(raw.path,
                                                     ": holds confidences only; give raw_logits.npz or "
                                                     "raw_output.npz of the same folder too"));
  }
  return file;
}

}  // namespace

std::string ConversionText(const std::string& path) {
  // What reads the file, as a table or as arrays by name, in Python.
  struct Reader {
    const char* ending;
    bool is_table;
    const char* package;
    const char* call;
  };
  constexpr Reader kReaders[] = {{".parquet", true, "pandas", "pandas.read_parquet(f)"},
                                 {".feather", true, "pandas", "pandas.read_feather(f)"},
                                 {".json", true, "pandas", "pandas.read_json(f)"},
                                 {".jsonl", true, "pandas", "pandas.read_json(f, lines=True)"},
                                 {".xlsx", true, "pandas", "pandas.read_excel(f)"},
                                 {".xls", true, "pandas", "pandas.read_excel(f)"},
                                 {".txt", true, "pandas", "pandas.read_csv(f, sep=None, engine='python')"},
                                 {".pkl", false, "numpy, pandas", "pandas.read_pickle(f)"},
                                 {".pickle", false, "numpy, pandas", "pandas.read_pickle(f)"},
                                 {".h5", false, "numpy, h5py", "{k: v[()] for k, v in h5py.File(f).items()}"},
                                 {".hdf5", false, "numpy, h5py", "{k: v[()] for k, v in h5py.File(f).items()}"}};
  const std::string ending = absl::AsciiStrToLower(std::filesystem::path(path).extension().string());
  const auto* const reader = absl::c_find_if(kReaders, [&](const Reader& one) { return ending == one.ending; });
  if (reader == std::end(kReaders)) return "";
  const std::string to = std::filesystem::path(path).replace_extension(reader->is_table ? ".csv" : ".npz").string();
  return absl::StrCat(
      ": python3 -c \"import sys, ", reader->package, "; f, to = sys.argv[1:]; ",
      reader->is_table ? absl::StrCat(reader->call, ".to_csv(to, index=False)")
                       : absl::StrCat("numpy.savez(to, **", reader->call, ")"),
      "\" ", ShellWord(OneLine(path)), " ", ShellWord(OneLine(to)), " converts it",
      absl::StartsWith(ending, ".p") && !reader->is_table ? " (a pickle runs code: only your own)" : "");
}

const std::vector<std::string>& ScoreFileArrays() {
  static const auto* names = new std::vector<std::string>{
      "logits",     "features",    "head_weight",   "head_bias",          "label",   "group",   "group_names",
      "prediction", "num_classes", "unknown_score", "member_uncertainty", "cluster", "correct", "loss",
      "class_names"};
  return *names;
}

absl::StatusOr<ScoreFile> ScoreFileOf(const std::string& path, const NamedArrays& arrays, ScoreDirection direction) {
  ScoreFile file;
  file.path = path;
  OPENSET_RETURN_IF_ERROR(ReadOwn(arrays, direction, &file));
  return file;
}

absl::StatusOr<std::vector<ScoreFile>> ReadScoreFiles(const std::vector<std::string>& files, ScoreDirection direction,
                                                      const std::vector<std::string>& unknown) {
  std::vector<RawFile> raw;
  bool by_array = false;
  for (const std::string& file : files) {
    OPENSET_ASSIGN_OR_RETURN(raw.emplace_back(), ReadRawFile(file));
    by_array |= raw.back().layout == Layout::kOneArray || raw.back().layout == Layout::kFdShiftsConfidence;
  }
  if (by_array && raw.size() > 1) {
    OPENSET_ASSIGN_OR_RETURN(RawFile joined, Join(std::move(raw)));
    raw.clear();
    raw.push_back(std::move(joined));
  }
  std::vector<ScoreFile> result;
  for (RawFile& file : raw) {
    if (absl::c_linear_search(unknown, Stem(file.path))) AddUnknownLabels(&file);
    OPENSET_ASSIGN_OR_RETURN(result.emplace_back(), Interpret(file, direction));
  }
  return result;
}

}  // namespace openset
