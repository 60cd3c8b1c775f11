#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/status_macros.h"
#include "experiments/spec/method.proto.h"
#include "experiments/study/failures.h"
#include "models/model.pb.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/run/run_plan.h"
#include "tools/cli/score/score_experiment.h"
#include "tools/cli/store_budget.h"

namespace openset {
namespace {

template <typename Number>
absl::StatusOr<Number> Parse(const char* flag, const std::string& text, bool (*parse)(absl::string_view, Number*)) {
  Number number;
  if (parse(text, &number)) return number;
  return absl::InvalidArgumentError(absl::StrCat("--", flag, ": '", text, "' is not a number"));
}

bool ToInt(absl::string_view text, int* number) { return absl::SimpleAtoi(text, number); }
bool ToDouble(absl::string_view text, double* number) { return absl::SimpleAtod(text, number); }

template <typename Number>
absl::StatusOr<std::vector<Number>> ParseList(const char* flag, const std::vector<std::string>& texts,
                                              bool (*parse)(absl::string_view, Number*)) {
  std::vector<Number> numbers;
  for (const std::string& text : texts) {
    OPENSET_ASSIGN_OR_RETURN(numbers.emplace_back(), Parse(flag, text, parse));
  }
  return numbers;
}

absl::StatusOr<ScoreRequest> MakeScoreRequest(const RunConfig& config) {
  ScoreRequest request;
  // Later commands may run in other folders.
  request.set_folder(std::filesystem::path(AbsolutePath(UserPath("."))).parent_path().string());
  request.set_model(config.model);
  request.set_weights(config.weights);
  request.set_network(config.network);
  request.set_key(config.key);
  request.set_fit(config.fit);
  if (!config.fit_part.empty()) request.set_fit_part(config.fit_part);
  request.set_head(config.head);
  request.set_features(config.features);
  if (!config.name.empty()) request.set_name(config.name);
  OPENSET_ASSIGN_OR_RETURN(const std::vector<int> outputs, ParseList("outputs", config.outputs, &ToInt));
  for (const int place : outputs) {
    if (place < 0) return absl::InvalidArgumentError(absl::StrCat("--outputs: ", place, " is negative"));
    request.add_outputs(place);
  }
  request.set_task(config.task);
  for (const auto& [flag, text, set] : {std::tuple{"split", config.split, &ScoreRequest::set_split},
                                        {"size", config.size, &ScoreRequest::set_size},
                                        {"channels", config.channels, &ScoreRequest::set_channels}}) {
    if (text.empty()) continue;
    OPENSET_ASSIGN_OR_RETURN(const int number, Parse(flag, text, &ToInt));
    (request.*set)(number);
  }
  for (const std::string& method : config.study.changes.methods) request.add_methods(method);
  OPENSET_ASSIGN_OR_RETURN(const std::vector<double> mean, ParseList("mean", config.mean, &ToDouble));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<double> std, ParseList("std", config.std_, &ToDouble));
  request.mutable_mean()->Assign(mean.begin(), mean.end());
  request.mutable_std()->Assign(std.begin(), std.end());
  request.set_train_limit(config.train_limit);
  request.set_test_limit(config.test_limit);
  for (const auto& [flag, limit] :
       {std::pair{"train_limit", request.train_limit()}, {"test_limit", request.test_limit()}}) {
    if (limit < 0) return absl::InvalidArgumentError(absl::StrCat("--", flag, ": must be at least 0 (is ", limit, ")"));
  }
  return request;
}

// How images are prepared for a network, "input: 28 x 28 pixels, 1 channel, mean 0.286, std 0.353"; "" for outputs and
// features, which are there already.
std::string InputLine(const MethodSpec& method) {
  if (method.model().has_outputs()) return "";
  const InputSpec& input = method.input();
  const auto list = [](const auto& values, const char* without) {
    return values.empty() ? std::string(without) : absl::StrJoin(values, ", ");
  };
  return absl::StrCat("input: ", input.size(), " x ", input.size(), " pixels, ", input.channels(),
                      input.channels() == 1 ? " channel" : " channels", ", mean ", list(input.mean(), "0"), ", std ",
                      list(input.std(), "1"));
}

// What of the input of a TorchScript network nobody named.
std::string DefaultsHint(const ScoreRequest& request, const MethodSpec& method) {
  if (!method.model().has_torch_script() || absl::EndsWith(request.model(), ".textproto")) return "";
  std::vector<std::string> flags;
  if (!request.has_size()) flags.push_back("--size");
  if (!request.has_channels()) flags.push_back("--channels");
  if (request.mean().empty()) flags.push_back("--mean");
  if (request.std().empty()) flags.push_back("--std");
  if (flags.empty()) return "";
  return absl::StrCat("hint: without ", absl::StrJoin(flags, ", "),
                      ", the defaults are used; was the network trained with them?\n");
}

// The trials of these methods that have a record; of all methods for "".
int CountRecords(const Study& study, const std::string& method = "") {
  int count = 0;
  for (const int trial : study.ReportedTrials()) {
    const std::string& name = study.plan().trials[trial].method().name();
    count += (method.empty() || name == method) && study.store().HasRecord(study.plan().trial_id(trial)).value_or(true);
  }
  return count;
}

// The study of everything that was scored on this network, for the report; null if that is `study`. A run
// that measured nothing doesn't change it.
absl::StatusOr<std::unique_ptr<Study>> KeepAll(const ScoreRequest& request, const Study& study,
                                               const SpecFolders& folders, const StudyOptions& options) {
  const absl::StatusOr<ScoreRequest> kept = FindScoreRequest(study.store(), study.name());
  ScoreRequest scored = request;
  scored.clear_methods();
  for (const LoadedMethod& method : study.experiment().methods) {
    if (CountRecords(study, method.spec.name()) > 0) scored.add_methods(method.spec.name());
  }
  if (!kept.ok()) {
    if (!scored.methods().empty()) OPENSET_RETURN_IF_ERROR(KeepScoreRequest(request, study));
    return nullptr;
  }
  const std::vector<std::string> names(scored.methods().begin(), scored.methods().end());
  const ScoreRequest& asked = request.methods().empty() ? request : scored;
  const ScoreRequest joined = names.empty() ? *kept : JoinedRequest(asked, names, *kept);
  OPENSET_ASSIGN_OR_RETURN(ScoreExperiment all, MakeScoreExperiment(joined, folders));
  OPENSET_ASSIGN_OR_RETURN(std::unique_ptr<Study> joined_study,
                           Study::Make(std::move(all.experiment), study.store(), options));
  // The network's file may have changed since, and then nothing else was scored on the present one.
  if (!names.empty() && CountRecords(*joined_study) <= CountRecords(study)) {
    OPENSET_RETURN_IF_ERROR(KeepScoreRequest(request, study));
    return nullptr;
  }
  if (!names.empty()) OPENSET_RETURN_IF_ERROR(KeepScoreRequest(joined, study));
  return joined_study;
}

absl::Status RunScore(const std::vector<std::string>& /*arguments*/, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const ScoreRequest request, MakeScoreRequest(config));
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, FindSpecFolders(config));
  OPENSET_ASSIGN_OR_RETURN(ScoreExperiment score, MakeScoreExperiment(request, folders));
  if (score.experiment.methods.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no method is left\n", absl::StripTrailingAsciiWhitespace(SkippedText(score.skipped))));
  }
  OPENSET_ASSIGN_OR_RETURN(const Store store, OpenStore(config, StoreUse::kMayMake));
  OPENSET_RETURN_IF_ERROR(CheckScoreName(request, store, score.experiment.spec.name()));
  OPENSET_ASSIGN_OR_RETURN(const StudyOptions options, MakeStudyOptions(config));
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study,
                           Study::Make(std::move(score.experiment), store, options));
  if (!config.is_slurm_task() && !study->experiment().methods.empty()) {
    const MethodSpec& first = study->experiment().methods[0].spec;
    if (const std::string line = InputLine(first); !line.empty()) std::cout << line << std::endl;
    std::cerr << DefaultsHint(request, first);
    if (const int seeds = study->experiment().spec.seed_size();
        seeds > 1 && !request.fit().empty() && !absl::StrContains(request.fit(), "{seed}")) {
      std::cerr << "hint: --fit is one file for the networks of " << seeds
                << " seeds: give each the outputs of its own network (--fit='fit_{seed}.npz')\n";
    }
  }
  const absl::Status outcome = RunPlan(study.get(), config);
  std::unique_ptr<Study> all;
  if (outcome.ok() || absl::IsAborted(outcome)) {
    OPENSET_ASSIGN_OR_RETURN(all, KeepAll(request, *study, folders, options));
  }
  // If the model could not be imported, the error is about the requested study.
  const bool has_none = CountRecords(*study) == 0;
  const absl::Status finished =
      FinishRun(all == nullptr || has_none ? *study : *all, outcome,
                absl::StrCat("the lines above say why; ", WhatToDo(FailuresOf(*study))), config);
  // After the table. If the file is not a model, there is no table.
  if ((finished.ok() || absl::IsAborted(finished)) && !config.is_slurm_task()) std::cout << SkippedText(score.skipped);
  return KeepStoreSizeAfter(finished, *study, config);
}

}  // namespace

Command ScoreCommand() {
  Command command;
  command.name = "score";
  command.summary = "Measures every score that needs no training on your own trained network.";
  command.description =
      "Output c of the network must be for the task's known class c, in the order of the task's file. Scores\n"
      "that are fitted use the task's training images, or the outputs in --fit. Outputs need no task: without one,\n"
      "the file says which samples are unknown, and which groups they form. openset doesn't repeat what is in the "
      "store. The results\n"
      "are named \"score_\" and the model's file name, or --name: 'openset report score_net'. Every other command "
      "that\n"
      "takes a SPEC accepts this name too. The report has all methods, splits and tasks that were scored on this "
      "network with\n"
      "the same input. Exit code: as for 'openset run'.\n"
      "\n"
      "  openset score --model=outputs.npz --fit=train_outputs.npz\n"
      "  openset score --model='net_{split}_{seed}.npz' --task=cifar10\n"
      "  openset score --model=net.pt --head=fc --task=fashion_mnist_6_4 --split=0 --size=28 --channels=1\n"
      "  openset score --model=resnet50.pth --network=resnet50 --task=openood_imagenet_1k --fit_part=train\n"
      "  openset score --model=resnet50.textproto --weights=resnet50.safetensors --task=my_task.textproto\n"
      "  openset score --model=net.pt --task=cifar10 --split=2 --methods=mcp,max_logit,energy_score\n";
  command.flags = {"model",    "name",    "fit", "network",     "task",      "split",   "fit_part",
                   "methods",  "weights", "key", "head",        "features",  "outputs", "size",
                   "channels", "mean",    "std", "train_limit", "test_limit"};
  for (const std::string& flag : RunFlags()) command.flags.push_back(flag);
  command.run = RunScore;
  return command;
}

}  // namespace openset
