#include "experiments/spec/resolve/expand.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/in_parallel.h"
#include "core/proto/field_path.h"
#include "core/proto/proto_digest.h"
#include "core/proto/traits.h"
#include "core/saturated.h"
#include "core/status_macros.h"
#include "core/text/synonyms.h"
#include "data/catalog.h"
#include "data/selection.h"
#include "data/sets/feature_data_set.h"
#include "data/splits/class_splits.h"
#include "data/task.h"
#include "eval/scores/score.pb.h"
#include "experiments/spec/check_spec.h"
#include "experiments/spec/method/check_method.h"
#include "experiments/spec/method/method_threshold.h"
#include "experiments/spec/model_files.h"
#include "experiments/spec/open_set.pb.h"
#include "losses/loss.pb.h"

namespace openset {
namespace {

// A combination of the axes' values.
struct Combination {
  std::shared_ptr<TrialMethod> method;
  absl::Status set;                    // of setting its values
  std::vector<FieldProblem> problems;  // after they are set
};

absl::Status SetValue(const GridAxis& axis, const std::string& value, TrialMethod* made) {
  if (axis.is_labelled) {
    AxisValue* label = made->axis.Add();
    label->set_name(AxisName(*axis.axis));
    label->set_value(AxisLabel(value));
  }
  const absl::Status set = SetAxis(*axis.axis, value, &made->method);
  if (set.ok()) return set;
  const std::string& path = axis.axis->path();
  const std::string usual = UsualPath(path);
  return absl::InvalidArgumentError(absl::StrCat(axis.where, ": ", made->method.name(), ": ", set.message(),
                                                 usual == path ? "" : absl::StrCat("; did you mean ", usual, "?")));
}

// Returns the combination with this index; the last axis changes fastest.
Combination Combine(const TrialMethod& base, const std::vector<GridAxis>& axes, int64_t combinations, int64_t number) {
  Combination made{std::make_shared<TrialMethod>(base)};
  for (const GridAxis& axis : axes) {
    const int64_t values = axis.axis->value_size();
    combinations /= values;  // of the axes after it
    made.set = SetValue(axis, axis.axis->value(static_cast<int>(number / combinations % values)), made.method.get());
    if (!made.set.ok()) return made;
  }
  made.problems = ResolveMethod(&made.method->method);
  return made;
}

absl::Status Check(const Combination& made, const std::vector<GridAxis>& axes, const LocateField& locate) {
  OPENSET_RETURN_IF_ERROR(made.set);
  std::vector<std::string> lines;
  const MethodSpec& spec = made.method->method;
  for (const FieldProblem& problem : made.problems) {
    int setter = -1;
    for (size_t a = 0; a < axes.size(); ++a) {
      const bool sets_it = SamePlace(spec, axes[a].axis->path(), spec).value_or("") == problem.path;
      if (sets_it) setter = static_cast<int>(a);
    }
    lines.push_back(absl::StrCat(locate(setter, problem.path), ": ", problem.message));
  }
  return lines.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
}

// Removes what is for images from a method for features or outputs, and a training that an override of all methods gave
// to one without any.
void DropImages(MethodSpec* method) {
  if (method->training().has_command()) return;  // which may read all of it
  if (UsesArraysOnly(method->model()) && !method->has_loss()) method->clear_training();
  method->clear_augmentation();
  method->mutable_input()->Clear();
  if (method->open_set().has_external_images()) {
    method->mutable_open_set()->mutable_external_images()->clear_augmentation();
  }
  if (!method->has_pretraining()) return;
  method->mutable_pretraining()->clear_augmentation();
  if (method->pretraining().open_set().has_external_images()) {
    method->mutable_pretraining()->mutable_open_set()->mutable_external_images()->clear_augmentation();
  }
}

}  // namespace

std::vector<FieldProblem> ResolveMethod(MethodSpec* method) {
  if (method->model().has_features() || method->model().has_outputs()) DropImages(method);
  FillDefaults(method);
  std::vector<FieldProblem> problems = FindProblems(*method);
  if (problems.empty()) problems = FindMethodProblems(*method);
  return problems;
}

absl::StatusOr<std::vector<std::shared_ptr<const TrialMethod>>> ResolveGrid(const TrialMethod& base,
                                                                            const std::vector<GridAxis>& axes,
                                                                            const LocateField& locate) {
  int64_t count = 1;
  for (const GridAxis& axis : axes) count *= axis.axis->value_size();
  std::vector<Combination> combinations(count);
  InParallel(count, [&](int64_t c) { combinations[c] = Combine(base, axes, count, c); });
  std::vector<std::shared_ptr<const TrialMethod>> methods;
  for (Combination& made : combinations) {
    OPENSET_RETURN_IF_ERROR(Check(made, axes, locate));
    methods.push_back(std::move(made.method));
  }
  return methods;
}

namespace {

class Expander {
 public:
  Expander(const Experiment& experiment, const ExpandOptions& options)
      : experiment_(experiment), spec_(experiment.spec), options_(options) {}

  absl::StatusOr<std::vector<Trial>> Run() {
    OPENSET_RETURN_IF_ERROR(CheckCount());
    OPENSET_RETURN_IF_ERROR(CheckSpec(experiment_));
    std::map<const LoadedMethod*, std::vector<std::shared_ptr<const TrialMethod>>> grids;  // shared by tasks
    for (size_t t = 0; t < experiment_.tasks.size(); ++t) {
      for (size_t m = 0; m < experiment_.methods.size(); ++m) {
        const LoadedMethod* method = &experiment_.MethodOn(t, m);
        if (grids.count(method) > 0) continue;
        OPENSET_ASSIGN_OR_RETURN(grids[method], GridOf(*method));
      }
    }
    MakeProtocol();
    std::vector<Trial> trials;
    for (size_t t = 0; t < experiment_.tasks.size(); ++t) {
      const TaskSpec& task = experiment_.tasks[t];
      OPENSET_ASSIGN_OR_RETURN(const auto points, DataPoints(task));
      std::vector<std::pair<const LoadedMethod*, std::shared_ptr<const TrialMethod>>> methods;
      for (size_t m = 0; m < experiment_.methods.size(); ++m) {
        const LoadedMethod* method = &experiment_.MethodOn(t, m);
        for (const auto& resolved : grids[method]) methods.emplace_back(method, resolved);
      }
      for (const auto& [loaded, method] : methods) {
        OPENSET_RETURN_IF_ERROR(CheckExternal(task, method->method));
        OPENSET_RETURN_IF_ERROR(CheckTestOnly(task, method->method));
        OPENSET_RETURN_IF_ERROR(CheckEvaluateEvery(method->method));
        std::map<std::pair<int, uint64_t>, std::shared_ptr<const TrialMethod>> of_split;  // shared by openness levels
        for (const auto& point : points) {
          const bool is_left_out = !experiment_.only.empty() &&
                                   experiment_.only.count({task.name(), method->method.name(), point->split}) == 0;
          if (is_left_out) continue;
          OPENSET_RETURN_IF_ERROR(CheckData(*loaded, method->method, point->data));
          OPENSET_RETURN_IF_ERROR(CheckTraining(task, method->method, *point));
          OPENSET_ASSIGN_OR_RETURN(const auto protocol, ProtocolOf(*method, *point));
          const bool is_of_seed = IsOfSeed(method->method.model());
          for (const uint64_t seed : spec_.seed()) {
            std::shared_ptr<const TrialMethod>& made = of_split[{point->split, is_of_seed ? seed : 0}];
            if (made == nullptr) made = MethodOfSplit(method, *point, seed);
            trials.emplace_back(made, point, protocol, seed);
          }
        }
      }
    }
    return trials;
  }

 private:
  absl::Status Problem(const std::string& path, absl::string_view message) const {
    return absl::InvalidArgumentError(absl::StrCat(experiment_.source.Where(path), ": ", message));
  }

  // Called before any trial is made, because a typo in a sweep can request 10^9 trials.
  absl::Status CheckCount() const {
    int64_t variants = 0;
    for (const LoadedMethod& method : experiment_.methods) {
      int64_t product = 1;
      for (const Axis& axis : spec_.axis()) {
        if (AppliesTo(axis, method.spec.name())) product = SaturatedProduct(product, axis.value_size());
      }
      variants = SaturatedSum(variants, product);
    }
    int64_t splits = 0;
    for (const TaskSpec& task : experiment_.tasks) {
      const auto own = options_.splits.find(task.name());
      const int64_t of_task = own != options_.splits.end() ? static_cast<int64_t>(own->second.size())
                              : spec_.split_size() > 0     ? spec_.split_size()
                                                           : CountSplits(task);
      splits = SaturatedSum(splits, of_task);
    }
    const int levels = std::max(1, spec_.unknown_classes_size()), seeds = spec_.seed_size();
    const int64_t trials = SaturatedProduct(SaturatedProduct(variants, splits), SaturatedProduct(levels, seeds));
    if (trials <= options_.max_trials) return absl::OkStatus();
    const bool is_more = trials == std::numeric_limits<int64_t>::max();
    return absl::InvalidArgumentError(absl::StrCat(
        experiment_.source.file(), ": makes ", is_more ? "more than " : "", trials,
        " trials (methods and settings: ", variants, ", splits of tasks: ", splits, ", levels of openness: ", levels,
        ", seeds: ", seeds, "), and at most ", options_.max_trials, " are allowed; --max_trials=N allows more"));
  }

  // The error for a status whose message begins with the field: "split: ...".
  absl::Status TaskProblem(const TaskSpec& task, const absl::Status& status) const {
    return absl::InvalidArgumentError(
        absl::StrCat(experiment_.source.file(), ": task ", task.name(), ": ", status.message()));
  }

  // The method with each combination of values of the axes that apply to it.
  absl::StatusOr<std::vector<std::shared_ptr<const TrialMethod>>> GridOf(const LoadedMethod& method) const {
    std::vector<GridAxis> axes;
    for (int a = 0; a < spec_.axis_size(); ++a) {
      if (!AppliesTo(spec_.axis(a), method.spec.name())) continue;
      const std::string where = experiment_.source.Where(absl::StrCat("axis[", a, "]"));
      axes.push_back({&spec_.axis(a), where, spec_.axis(a).value_size() > 1});
    }
    auto grid = ResolveGrid({method.spec, {}}, axes, [&](int axis, const std::string& path) {
      return axis < 0 ? WhereInMethod(experiment_, method, path) : absl::StrCat(axes[axis].where, ": ", path);
    });
    // If only some methods have the field, the message says so.
    if (grid.ok() || experiment_.methods.size() < 2 || !absl::StrContains(grid.status().message(), ": there is no ")) {
      return grid;
    }
    return absl::Status(
        grid.status().code(),
        absl::StrCat(grid.status().message(), "; an axis of some methods names them: axis { ... method: 'METHOD' }"));
  }

  // The method with the files of the split and seed, if each has its own, and the number of the task's features.
  std::shared_ptr<const TrialMethod> MethodOfSplit(const std::shared_ptr<const TrialMethod>& method,
                                                   const TrialData& point, uint64_t seed) const {
    const ModelSpec& model = method->method.model();
    const bool lacks_dim = model.has_features() && !model.features().has_dim();
    if (!IsOfSplit(model) && !lacks_dim) return method;
    auto of_split = std::make_shared<TrialMethod>(*method);
    *of_split->method.mutable_model() = ModelOfSplit(model, point.split, seed);
    if (lacks_dim) of_split->method.mutable_model()->mutable_features()->set_dim(FeaturesOf(point.data.train()));
    return of_split;
  }

  // The number of features of a data set; 0 for images, and for labels without features.
  int FeaturesOf(const Selection& selection) const {
    const absl::StatusOr<const DataSetInfo*> info = experiment_.catalog.Find(selection.data_set());
    return info.ok() && HasFeatures(**info) ? (*info)->width() / static_cast<int>(sizeof(float)) : 0;
  }

  // Checks that outputs that were computed elsewhere can belong to the data.
  absl::Status CheckOutputs(const LoadedMethod& loaded, const MethodSpec& method, const TaskData& data) const {
    if (!method.model().has_outputs() || method.training().has_command()) return absl::OkStatus();
    if (!data.test_unknown().empty() || !method.model().outputs().has_fit_file() ||
        MessageDigest(data.test_known()) != MessageDigest(data.train())) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat(WhereInMethod(experiment_, loaded, "model.outputs"),
                     ": outputs with a fit_file are for tasks with unknown samples, or with other samples to train on "
                     "than to test on"));
  }

  // Checks that methods for features get features, and methods for images get images.
  absl::Status CheckFeatures(const LoadedMethod& loaded, const MethodSpec& method, const Selection& selection) const {
    if (method.model().has_outputs()) return absl::OkStatus();
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, experiment_.catalog.Find(selection.data_set()));
    const std::string where = absl::StrCat(WhereInMethod(experiment_, loaded, "model"), ": ");
    if (!method.model().has_features()) {
      if (!HasFeatures(*info)) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat(where, "is for images, and the samples of '", info->name(),
                                                     "' are feature vectors: METHOD+features (", method.name(),
                                                     "+features) trains a head on them"));
    }
    const int features = FeaturesOf(selection), dim = method.model().features().dim();
    if (features > 0 && (dim == 0 || dim == features)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        where, "is for feature vectors", dim > 0 ? absl::StrCat(" of ", dim, " numbers") : "", ", and the samples of '",
        info->name(), "' ", features > 0 ? absl::StrCat("have ", features) : "are images or have labels only"));
  }

  absl::StatusOr<std::vector<std::shared_ptr<const TrialData>>> DataPoints(const TaskSpec& task) const {
    std::vector<int> splits(spec_.split().begin(), spec_.split().end());
    const auto own = options_.splits.find(task.name());
    if (own != options_.splits.end()) splits = own->second;
    for (int s = 0; spec_.split_size() == 0 && s < CountSplits(task); ++s) splits.push_back(s);
    const auto is_left_out = [&](int split) {
      return !experiment_.only.empty() && absl::c_none_of(experiment_.only, [&](const auto& one) {
        return std::get<0>(one) == task.name() && std::get<2>(one) == split;
      });
    };
    splits.erase(std::remove_if(splits.begin(), splits.end(), is_left_out), splits.end());
    std::vector<int> levels(spec_.unknown_classes().begin(), spec_.unknown_classes().end());
    if (levels.empty()) levels.push_back(0);
    const absl::StatusOr<std::vector<ClassSplit>> class_splits = ClassSplitsOf(task, experiment_.catalog);
    if (!class_splits.ok()) return TaskProblem(task, class_splits.status());
    std::vector<std::shared_ptr<const TrialData>> points;
    for (int split : splits) {
      for (int level : levels) {
        TaskRequest request;
        request.split = split;
        request.unknown_classes = level;
        request.train_limit_per_class = spec_.train_limit_per_class();
        request.test_limit_per_class = spec_.test_limit_per_class();
        request.validation_per_class = spec_.validation_per_class();
        absl::StatusOr<TaskData> data = ResolveTask(task, *class_splits, request, experiment_.catalog);
        if (!data.ok()) return TaskProblem(task, data.status());
        FillDefaults(&*data);
        const double openness = Openness(*data);
        points.push_back(
            std::make_shared<TrialData>(TrialData{task.name(), split, openness, *std::move(data), levels.size() > 1}));
      }
    }
    return points;
  }

  absl::Status CheckEvaluateEvery(const MethodSpec& method) const {
    if (!method.training().has_evaluate_every() || spec_.validation_per_class() > 0) return absl::OkStatus();
    if (method.training().evaluate_every().samples() == EvaluateEverySpec::TEST) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        experiment_.source.file(), ": method ", method.name(),
        " measures on validation samples while it trains (training.evaluate_every), and none are kept: set "
        "validation_per_class, or training.evaluate_every.samples to TEST"));
  }

  absl::Status CheckExternal(const TaskSpec& task, const MethodSpec& method) const {
    if (task.has_external()) return absl::OkStatus();
    if (!ReadsExternalImages(method)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(experiment_.source.file(), ": method ", method.name(),
                                                   " trains with external images, and task ", task.name(),
                                                   " names none: set `external` in the task"));
  }

  static bool ReadsExternalImages(const MethodSpec& method) {
    return TraitsOf(method.open_set()).external_images() || TraitsOf(method.pretraining().open_set()).external_images();
  }

  static bool ReadsTrainingImages(const MethodSpec& method) {
    if (method.training().has_command()) return true;
    if (method.model().has_outputs()) return false;  // they are in its files
    return method.has_training() || IsFittedHead(method.model()) ||
           TraitsOf(method.inference()).reads_training_images() || TraitsOf(method.score()).fit();
  }

  absl::Status CheckTraining(const TaskSpec& task, const MethodSpec& method, const TrialData& point) const {
    if (!ReadsTrainingImages(method)) return absl::OkStatus();
    const absl::Status status =
        CheckTrainingSamples(point.data, point.split, ReadsExternalImages(method), experiment_.catalog);
    return status.ok() ? status : TaskProblem(task, status);
  }

  absl::Status CheckTestOnly(const TaskSpec& task, const MethodSpec& method) const {
    if (!task.test_only() || !ReadsTrainingImages(method)) return absl::OkStatus();
    const bool has_training = method.has_training() || IsFittedHead(method.model());
    if (task.has_fit_part() && !has_training) return absl::OkStatus();
    const bool trains = has_training || !TraitsOf(method.score()).fit();
    return absl::InvalidArgumentError(absl::StrCat(
        experiment_.source.file(), ": method ", method.name(), trains ? " trains with" : "'s score is fitted to",
        " training images, and task ", task.name(), " has ",
        task.has_fit_part() ? "only images that scores are fitted to (fit_part)" : "none (test_only)"));
  }

  // Checks that the data fits the method.
  absl::Status CheckData(const LoadedMethod& loaded, const MethodSpec& method, const TaskData& data) const {
    std::set<std::string> data_sets = {data.train().data_set()};
    for (const Selection* selection : TestSelections(data)) data_sets.insert(selection->data_set());
    if (ReadsExternalImages(method)) data_sets.insert(data.external().data_set());
    OPENSET_RETURN_IF_ERROR(CheckOutputs(loaded, method, data));
    OPENSET_RETURN_IF_ERROR(CheckFeatures(loaded, method, data.train()));
    for (const UnknownGroup& group : data.test_unknown()) {
      OPENSET_RETURN_IF_ERROR(CheckFeatures(loaded, method, group.selection()));
    }
    if (method.model().has_features() || method.model().has_outputs()) data_sets.clear();
    for (const std::string& name : data_sets) {
      OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, experiment_.catalog.Find(name));
      const int channels = method.input().channels();
      const bool fits =
          info->channels() == channels || info->channels() == 1 || (info->channels() == 3 && channels == 1);
      if (fits) continue;
      return absl::InvalidArgumentError(absl::StrCat(WhereInMethod(experiment_, loaded, "input.channels"), ": is ",
                                                     channels, ", and the images of data set '", name, "' have ",
                                                     info->channels()));
    }
    for (const auto& [path, training] :
         {std::pair{"training", &method.training()}, {"pretraining.training", &method.pretraining().training()}}) {
      if (!training->drop_last()) continue;
      OPENSET_ASSIGN_OR_RETURN(const int64_t samples, CountSamples(data.train(), experiment_.catalog));
      if (samples >= training->batch_size()) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(WhereInMethod(experiment_, loaded, absl::StrCat(path, ".batch_size")), ": is ",
                       training->batch_size(), ", drop_last leaves nothing of the ", samples, " training samples"));
    }
    return absl::OkStatus();
  }

  void MakeProtocol() {
    protocol_ = {spec_.execution(),  spec_.metric(),        spec_.name(),
                 experiment_.sha256, experiment_.overrides, experiment_.tags};
    ExecutionSpec& execution = protocol_.execution;
    if (!execution.has_device()) execution.set_device(options_.default_device);
    if (execution.device() == ExecutionSpec::CUDA && !execution.has_device_kind()) {
      execution.set_device_kind(options_.device_kind);
    }
    FillDefaults(&protocol_.execution);
    for (MetricSpec& metric : protocol_.metric) FillDefaults(&metric);
    shared_protocol_ = std::make_shared<TrialProtocol>(protocol_);
  }

  // The experiment's protocol, with the method's thresholds in metrics that use them.
  absl::StatusOr<std::shared_ptr<const TrialProtocol>> ProtocolOf(const TrialMethod& method,
                                                                  const TrialData& point) const {
    std::shared_ptr<TrialProtocol> own;
    for (int m = 0; m < protocol_.metric.size(); ++m) {
      MetricSpec metric = protocol_.metric[m];
      const absl::StatusOr<bool> set =
          SetMethodThreshold(method.method, point.data.test_known().class_id_size(), &metric);
      if (!set.ok()) return Problem(absl::StrCat("metric[", m, "]"), set.status().message());
      if (!*set) continue;
      if (own == nullptr) own = std::make_shared<TrialProtocol>(protocol_);
      own->metric[m] = std::move(metric);
    }
    if (own != nullptr) return own;
    return shared_protocol_;
  }

  const Experiment& experiment_;
  const ExperimentSpec& spec_;
  const ExpandOptions& options_;
  TrialProtocol protocol_;  // without thresholds of methods
  std::shared_ptr<const TrialProtocol> shared_protocol_;
};

}  // namespace

absl::StatusOr<std::vector<Trial>> Expand(const Experiment& experiment, const ExpandOptions& options) {
  return Expander(experiment, options).Run();
}

namespace {

// Whether the loss is one term, cross entropy with its defaults.
bool IsPlainCrossEntropy(const LossSpec& loss) {
  LossSpec plain, filled = loss;
  plain.add_term()->mutable_cross_entropy();
  FillDefaults(&plain);
  FillDefaults(&filled);
  return MessageDigest(plain) == MessageDigest(filled);
}

// Returns why the method can't use a model that was trained without it; empty if it can.
std::string NeedsTraining(const MethodSpec& method) {
  if (const std::string why = TraitsOf(method.inference()).needs_training(); !why.empty()) return why;
  if (UsesArraysOnly(method.model())) return "is fitted to features or has outputs of its own";
  if (method.has_open_set()) return "is trained with samples that stand for unknown classes";
  if (method.has_pretraining()) return "is trained in two stages";
  if (!IsPlainCrossEntropy(method.loss())) return "is trained with its own loss";
  const HeadSpec& head = method.model().head();
  const LinearHeadSpec& linear = head.linear();
  if (!head.has_linear() || linear.normalise_logits() || linear.feature_temperature() > 0 || linear.stop_gradient() ||
      head.extra_outputs() > 0) {
    return "is trained with its own head";
  }
  return "";
}

// The fields in which two post-hoc methods on the same model can differ.
std::string ScoringDescription(const MethodSpec& method) {
  MethodSpec own;
  *own.mutable_inference() = method.inference();
  *own.mutable_score() = method.score();
  return MessageDigest(own);
}

// For each method, the number of methods with the same training.
std::vector<int> CountSameTrainings(const std::vector<LoadedMethod>& methods) {
  std::map<std::string, int> counts;
  std::vector<std::string> digests;
  for (const LoadedMethod& method : methods) {
    MethodSpec training = method.spec;
    training.clear_inference();
    training.clear_score();
    training.clear_decision();
    FillDefaults(&training);
    digests.push_back(MessageDigest(training));
    ++counts[digests.back()];
  }
  std::vector<int> result;
  for (const std::string& digest : digests) result.push_back(counts[digest]);
  return result;
}

// Sets the method's model and input and removes its training. Returns what the model lacks for the method.
absl::StatusOr<std::string> PutOnModel(const ModelSpec& model, const InputSpec& input, MethodSpec* method) {
  *method->mutable_model() = model;
  *method->mutable_input() = input;
  method->clear_augmentation();
  method->clear_loss();
  method->clear_training();
  // The note is on the recipe of the method's own training.
  const std::string own = method->name().substr(0, method->name().find('+'));
  if (method->has_note()) {
    method->set_note(absl::StrCat("On a model that was trained elsewhere. The method's own note ('openset show method ",
                                  own, "') is on its training, too."));
  }
  // Outputs of several passes are stored with their disagreement; the passes are not made again.
  if (model.has_outputs() && TraitsOf(method->score()).member_uncertainty()) {
    method->mutable_inference()->mutable_plain();
  }
  const std::vector<FieldProblem> problems = ResolveMethod(method);
  for (const FieldProblem& problem : problems) {
    if (!absl::StartsWith(problem.path, "score") && !absl::StartsWith(problem.path, "inference")) {
      return absl::InvalidArgumentError(absl::StrCat(problem.path, ": ", problem.message));
    }
  }
  if (!problems.empty()) return problems[0].message;
  if (TraitsOf(method->inference()).dropout() && !TraitsOf(method->model()).dropout()) {
    return "needs a model with dropout";
  }
  return "";
}

}  // namespace

absl::StatusOr<PostHocMethods> MakePostHoc(std::vector<LoadedMethod> methods, const ModelSpec& model,
                                           const InputSpec& input) {
  const std::vector<int> same_trainings = CountSameTrainings(methods);
  std::vector<std::string> reasons;
  // For each way of scoring, the index of the method whose training most methods share; if several have it, of the
  // first one.
  std::map<std::string, size_t> best;
  for (size_t m = 0; m < methods.size(); ++m) {
    MethodSpec& spec = methods[m].spec;
    FillDefaults(&spec);
    reasons.push_back(NeedsTraining(spec));
    if (reasons[m].empty()) {
      OPENSET_ASSIGN_OR_RETURN(reasons[m], PutOnModel(model, input, &spec));
    }
    if (!reasons[m].empty()) continue;
    const auto [entry, is_new] = best.emplace(ScoringDescription(spec), m);
    if (!is_new && same_trainings[m] > same_trainings[entry->second]) entry->second = m;
  }
  PostHocMethods result;
  for (size_t m = 0; m < methods.size(); ++m) {
    if (reasons[m].empty()) {
      const size_t first = best.at(ScoringDescription(methods[m].spec));
      if (first == m) continue;
      reasons[m] = absl::StrCat("has the same score as ", methods[first].spec.name());
    }
    result.skipped.push_back({methods[m].spec.name(), reasons[m]});
  }
  for (size_t m = 0; m < methods.size(); ++m) {
    if (reasons[m].empty()) result.methods.push_back(std::move(methods[m]));
  }
  return result;
}

}  // namespace openset
