// Compares random calls of the library with the program on files: command_test OPENSET [--calls=N] [--seed=N].
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/files/formats/npy.h"
#include "core/files/formats/npz.h"
#include "core/process/subprocess.h"
#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "tools/python/library/openset.h"

namespace openset {
namespace {

std::string program;
int calls = 40;
uint64_t seed = 1;

struct Set {
  std::string name;
  NpzArrays arrays;
};

template <typename T>
T OneOf(RandomStream* random, const std::vector<T>& values) {
  return values[random->Below(values.size())];
}

// Outputs of one network for each number of classes, with informative features. `ties`: some logits are the same.
Set RandomSet(RandomStream* random, const std::string& name, int64_t n, int64_t k, bool ties, bool groups) {
  const int64_t d = 4;
  std::vector<int64_t> label(n), group(n, -1);
  std::vector<float> logits(n * k), features(n * d), weight(k * d), bias(k);
  RandomStream network(static_cast<uint64_t>(k), "network");
  for (int64_t i = 0; i < k * d; ++i) {
    weight[i] = static_cast<float>(std::round(network.Normal())) + (i / d % d == i % d ? 2.0f : 0);
  }
  for (float& value : bias) value = static_cast<float>(std::round(network.Normal()));
  for (int64_t row = 0; row < n; ++row) {
    label[row] = row < k ? row : row < 2 * k || random->Below(3) == 0 ? -1 : static_cast<int64_t>(random->Below(k));
    if (label[row] < 0) group[row] = static_cast<int64_t>(random->Below(3)) - 1;
    for (int64_t i = 0; i < d; ++i) {
      float& feature = features[row * d + i];
      feature = static_cast<float>(random->Normal()) + (label[row] % d == i ? 1.5f : 0);
      if (ties) feature = std::round(4 * feature) / 4;
    }
    for (int64_t c = 0; c < k; ++c) {
      logits[row * k + c] = bias[c];
      for (int64_t i = 0; i < d; ++i) logits[row * k + c] += weight[c * d + i] * features[row * d + i];
    }
  }
  Set set{name, {}};
  set.arrays["label"] = MakeNpy(label, {n});
  set.arrays["logits"] = MakeNpy(logits, {n, k});
  set.arrays["features"] = MakeNpy(features, {n, d});
  set.arrays["head_weight"] = MakeNpy(weight, {k, d});
  set.arrays["head_bias"] = MakeNpy(bias, {k});
  if (groups) {
    set.arrays["group"] = MakeNpy(group, {n});
    set.arrays["group_names"] = MakeNpy({"svhn", "cifar100"});
  }
  return set;
}

// Replaces logits by scores.
void OnlyScore(RandomStream* random, bool with_prediction, Set* set) {
  const std::vector<int64_t> label = *ToInt64(set->arrays["label"]);
  const auto n = static_cast<int64_t>(label.size());
  std::vector<double> score(n);
  std::vector<int64_t> prediction(n);
  for (int64_t row = 0; row < n; ++row) {
    score[row] = random->Normal() + (label[row] < 0);
    prediction[row] = random->Below(4) == 0 || label[row] < 0 ? 0 : label[row];
  }
  for (const char* name : {"logits", "features", "head_weight", "head_bias"}) set->arrays.erase(name);
  set->arrays["unknown_score"] = MakeNpy(score, {n});
  if (with_prediction) set->arrays["prediction"] = MakeNpy(prediction, {n});
}

// A call and the equivalent command; files come between `command` and `flags`.
struct Case {
  std::string request;
  std::vector<std::string> command, flags;
  std::vector<Set> sets;
  int fit = -1;
};

Case RandomCase(RandomStream* random) {
  Case random_case;
  const int64_t k = 3 + static_cast<int64_t>(random->Below(5));
  const int64_t n = 3 * k + static_cast<int64_t>(random->Below(200));
  const bool ties = random->Below(2) == 0, groups = random->Below(2) == 0;
  const int kind = static_cast<int>(random->Below(4));  // evaluate, score, compare, threshold
  const int count = kind == 2 ? 2 + static_cast<int>(random->Below(2)) : kind == 3 ? 2 : 1;
  for (int i = 0; i < count; ++i) {
    // Compared methods are of the same samples.
    random_case.sets.push_back(RandomSet(random, absl::StrCat("set", i), n, k, ties, groups));
    for (const char* name : {"label", "group"}) {
      if (kind == 2 && random_case.sets[0].arrays.count(name) > 0) {
        random_case.sets[i].arrays[name] = random_case.sets[0].arrays[name];
      }
    }
  }
  std::string samples;
  const std::vector<std::string> fitted = {"knn { k: 3 }", "mahalanobis {}", "vim { principal_dim: 2 }",
                                           "relative_mahalanobis {}"};
  const std::vector<std::string> plain = {
      "energy", "max_logit", "gen { top: 2 }", "entropy", "max_softmax", "energy { temperature: 2 }", "no_such_score"};
  if (kind != 1 && random->Below(4) == 0) {
    const bool with_prediction = random->Below(2) == 0;
    for (Set& set : random_case.sets) OnlyScore(random, with_prediction, &set);
  } else if (random->Below(2) == 0) {
    const std::string& score = OneOf(random, fitted);
    samples = absl::StrCat("score: '", score, "'");
    random_case.flags.push_back(absl::StrCat("--score=", score));
    random_case.fit = static_cast<int>(random_case.sets.size());
    random_case.sets.push_back(RandomSet(random, "fit", 20 * k, k, false, false));
  } else {
    const std::string& score = OneOf(random, plain);
    samples = absl::StrCat("score: '", score, "'");
    random_case.flags.push_back(absl::StrCat("--score=", score));
  }
  if (groups && kind != 2 && random->Below(2) == 0) {
    absl::StrAppend(&samples, " near: 'cifar100' far: 'svhn'");
    random_case.flags.insert(random_case.flags.end(), {"--near=cifar100", "--far=svhn"});
  }
  if (random->Below(10) == 0) {
    absl::StrAppend(&samples, " skip: 'svhm'");  // there is no such set
    random_case.flags.push_back("--skip=svhm");
  }
  const int replicates = 20 + static_cast<int>(random->Below(30));
  const int bootstrap_seed = static_cast<int>(random->Below(1000));
  const std::string& method = OneOf<std::string>(random, {"bca", "percentile", "delong"});
  const std::string interval =
      absl::StrCat("interval { replicates: ", replicates, " seed: ", bootstrap_seed, " ci_method: '", method, "' }");
  const std::vector<std::string> interval_flags = {absl::StrCat("--replicates=", replicates),
                                                   absl::StrCat("--seed=", bootstrap_seed),
                                                   absl::StrCat("--ci_method=", method)};
  const std::string metrics = OneOf<std::string>(
      random, {"", "auroc", "auroc, openauc, aurc", "partial_openauc { max_ofpr: 0.2 }", "AUC, fpr95"});
  const auto with_flags = [&](const std::vector<std::string>& more) {
    random_case.flags.insert(random_case.flags.end(), more.begin(), more.end());
  };
  if (kind == 0) {
    std::string convention;
    if (metrics.empty() && random->Below(2) == 0) convention = OneOf<std::string>(random, {"openood", "oe", "arpl"});
    const bool ci = random->Below(4) == 0;
    random_case.request = absl::StrCat("evaluate { samples { ", samples, " } metrics: '", metrics, "' ",
                                       convention.empty() ? "" : absl::StrCat("convention: '", convention, "' "),
                                       ci ? "ci: true " : "", interval, " }");
    random_case.command = {"eval"};
    with_flags(interval_flags);
    if (!metrics.empty()) with_flags({absl::StrCat("--metrics=", metrics)});
    if (!convention.empty()) with_flags({absl::StrCat("--convention=", convention)});
    if (ci) with_flags({"--ci"});
  } else if (kind == 1) {
    random_case.request = absl::StrCat("score { ", samples, " }");
    random_case.command = {"eval"};
    with_flags({"--metrics=auroc"});
  } else if (kind == 2) {
    const std::string group = groups && random->Below(2) == 0 ? "svhn" : "pool";
    random_case.request = absl::StrCat("compare { samples { ", samples, " } metrics: '", metrics, "' group: '", group,
                                       "' ", interval, " }");
    random_case.command = {"compare"};
    with_flags(interval_flags);
    if (!metrics.empty()) with_flags({absl::StrCat("--metrics=", metrics)});
    with_flags({absl::StrCat("--group=", group)});
  } else {
    const std::string& rule = OneOf<std::string>(
        random, {"known_accepted", "conformal", "unknown_rejected", "risk", "youden_macro", "risks"});
    const std::string& target = OneOf<std::string>(random, {"0.5", "0.9", "0.123", "2"});
    random_case.request =
        absl::StrCat("threshold { samples { ", samples, " } rule: '", rule, "' target: ", target, " }");
    random_case.command = {"threshold"};
    with_flags({absl::StrCat("--rule=", rule), absl::StrCat("--target=", target)});
  }
  return random_case;
}

// Arrays as a caller passes them; some are column-major.
class Memory {
 public:
  void Add(RandomStream* random, int32_t set, const std::string& name, const NpyArray& array) {
    Kept& kept = kept_.emplace_back();
    kept.name = name;
    kept.array = array;
    OpensetArray view = {};
    view.set = set;
    view.rank = static_cast<int32_t>(array.shape.size());
    view.item_bytes = static_cast<int64_t>(array.data.size()) / array.size();
    if (array.shape.size() == 2 && random->Below(2) == 0) {
      const int64_t rows = array.shape[0], columns = array.shape[1], bytes = view.item_bytes;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) {
          kept.array.data.replace((c * rows + r) * bytes, bytes, array.data, (r * columns + c) * bytes, bytes);
        }
      }
      kept.strides = {bytes, rows * bytes};
    }
    view.name = kept.name.c_str();
    view.type = kept.array.descr.c_str();
    view.data = kept.array.data.data();
    view.shape = kept.array.shape.data();
    view.strides = kept.strides.empty() ? nullptr : kept.strides.data();
    views_.push_back(view);
  }

  const std::vector<OpensetArray>& views() const { return views_; }

 private:
  struct Kept {
    std::string name;
    NpyArray array;
    std::vector<int64_t> strides;
  };
  std::deque<Kept> kept_;
  std::vector<OpensetArray> views_;
};

// The program's output or error, with the sets' names instead of files.
std::pair<bool, std::string> AskProgram(const Case& asked, const std::string& folder, std::string scores_path) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), asked.command.begin(), asked.command.end());
  for (size_t i = 0; i < asked.sets.size(); ++i) {
    const std::string path = JoinPath(folder, asked.sets[i].name + ".npz");
    std::remove(path.c_str());
    EXPECT_TRUE(WriteNpz(path, asked.sets[i].arrays).ok());
    words.push_back(static_cast<int>(i) == asked.fit ? absl::StrCat("--fit=", path) : path);
  }
  words.insert(words.end(), asked.flags.begin(), asked.flags.end());
  words.push_back("--format=json");
  if (!scores_path.empty()) words.push_back(absl::StrCat("--sample_scores=", scores_path));
  const absl::StatusOr<std::string> printed = CaptureOutput(words);
  if (printed.ok()) return {true, *printed};
  std::string message(printed.status().message());
  for (const Set& set : asked.sets) {
    const std::string path = JoinPath(folder, set.name + ".npz");
    for (size_t at; (at = message.find(path)) != std::string::npos;) message.replace(at, path.size(), set.name);
  }
  return {false, message};
}

TEST(CommandTest, CallsEqualTheCommand) {
  const std::string folder = testing::TempDir();
  int done = 0, refused = 0;
  for (int call = 0; call < calls; ++call) {
    RandomStream random(seed, absl::StrCat("call ", call));
    const Case asked = RandomCase(&random);
    SCOPED_TRACE(absl::StrCat("--seed=", seed, ", call ", call, ": ", asked.request));
    Memory memory;
    std::string request;
    for (size_t i = 0; i < asked.sets.size(); ++i) {
      absl::StrAppend(&request, "set: '", asked.sets[i].name, "' ");
      for (const auto& [name, array] : asked.sets[i].arrays) memory.Add(&random, i, name, array);
    }
    if (asked.fit >= 0) absl::StrAppend(&request, "fit: ", asked.fit, " ");
    request += asked.request;
    OpensetAnswer* const answer =
        openset_call(request.data(), request.size(), memory.views().data(), memory.views().size());
    int64_t length = 0;
    const char* const text = openset_text(answer, &length);
    const std::string found(text, length);
    const bool is_score = asked.request.rfind("score", 0) == 0;
    const std::string scores_path = is_score ? JoinPath(folder, "scores.npz") : "";
    const auto [ok, expected] = AskProgram(asked, folder, scores_path);
    EXPECT_EQ(openset_code(answer), ok ? 0 : 2) << found << "\n" << expected;
    if (!ok) {
      ++refused;
      EXPECT_THAT(expected, testing::HasSubstr(found));
    } else if (is_score) {
      ++done;
      ASSERT_OK_AND_ASSIGN(const NpzArrays file, ReadNpz(scores_path));
      const auto* const score = static_cast<const double*>(openset_array(answer, "unknown_score", &length));
      EXPECT_EQ(std::vector<double>(score, score + length), *ToDouble(file.at("unknown_score")));
      const auto* const prediction = static_cast<const int64_t*>(openset_array(answer, "prediction", &length));
      EXPECT_EQ(std::vector<int64_t>(prediction, prediction + length), *ToInt64(file.at("prediction")));
    } else {
      ++done;
      EXPECT_EQ(found, expected);
    }
    openset_free(answer);
  }
  std::printf("%d calls agree, %d of them in their error\n", done + refused, refused);
  EXPECT_GT(done, calls / 3);
}

// A detector that the command has saved decides the same about 100,000 samples in C.
TEST(CommandTest, DetectorsDecideTheSame) {
  const std::string folder = testing::TempDir(), detector = JoinPath(folder, "detector.npz");
  RandomStream random(5, "detector");
  const Set validation = RandomSet(&random, "validation", 300, 3, false, false);
  const Set fit = RandomSet(&random, "fit", 200, 3, false, false);
  Set outputs = RandomSet(&random, "outputs", 100000, 3, false, false);
  for (const char* name : {"head_weight", "head_bias"}) outputs.arrays.erase(name);
  for (const Set* set : {&validation, &fit, static_cast<const Set*>(&outputs)}) {
    const std::string path = JoinPath(folder, set->name + ".npz");
    std::remove(path.c_str());
    ASSERT_TRUE(WriteNpz(path, set->arrays).ok());
  }
  const auto path_of = [&](const char* name) { return JoinPath(folder, absl::StrCat(name, ".npz")); };
  ASSERT_OK_AND_ASSIGN(const std::string saved,
                       CaptureOutput({program, "detector", "save", path_of("validation"), "--score=knn { k: 5 }",
                                      absl::StrCat("--fit=", path_of("fit")), "--rule=conformal", "--target=0.9",
                                      absl::StrCat("--out=", detector)}));
  EXPECT_THAT(saved,
              testing::HasSubstr("guarantee: a new known sample is accepted with a probability of at least 0.9"));
  ASSERT_OK_AND_ASSIGN(const std::string table,
                       CaptureOutput({program, "detector", "apply", detector, path_of("outputs")}));

  Memory memory;
  for (const auto& [name, array] : outputs.arrays) {
    if (name != "label") memory.Add(&random, 0, name, array);
  }
  const std::string request = absl::StrCat("set: 'outputs' apply_detector { path: '", detector, "' }");
  OpensetAnswer* const answer =
      openset_call(request.data(), request.size(), memory.views().data(), memory.views().size());
  int64_t length = 0;
  const char* const text = openset_text(answer, &length);
  ASSERT_EQ(openset_code(answer), 0) << std::string(text, length);
  const auto* const score = static_cast<const double*>(openset_array(answer, "unknown_score", &length));
  const auto* const rejected = static_cast<const int64_t*>(openset_array(answer, "rejected", &length));
  const auto* const prediction = static_cast<const int64_t*>(openset_array(answer, "prediction", &length));
  ASSERT_EQ(length, 100000);
  const std::vector<std::string> lines = absl::StrSplit(table, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 100001);
  for (int64_t i = 0; i < length; ++i) {
    const std::vector<std::string> cells = absl::StrSplit(lines[1 + i], ',');
    double of_command = 0;
    ASSERT_TRUE(absl::SimpleAtod(cells[1], &of_command));
    ASSERT_TRUE(of_command == score[i] && cells[2] == (rejected[i] != 0 ? "rejected" : "accepted") &&
                cells[3] == absl::StrCat(prediction[i]))
        << lines[1 + i];
  }
  openset_free(answer);
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    absl::string_view word = argv[i];
    if (absl::ConsumePrefix(&word, "--calls=")) {
      if (!absl::SimpleAtoi(word, &openset::calls)) return 2;
    } else if (absl::ConsumePrefix(&word, "--seed=")) {
      if (!absl::SimpleAtoi(word, &openset::seed)) return 2;
    } else {
      openset::program = std::string(word);
    }
  }
  return RUN_ALL_TESTS();
}
