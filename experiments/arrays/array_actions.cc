#include "experiments/arrays/array_actions.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/digest.h"
#include "core/files/digest_cache.h"
#include "core/files/files.h"
#include "core/files/formats/safetensors.h"
#include "core/files/remove_tree.h"
#include "core/proto/proto_digest.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "data/catalog.pb.h"
#include "data/sets/data_set.h"
#include "data/sets/data_set_parts.h"
#include "eval/files/same_network.h"
#include "eval/files/sample_set.h"
#include "experiments/arrays/command_training.h"
#include "experiments/arrays/fitted_heads.h"
#include "experiments/arrays/sample_file.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/method/training_epochs.h"
#include "experiments/spec/model_files.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/store/components.h"
#include "experiments/store/outputs.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/records/input_trainings.h"
#include "models/model.pb.h"

namespace openset {

// Defined by :arrays_fingerprints.
extern const FingerprintRow openset_arrays_fingerprints[];

namespace {

constexpr char kWeight[] = "head.weight", kBias[] = "head.bias";

// ---- Features.

// The samples of a selection of a data set of features.
struct FeatureRows {
  std::vector<float> features;  // [N, D]
  SelectedSamples samples;
};

absl::StatusOr<FeatureRows> ReadFeatures(const Selection& selection, const ArrayContext& context) {
  OPENSET_RETURN_IF_ERROR(CountChecked(selection, context).status());
  OPENSET_ASSIGN_OR_RETURN(OpenedSelection opened, OpenSelection(selection, *context.catalog, context.data_folders));
  FeatureRows rows{{}, std::move(opened.samples)};
  OPENSET_ASSIGN_OR_RETURN(const std::vector<Image> images, opened.source->Read(rows.samples.index));
  const int64_t bytes = opened.source->shape().bytes();
  rows.features.resize(images.size() * bytes / sizeof(float));
  auto* out = reinterpret_cast<char*>(rows.features.data());
  for (const Image& image : images) {
    std::memcpy(out, image.pixels.data(), bytes);
    out += bytes;
  }
  return rows;
}

absl::StatusOr<LinearMap> FitHead(const TrainAction& action, const ArrayContext& context) {
  OPENSET_ASSIGN_OR_RETURN(const FeatureRows rows, ReadFeatures(action.data(), context));
  const FeaturesSpec& spec = action.model().features();
  const int classes = action.data().class_id_size();
  if (spec.has_class_means()) return FitClassMeans(rows.features, rows.samples.label, classes);
  return FitLogisticRegression(spec.logistic_regression(), rows.features, rows.samples.label, classes);
}

template <typename Values>
ArrayView ViewOf(const Values& values, std::vector<int64_t> shape) {
  return {ArrayType::kF64,
          std::move(shape),
          {reinterpret_cast<const char*>(values.data()), static_cast<size_t>(values.size()) * sizeof(double)}};
}

absl::StatusOr<LinearMap> LoadHead(const TrainAction& action, const std::string& key, const ArrayContext& context) {
  OPENSET_RETURN_IF_ERROR(context.store.CheckCheckpoint(key));
  const std::string path = JoinPath(context.store.CheckpointFolder(key), kCheckpointFile);
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  OPENSET_ASSIGN_OR_RETURN(const Safetensors content, DecodeSafetensors(bytes), path);
  const int64_t classes = action.data().class_id_size(), dim = action.model().features().dim();
  LinearMap head{Eigen::MatrixXd(classes, dim), Eigen::VectorXd(classes)};
  for (const auto& [name, shape, data] : {std::tuple{kWeight, std::vector<int64_t>{classes, dim}, head.weight.data()},
                                          {kBias, std::vector<int64_t>{classes}, head.bias.data()}}) {
    const auto found = content.arrays.find(name);
    if (found == content.arrays.end() || found->second.type != ArrayType::kF64 || found->second.shape != shape) {
      return absl::DataLossError(absl::StrCat(path, ": has no f64 array '", name, "' of this head's shape"));
    }
    std::memcpy(data, found->second.data.data(), found->second.data.size());
  }
  return head;
}

// ---- Outputs that were computed elsewhere.

absl::Status CheckDigest(const std::string& path, const std::string& sha256) {
  OPENSET_ASSIGN_OR_RETURN(const std::string sum, DigestCache::OfUser().Sha256Hex(path));
  if (sum == sha256) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, ": SHA-256 is ", sum, ", not ", sha256,
                                          ": it was changed since the study was planned; run the same command again"));
}

// Compares the outputs of one file with the samples of an action.
class OutputsReader {
 public:
  OutputsReader(const InferAction& action, const TrainAction& train, const ArrayContext& context)
      : action_(action), train_(train), context_(context), classes_(train.data().class_id_size()) {}

  absl::StatusOr<Outputs> Read() {
    const OutputsSpec& spec = train_.model().outputs();
    const bool is_fit = spec.has_fit_file() && IsFit();
    path_ = is_fit ? spec.fit_file() : spec.file();
    OPENSET_RETURN_IF_ERROR(CheckDigest(path_, is_fit ? spec.fit_sha256() : spec.sha256()));
    OPENSET_ASSIGN_OR_RETURN(samples_, ReadSampleSet({path_}));
    if (samples_.logits.empty()) {
      return Problem("has no logits: an imported method needs an array 'logits' [samples, classes]");
    }
    OPENSET_RETURN_IF_ERROR(CheckClasses());
    std::vector<int64_t> known;
    for (int64_t i = 0; i < samples_.num_samples; ++i) {
      if (samples_.label[i] != kUnknownLabel) known.push_back(i);
    }
    OPENSET_ASSIGN_OR_RETURN(std::vector<int64_t> shifted, TakeShifted(&known));
    if (!is_fit) OPENSET_RETURN_IF_ERROR(CheckKnown(known));
    for (const int64_t row : known) Add(row, -1, action_.known().class_id(samples_.label[row]));
    if (!is_fit) OPENSET_RETURN_IF_ERROR(AddUnknown());
    OPENSET_RETURN_IF_ERROR(AddShifted(shifted));
    result_.num_outputs = samples_.num_outputs;
    result_.feature_dim = samples_.feature_dim;
    result_.head_weight = samples_.head_weight;
    result_.head_bias = samples_.head_bias;
    if (samples_.cluster.empty() && !is_fit) result_.cluster = clusters_.Take();
    return std::move(result_);
  }

 private:
  // Whether the inference is for a score that is fitted: on the training samples, or on those that are left out of
  // them.
  bool IsFit() const {
    const bool is_left_out = action_.known().only_last_per_class() > 0;
    return action_.unknown().empty() && action_.shifted().empty() &&
           (is_left_out || MessageDigest(action_.known()) == MessageDigest(train_.data()));
  }

  absl::Status Problem(absl::string_view problem) const {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": ", problem));
  }

  absl::Status CheckClasses() const {
    if (samples_.num_outputs < classes_ || (samples_.num_classes_given && samples_.num_classes != classes_)) {
      return Problem(absl::StrCat("is for ", samples_.num_classes_given ? samples_.num_classes : samples_.num_outputs,
                                  " classes, and the task's split has ", classes_, " known ones"));
    }
    const Selection& classes = train_.data();
    const absl::StatusOr<const DataSetInfo*> info = context_.catalog->Find(classes.data_set());
    if (!info.ok()) return absl::OkStatus();
    for (size_t c = 0; c < samples_.class_names.size() && c < classes_; ++c) {
      const std::string& ours = (*info)->class_name(classes.class_id(static_cast<int>(c)));
      if (ours == samples_.class_names[c]) continue;
      return Problem(absl::StrCat("has the class '", OneLine(samples_.class_names[c]),
                                  "' where the task's known class ", c, " is '", OneLine(ours), "'"));
    }
    return absl::OkStatus();
  }

  // The action's samples; nothing if their data set is not on this machine.
  absl::StatusOr<SelectedSamples> SamplesOf(const Selection& selection) const {
    const absl::StatusOr<OpenedSelection> opened = OpenSelection(selection, *context_.catalog, context_.data_folders);
    if (opened.ok()) return opened->samples;
    if (absl::IsNotFound(opened.status())) return SelectedSamples();
    return opened.status();
  }

  // Returns the action's samples, as SamplesOf(), and appends their clusters. Errors: also kInvalidArgument if the file
  // has `rows` of them, and the task another number.
  absl::StatusOr<SelectedSamples> CheckRows(const Selection& selection, size_t rows, const std::string& samples_of,
                                            const std::string& purpose) {
    OPENSET_ASSIGN_OR_RETURN(int64_t expected, CountChecked(selection, context_));
    OPENSET_ASSIGN_OR_RETURN(SelectedSamples samples, SamplesOf(selection));
    if (samples.size() > 0) expected = samples.size();
    const bool is_estimate = samples.size() == 0 && IsEstimate(selection, *context_.catalog);
    if (static_cast<int64_t>(rows) != expected && !is_estimate) {
      return Problem(absl::StrCat("has ", rows, samples_of, " has ", expected, purpose));
    }
    clusters_.Append(selection.data_set(), samples.cluster, static_cast<int64_t>(rows));
    return samples;
  }

  // Takes the rows of the shifted groups, which are the last known ones, out of `known`.
  absl::StatusOr<std::vector<int64_t>> TakeShifted(std::vector<int64_t>* known) {
    int64_t all = 0;
    for (const ShiftedGroup& group : action_.shifted()) {
      OPENSET_ASSIGN_OR_RETURN(shifted_count_.emplace_back(), CountChecked(group.selection(), context_));
      OPENSET_ASSIGN_OR_RETURN(shifted_.emplace_back(), SamplesOf(group.selection()));
      if (shifted_.back().size() > 0) shifted_count_.back() = shifted_.back().size();
      all += shifted_count_.back();
    }
    if (all > static_cast<int64_t>(known->size())) {
      return Problem(absl::StrCat("has ", known->size(), " known samples, and the task's shifted groups have ", all));
    }
    const std::vector<int64_t> shifted(known->end() - all, known->end());
    known->resize(known->size() - all);
    return shifted;
  }

  absl::Status AddShifted(const std::vector<int64_t>& rows) {
    size_t next = 0;
    for (size_t g = 0; g < shifted_.size(); ++g) {
      const ShiftedGroup& group = action_.shifted(static_cast<int>(g));
      const std::vector<int64_t> of_group(rows.begin() + next, rows.begin() + next + shifted_count_[g]);
      next += of_group.size();
      OPENSET_RETURN_IF_ERROR(CheckLabels(of_group, shifted_[g].label, absl::StrCat("group '", group.name(), "'")));
      clusters_.Append(group.selection().data_set(), shifted_[g].cluster, static_cast<int64_t>(of_group.size()));
      for (const int64_t row : of_group) {
        const int64_t class_id = ClassOfLabel(group.selection(), samples_.label[row]);
        if (class_id < 0) {
          return Problem(absl::StrCat("row ", row, " is of class ", samples_.label[row], ", which group '",
                                      group.name(), "' lacks"));
        }
        Add(row, -1, class_id);
      }
    }
    return absl::OkStatus();
  }

  // `labels`: of the samples that the rows should be; empty if they are not known. `what` has them: "the task".
  absl::Status CheckLabels(const std::vector<int64_t>& rows, const std::vector<int64_t>& labels,
                           const std::string& what) const {
    for (size_t i = 0; i < rows.size() && i < labels.size(); ++i) {
      if (samples_.label[rows[i]] == labels[i]) continue;
      return Problem(absl::StrCat("row ", rows[i], " has the label ", samples_.label[rows[i]], ", and known sample ", i,
                                  " of ", what, " has ", labels[i],
                                  ": the rows must be in the order of the task's test part"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckKnown(const std::vector<int64_t>& known) {
    const std::string others = shifted_.empty() ? "" : " without those of shifted groups";
    OPENSET_ASSIGN_OR_RETURN(
        const SelectedSamples samples,
        CheckRows(action_.known(), known.size(), absl::StrCat(" known samples", others, ", and the task's split"),
                  " to test on"));
    OPENSET_RETURN_IF_ERROR(CheckLabels(known, samples.label, "the task"));
    if (!samples.label.empty()) return absl::OkStatus();
    std::vector<int64_t> count(classes_);
    for (const int64_t row : known) ++count[samples_.label[row]];
    for (int c = 0; c < classes_; ++c) {
      Selection of_class = action_.known();
      of_class.clear_class_id();
      of_class.clear_label();
      of_class.add_class_id(action_.known().class_id(c));
      OPENSET_ASSIGN_OR_RETURN(const int64_t wanted, CountChecked(of_class, context_));
      if (count[c] == wanted || action_.known().has_draw() || IsEstimate(of_class, *context_.catalog)) continue;
      return Problem(absl::StrCat("has ", count[c], " samples of class ", c, ", and the task has ", wanted));
    }
    return absl::OkStatus();
  }

  // Appends the unknown samples, group by group.
  absl::Status AddUnknown() {
    std::vector<std::string> groups;
    for (const UnknownGroup& group : action_.unknown()) groups.push_back(group.name());
    std::vector<std::vector<int64_t>> rows(groups.size());
    for (int64_t i = 0; i < samples_.num_samples; ++i) {
      if (samples_.label[i] != kUnknownLabel) continue;
      size_t place = 0;
      if (!samples_.group.empty() && !(groups.size() == 1 && samples_.groups.size() == 1)) {
        const std::string& name = samples_.groups[samples_.group[i]].name;
        place = std::find(groups.begin(), groups.end(), name) - groups.begin();
        if (place == groups.size()) {
          return Problem(absl::StrCat("row ", i, " is of group '", OneLine(name), "', and the groups of the task are ",
                                      absl::StrJoin(groups, ", ")));
        }
      } else if (groups.size() != 1) {
        return Problem(absl::StrCat("says no groups, and the task has ", groups.size(), ": ",
                                    absl::StrJoin(groups, ", "), " (arrays 'group' and 'group_names')"));
      }
      rows[place].push_back(i);
    }
    result_.group_names = groups;
    for (size_t g = 0; g < groups.size(); ++g) {
      const Selection& selection = action_.unknown(static_cast<int>(g)).selection();
      OPENSET_ASSIGN_OR_RETURN(
          const SelectedSamples samples,
          CheckRows(selection, rows[g].size(), absl::StrCat(" samples of group '", groups[g], "', and the task"), ""));
      const std::vector<int64_t>& labels = samples.label;
      for (size_t i = 0; i < rows[g].size(); ++i) {
        Add(rows[g][i], static_cast<int64_t>(g),
            selection.class_id(static_cast<int>(i < labels.size() ? labels[i] : 0)));
      }
    }
    return absl::OkStatus();
  }

  void Add(int64_t row, int64_t group, int64_t class_id) {
    const auto append = [&](const auto& from, int64_t width, auto* to) {
      if (from.empty()) return;
      to->insert(to->end(), from.begin() + row * width, from.begin() + (row + 1) * width);
    };
    append(samples_.logits, samples_.num_outputs, &result_.logits);
    append(samples_.features, samples_.feature_dim, &result_.features);
    append(samples_.member_uncertainty, 3, &result_.member_uncertainty);
    append(samples_.prediction, 1, &result_.prediction);
    append(samples_.cluster, 1, &result_.cluster);
    result_.label.push_back(group < 0 ? samples_.label[row] : -1);
    result_.class_id.push_back(class_id);
    result_.group.push_back(group);
  }

  const InferAction& action_;
  const TrainAction& train_;
  const ArrayContext& context_;
  const int classes_;
  std::string path_;
  SampleSet samples_;
  ClusterNumbers clusters_;               // that the data sets have
  std::vector<SelectedSamples> shifted_;  // of each shifted group; empty if its data set is not on this machine
  std::vector<int64_t> shifted_count_;
  Outputs result_;
};

// ---- Both.

absl::StatusOr<Outputs> HeadOutputs(const InferAction& action, const TrainAction& train, const std::string& train_key,
                                    const ArrayContext& context) {
  OPENSET_ASSIGN_OR_RETURN(const LinearMap head, LoadHead(train, train_key, context));
  Outputs outputs;
  outputs.num_outputs = head.weight.rows();
  outputs.feature_dim = head.weight.cols();
  ClusterNumbers clusters;
  const auto add = [&](const Selection& selection, int64_t group) -> absl::Status {
    OPENSET_ASSIGN_OR_RETURN(const FeatureRows rows, ReadFeatures(selection, context));
    clusters.Append(selection.data_set(), rows.samples.cluster, rows.samples.size());
    const std::vector<float> logits = Logits(head, rows.features);
    outputs.logits.insert(outputs.logits.end(), logits.begin(), logits.end());
    outputs.features.insert(outputs.features.end(), rows.features.begin(), rows.features.end());
    for (const int64_t label : rows.samples.label) {
      outputs.label.push_back(group < 0 ? label : -1);
      outputs.class_id.push_back(ClassOfLabel(selection, label));
      outputs.group.push_back(group);
    }
    return absl::OkStatus();
  };
  OPENSET_RETURN_IF_ERROR(add(action.known(), -1));
  for (int g = 0; g < action.unknown_size(); ++g) {
    outputs.group_names.push_back(action.unknown(g).name());
    OPENSET_RETURN_IF_ERROR(add(action.unknown(g).selection(), g));
  }
  for (const ShiftedGroup& group : action.shifted()) OPENSET_RETURN_IF_ERROR(add(group.selection(), -1));
  outputs.cluster = clusters.Take();
  outputs.head_weight.assign(head.weight.data(), head.weight.data() + head.weight.size());
  outputs.head_bias.assign(head.bias.data(), head.bias.data() + head.bias.size());
  return outputs;
}

absl::StatusOr<Outputs> LoadCommandOutputs(const InferAction& action, const TrainAction& train,
                                           const std::string& train_key, const ArrayContext& context) {
  OPENSET_RETURN_IF_ERROR(context.store.CheckCheckpoint(train_key));
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes,
                           ReadFile(JoinPath(context.store.CheckpointFolder(train_key), kCheckpointFile)));
  return OutputsOfCommand(action, train, bytes);
}

// Adds the component of a fitted head.
void AddHead(const TrainAction& action, StageProvenance* provenance) {
  if (IsFittedHead(action.model())) AddComponents(action.model().features(), openset_arrays_fingerprints, provenance);
}

}  // namespace

absl::StatusOr<int64_t> CountChecked(const Selection& of, const ArrayContext& context) {
  Selection selection = of;
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, context.catalog->Find(selection.data_set()));
  bool is_here = true;
  for (const PartOfDataSet& part : PartsOf(selection)) {
    is_here = is_here && FindPartFiles(*info, part.part(), context.data_folders).ok();
  }
  if (!is_here) {
    selection.clear_part_digest();
    for (PartOfDataSet& more : *selection.mutable_more()) more.clear_part_digest();
    return CountSamples(selection, *context.catalog);
  }
  for (const PartOfDataSet& part : PartsOf(selection)) {
    OPENSET_RETURN_IF_ERROR(
        AddContentDigests(selection.data_set(), {part.part()}, context.data_folders, context.catalog));
    OPENSET_ASSIGN_OR_RETURN(const DataSetPart* entry, FindPart(*info, part.part()));
    if (HasChecksums(*entry)) OPENSET_RETURN_IF_ERROR(CheckFiles(*info, part.part(), context.data_folders));
  }
  return CountSamples(selection, *context.catalog);
}

absl::Status TrainOnArrays(const ActionSpec& spec, const ArrayContext& context) {
  const TrainAction& action = spec.train();
  Safetensors content;
  content.metadata["key"] = context.key;
  TrainSummary summary;
  LinearMap head;
  std::string bytes;
  if (action.training().has_command()) {
    OPENSET_ASSIGN_OR_RETURN(CommandResult made, RunTrainingCommand(action, context));
    bytes = std::move(made.checkpoint);
    summary.mutable_import_note()->Assign(made.notes.begin(), made.notes.end());
    summary.mutable_epoch()->Assign(made.epochs.begin(), made.epochs.end());
  } else if (action.model().has_outputs()) {
    const OutputsSpec& outputs = action.model().outputs();
    OPENSET_RETURN_IF_ERROR(CheckDigest(outputs.file(), outputs.sha256()));
    if (outputs.has_fit_file()) OPENSET_RETURN_IF_ERROR(CheckDigest(outputs.fit_file(), outputs.fit_sha256()));
    // What the files may have wrong is said once, in the record.
    OPENSET_ASSIGN_OR_RETURN(const SampleSet samples, ReadSampleSet({outputs.file()}));
    if (outputs.has_fit_file()) {
      OPENSET_ASSIGN_OR_RETURN(const SampleSet fit, ReadSampleSet({outputs.fit_file()}));
      OPENSET_RETURN_IF_ERROR(CheckSameNetwork(fit, samples));
      if (const int64_t shared = CountShared(samples, fit, /*only_known=*/true); shared > 0) {
        summary.add_import_note(absl::StrCat(outputs.fit_file(), ": has ", shared, " of ", samples.num_samples,
                                             " samples that are measured: scores that are fitted to it look too good"));
      }
    }
    summary.mutable_import_note()->Assign(samples.hints.begin(), samples.hints.end());
  } else {
    OPENSET_ASSIGN_OR_RETURN(head, FitHead(action, context));
    content.arrays[kWeight] = ViewOf(head.weight, {head.weight.rows(), head.weight.cols()});
    content.arrays[kBias] = ViewOf(head.bias, {head.bias.size()});
  }
  if (bytes.empty()) {
    OPENSET_ASSIGN_OR_RETURN(bytes, EncodeSafetensors(content));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string staging, context.store.NewStagingFolder(context.key));
  const FolderRemover remover(staging);
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(staging, kCheckpointFile), bytes));
  *summary.mutable_action() = spec;
  *summary.mutable_provenance() = context.clock.Read(StageProvenance::TRAIN, context.key, context.store);
  AddHead(action, summary.mutable_provenance());
  OPENSET_RETURN_IF_ERROR(context.store.CommitResult(staging, std::move(summary)).status());
  // A longer training continues from the state of one that stops early.
  const bool is_over = action.training().has_command() && !IsStoppedEarly(action.training());
  return is_over ? RemoveTree(context.store.WorkFolder(context.key)) : absl::OkStatus();
}

absl::Status InferOnArrays(const ActionSpec& action, const ArrayContext& context) {
  InferSummary summary;
  *summary.mutable_action() = action;
  OPENSET_ASSIGN_OR_RETURN(*summary.mutable_training(), LoadTrainings(action, context.store));
  OPENSET_RETURN_IF_ERROR(CheckTrainings(summary));
  const InferAction& infer = action.infer();
  const TrainAction& train = FirstTraining(summary).action().train();
  const std::string train_key = InputKey(action, ActionInput::MODEL);
  absl::StatusOr<Outputs> outputs = train.training().has_command()
                                        ? LoadCommandOutputs(infer, train, train_key, context)
                                    : train.model().has_outputs() ? OutputsReader(infer, train, context).Read()
                                                                  : HeadOutputs(infer, train, train_key, context);
  OPENSET_RETURN_IF_ERROR(outputs.status());
  OPENSET_ASSIGN_OR_RETURN(const std::string staging, context.store.NewStagingFolder(context.key));
  const FolderRemover remover(staging);
  OPENSET_RETURN_IF_ERROR(WriteOutputs(*outputs, JoinPath(staging, kOutputsFile)));
  *summary.mutable_provenance() = context.clock.Read(StageProvenance::INFER, context.key, context.store);
  AddHead(train, summary.mutable_provenance());
  return context.store.CommitResult(staging, std::move(summary)).status();
}

}  // namespace openset
