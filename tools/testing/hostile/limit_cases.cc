// Extreme numbers, and products of them, in specs, methods, tasks and catalogs.
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/testing/hostile/hostile_case.h"

namespace openset {
namespace {

const std::vector<std::string>& Plan() {
  static const auto* const plan = new std::vector<std::string>{"plan", "study.textproto", "--data=files"};
  return *plan;
}

HostileCase Change(const std::string& input, const std::string& path, const std::string& from, const std::string& to,
                   End end = End::kRefused) {
  const std::string file = path.substr(path.rfind('/') + 1);
  return {input,  to.substr(0, 80),
          Plan(), [=](const Fixture& fixture) { fixture.Replace(path, from, to); },
          end,    end == End::kRefused ? file.substr(0, file.find('.')) : ""};
}

std::string Many(int n, const std::string& text) {
  std::string all;
  for (int i = 0; i < n; ++i) all += text;
  return all;
}

void AddSpecs(std::vector<HostileCase>* cases) {
  const auto with = [&](const std::string& more, End end = End::kRefused) {
    cases->push_back(Change("spec", "work/study.textproto", "seed: 0\n", "seed: 0\n" + more, end));
  };
  for (const char* number : {"-1", "-2147483648", "2147483647", "nan", "1e300", "0.5", "99999999999999999999", "'1'"}) {
    with(absl::StrCat("split: ", number, "\n"));
    with(absl::StrCat("unknown_classes: ", number, "\n"));
    // More than the number of samples: all of them are used.
    with(absl::StrCat("train_limit_per_class: ", number, "\n"),
         std::string(number) == "2147483647" ? End::kAnswered : End::kRefused);
    with(absl::StrCat("validation_per_class: ", number, "\n"));
    with(absl::StrCat("expected_trials: ", number, "\n"),
         std::string(number) == "2147483647" ? End::kAnswered : End::kRefused);
    with(absl::StrCat("override { training { epochs: ", number, " } }\n"),
         std::string(number) == "2147483647" ? End::kAnswered : End::kRefused);
    with(absl::StrCat("override { training { optimizer { learning_rate: ", number, " } } }\n"),
         std::string(number) == "0.5" || std::string(number) == "2147483647" || std::string(number) == "1e300" ||
                 std::string(number) == "99999999999999999999"
             ? End::kAnswered
             : End::kRefused);
    with(absl::StrCat("override { input { size: ", number, " } }\n"));
    with(absl::StrCat("execution { threads: ", number, " }\n"));
  }
  with("axis { path: 'training.epochs' value: ['1'] also: 'training.epochs' }\n", End::kAnswered);
  with("axis { path: 'nowhere' value: '1' }\n");
  with("axis { path: '' value: '1' }\n");
  with("axis { path: 'training' value: '{' }\n");
  with("axis { path: 'loss.term[999999999].weight' value: '1' }\n");
  with("axis { path: 'loss.term[-1].weight' value: '1' }\n");
  with(absl::StrCat("axis { path: '", Many(10000, "training."), "epochs' value: '1' }\n"));
  with(absl::StrCat("axis { path: 'training.epochs' value: [", Many(200, "'1', '2', '3', '4', '5', "), "'6'] }\n",
                    "axis { path: 'training.batch_size' value: [", Many(200, "'1', '2', '3', '4', '5', "), "'6'] }\n",
                    "axis { path: 'input.size' value: [", Many(200, "'20', '21', '22', '23', '24', "), "'26'] }\n"));
  with(absl::StrCat("seed: [", Many(200000, "1, "), "2]\n"), End::kAnswered);
  with(absl::StrCat(Many(2000, "metric { accuracy {} }\n")));
  with(absl::StrCat("method: [", Many(2000, "'plain', "), "'plain']\n"));
  with(absl::StrCat("task: [", Many(2000, "'task', "), "'task']\n"));
  with("metric { fpr_at_tpr { tpr: nan } }\n");
  with("metric { fpr_at_tpr { tpr: -1 } }\n");
  with("metric { }\n");
  with("search { method: 'plain' axis { path: 'training.epochs' value: ['1', '2'] } criterion { auroc {} } }\n");
}

void AddMethods(std::vector<HostileCase>* cases) {
  const std::string path = "work/experiments/methods/plain.textproto";
  const auto change = [&](const std::string& from, const std::string& to, End end = End::kRefused) {
    cases->push_back(Change("method", path, from, to, end));
  };
  for (const char* number : {"-1", "0", "2147483647", "nan", "99999999999999999999"}) {
    change("batch_size: 10", absl::StrCat("batch_size: ", number),
           std::string(number) == "2147483647" ? End::kAnswered : End::kRefused);
    change("channels: 1", absl::StrCat("channels: ", number));
    change("size: 20", absl::StrCat("size: ", number));
  }
  change("max_softmax {}", "react { percentile: nan }");
  change("max_softmax {}", "knn { k: 2147483647 }", End::kAnswered);
  change("max_softmax {}", "temperature_scaled_softmax { temperature: -inf }");
  change("plain {}", "ensemble { members: 2147483647 }", End::kAnswered);
  change("cross_entropy {}", "cross_entropy {} weight: inf", End::kAnswered);
  change("loss { term { cross_entropy {} } }", absl::StrCat("loss { ", Many(5000, "term { cross_entropy {} } "), "}"),
         End::kAnswered);
  const std::string presets = "work/experiments/presets/short.textproto";
  for (const char* text :
       {"epochs: -1", "epochs: 0", "epochs: nan", "batch_size: -1", "optimizer { learning_rate: nan }",
        "optimizer { learning_rate: -inf }", "schedule { }", "schedule { constant { x: 1 } }"}) {
    cases->push_back(Change("preset", presets, "epochs: 1", text,
                            std::string(text) == "schedule { }" ? End::kAnswered : End::kRefused));
  }
}

void AddTasks(std::vector<HostileCase>* cases) {
  const std::string path = "work/data/tasks/task.textproto", split = "split { known: [0, 1, 2] unknown: [3, 4] }";
  const auto with = [&](const std::string& text, End end = End::kRefused) {
    cases->push_back(Change("task", path, split, text, end));
  };
  for (const char* number : {"-1", "5", "2147483647", "-2147483648", "99999999999"}) {
    with(absl::StrCat("split { known: [0, 1, ", number, "] unknown: [3, 4] }"));
    with(absl::StrCat("split { known: [0, 1] unknown: [3, ", number, "] }"));
  }
  with("split { known: [0, 0, 0] unknown: [3, 4] }");
  with("split { known: [] unknown: [] }");
  with(absl::StrCat("split { known: [", Many(100000, "0, "), "1] unknown: [3, 4] }"));
  const auto drawn = [&](const std::string& repeats, const std::string& more, End end = End::kRefused) {
    with(absl::StrCat("drawn { level { known: 3 unknown: 2 } repeats: ", repeats, " } ", more), end);
  };
  drawn("65536", "cross_validation { folds: 65536 }");
  drawn("2147483647", "");
  drawn("2147483647", "cross_validation { folds: 2147483647 }");
  drawn("0", "");
  drawn("-1", "");
  drawn("200000", "", End::kAnswered);
  drawn("5", "cross_validation { folds: 2147483647 }");
  drawn("5", "cross_validation { folds: 1 }");
  drawn("5", "cross_validation { folds: 2 tuning_shares: 2147483647 }");
  with("drawn { levels: 2147483647 repeats: 1 }");
  with("drawn { levels: 1 min_known: 2147483647 repeats: 1 }");
  with("drawn { level { known: 2147483647 unknown: 2147483647 } repeats: 1 }");
  with(absl::StrCat("drawn { ", Many(20000, "level { known: 3 unknown: 2 } "), "repeats: 10000 }"));
  with(split + " unknown { group: 'far' data_set: 'digits' draw_samples: -1 }");
  with(split + " unknown { group: 'far' data_set: 'digits' class_id: 2147483647 }");
  with(split + " unknown { group: 'far' data_set: 'nowhere' }");
  with(split + " shifted { group: 'far' data_set: 'nowhere' }");
  with(split + " external { data_set: 'digits' class_id: -1 }");
}

void AddCatalogs(std::vector<HostileCase>* cases) {
  const std::string path = "work/data/catalog/digits.textproto";
  const auto change = [&](const std::string& from, const std::string& to, End end = End::kRefused) {
    cases->push_back(Change("catalog", path, from, to, end));
  };
  for (const char* number : {"-1", "0", "2147483647", "nan", "9223372036854775807"}) {
    change("samples: 50", absl::StrCat("samples: ", number));
    change("samples_per_class: 10", absl::StrCat("samples_per_class: ", number));
    change("channels: 1", absl::StrCat("channels: ", number));
    change("height: 8", absl::StrCat("height: ", number));
  }
  change("samples: 50", "samples: -9223372036854775808");
  change("samples_per_class: 10", "samples_per_class: [9223372036854775807, 9223372036854775807, 52, 0, 0]");
  change("\"zero\", \"one\"", "\"zero\", \"zero\"");
  change("\"zero\"", Many(200000, "'x', ") + "'y'");
  change("labels { path: \"digits/test-labels\" }", "labels { path: \"digits/test-labels\" sha256: \"x\" }");
  change("labels { path: \"digits/test-labels\" }",
         "labels { path: \"digits/test-labels\" } class_label: [0, 0, 0, 0, 0]");
  change("idx { images { path: \"digits/test-images\" } labels { path: \"digits/test-labels\" } }", "");
  change("idx { images { path: \"digits/test-images\" } labels { path: \"digits/test-labels\" } }",
         "noise { gaussian { std: nan } }");
  // If a data set is not a folder, its classes may have any name.
  for (const char* name : {"/etc", "..", ".", "a/../../b", "", "\\033[2J", "\\377"}) {
    change("\"zero\"", absl::StrCat("\"", name, "\""), End::kAnswered);
  }
  change("digits/test-images", "digits//test-images");
  change("digits/test-images", "digits/./test-images", End::kAnswered);
  change("name: \"test\"", "name: \"../../outside\"");
  change("name: \"test\"", "name: \"train\"");
  const auto noise = [](const std::string& samples, const std::string& size) {
    return absl::StrCat("name: 'noise' class_name: 'x' channels: 1 height: ", size, " width: ", size,
                        " layout { part { name: 'train' samples: ", samples, " samples_per_class: ", samples,
                        " noise { uniform {} } } }");
  };
  for (const auto& [samples, size] : {std::pair("9223372036854775807", "1"), std::pair("1000000000", "1000000"),
                                      std::pair("1", "2147483647"), std::pair("4611686018427387904", "2")}) {
    HostileCase one{"catalog",
                    absl::StrCat("noise of ", samples, " images of size ", size),
                    {"data", "verify", "noise", "--library=."},
                    {},
                    End::kNoted,
                    "noise"};
    one.make = [text = noise(samples, size)](const Fixture& fixture) {
      fixture.Write("work/data/catalog/noise.textproto", text);
    };
    cases->push_back(one);
  }
  for (const char* list : {"//etc/passwd 0\n", "/etc/passwd 0\n", "../../../outside/file 0\n", "cat/1.png\n",
                           "cat/1.png 99999999999\n", "cat/1.png -1\n", "cat/1.png x\n", "a\tb\tc\n"}) {
    HostileCase one{"catalog",
                    absl::StrCat("the image list ", list),
                    {"data", "verify", "listed", "--images", "--library=.", "--data=files"},
                    {},
                    End::kRefused,
                    "list"};
    one.make = [list](const Fixture& fixture) { fixture.Write("work/files/listed/list.txt", list); };
    cases->push_back(one);
  }
  HostileCase zero{"catalog",
                   "the image list with a zero byte",
                   {"data", "verify", "listed", "--images", "--library=.", "--data=files"},
                   {},
                   End::kRefused,
                   "list"};
  zero.make = [](const Fixture& fixture) {
    fixture.Write("work/files/listed/list.txt", std::string("cat/1.png\0x 0\n", 14));
  };
  cases->push_back(zero);
}

}  // namespace

std::vector<HostileCase> LimitCases() {
  std::vector<HostileCase> cases;
  AddSpecs(&cases);
  AddMethods(&cases);
  AddTasks(&cases);
  AddCatalogs(&cases);
  return cases;
}

}  // namespace openset
