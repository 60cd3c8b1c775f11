#include "eval/metrics/conventions.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "core/text/suggest.h"
#include "google/protobuf/text_format.h"

namespace openset {
namespace {

// One row of the table below.
struct Row {
  const char* printed_name;
  const char* metric;  // text of a MetricSpec
  const char* remark;
  double factor = 1;
  double offset = 0;
};

struct Table {
  const char* name;
  const char* tool;
  std::vector<Row> rows;
};

std::vector<Table> Tables() {
  return {
      {"openood",
       "OpenOOD v1.5",
       {{"ACC", "accuracy {}", "OpenOOD: of the base network, whatever the detector"},
        {"FPR@95", "fpr_at_95tpr_unknown_positive { rule: FIRST_REACHING_CORNERS }",
         "unknown is positive; points in a straight line of the ROC curve are dropped first"},
        {"AUROC", "auroc {}", ""},
        {"AUPR_IN", "aupr_known { form: TRAPEZOID }", "trapezoids, not average precision"},
        {"AUPR_OUT", "aupr_unknown { form: TRAPEZOID }", "trapezoids, not average precision"}}},
      {"pytorch_ood",
       "pytorch-ood 0.4",
       {{"AUROC", "auroc {}", ""},
        {"AUPR-IN", "aupr_known { form: TRAPEZOID }", "trapezoids, not average precision"},
        {"AUPR-OUT", "aupr_unknown { form: TRAPEZOID }", "trapezoids, not average precision"},
        {"FPR95TPR", "fpr_at_95tpr_unknown_positive {}",
         "unknown is positive; the first threshold with a TPR of 95 %"}}},
      {"odin",
       "ODIN (Liang et al. 2018)",
       {{"FPR at TPR 95%", "fpr_at_95tpr { rule: GRID_MEAN }",
         "mean over the thresholds of a fixed grid with a TPR of 94.95 % to 95.05 %; set the grid of the code"},
        {"Detection error", "detection_error {}", "the code: least over its grid"},
        {"AUROC", "auroc {}", "the code: rectangles over its grid"},
        {"AUPR In", "aupr_known { form: BALANCED_STEP }", "both sides weigh the same; the code: over its grid"},
        {"AUPR Out", "aupr_unknown { form: BALANCED_STEP }", "both sides weigh the same; the code: over its grid"}}},
      {"oe",
       "Outlier Exposure (Hendrycks et al. 2019); energy_ood with known as positive",
       {{"FPR95", "fpr_at_95tpr_unknown_positive { rule: NEAREST }",
         "unknown is positive; the threshold whose TPR is nearest to 95 %"},
        {"AUROC", "auroc {}", ""},
        {"AUPR", "aupr_unknown { form: STEP }", "average precision; it moves with the known : unknown ratio"}}},
      {"udb",
       "unknown-detection-benchmarks (Kim et al.)",
       {{"ACC", "accuracy {}", ""},
        {"AURC x1000", "aurc { form: INPUT_ORDER }", "equal scores in the order of the input", 1000},
        {"FPR@95%TPR", "fpr_at_95tpr { rule: NEAREST_WALK }",
         "samples dropped one by one, the known of equal scores first, to the TPR nearest to 95 %"},
        {"AUROC", "auroc { tied: NOTHING }", "ties count 0"}}},
      {"arpl",
       "ARPL (Chen et al. 2021), and the code of Vaze et al. 2022 for OSCR",
       {{"ACC", "accuracy {}", ""},
        {"AUROC", "auroc { tied: NOTHING }", "ties count 0"},
        {"OSCR", "oscr { form: LEGACY }", "the correct samples start one place later than the unknown ones"},
        {"TNR", "fpr_at_95tpr { rule: NEAREST_WALK }", "1 - FPR; the threshold whose TPR is nearest to 95 %", -1, 1},
        {"DTACC", "detection_error {}", "1 - detection error", -1, 1}}},
      {"fd_shifts",
       "FD-Shifts (Jaeger et al. 2023, Traub et al. 2024)",
       {{"accuracy", "accuracy {}", ""},
        {"aurc x1000", "aurc { form: TRAPEZOID_DISTINCT }", "trapezoids between distinct scores", 1000},
        {"e-aurc x1000", "eaurc { form: TRAPEZOID_DISTINCT }", "less r + (1 - r) ln(1 - r) for the risk r", 1000},
        {"augrc x1000", "augrc {}", "", 1000},
        {"e-augrc x1000", "eaugrc {}", "", 1000},
        {"aurc-ba x1000", "class_balanced_aurc {}", "a class without accepted samples has no risk", 1000},
        {"augrc-ba x1000", "class_balanced_augrc {}", "", 1000},
        {"failauc", "auroc_misclassification {}", "of correct against wrong predictions"}}},
      {"torch_uncertainty",
       "torch-uncertainty 0.13",
       {{"cls/Acc", "accuracy {}", ""},
        {"cls/Brier", "brier {}", ""},
        {"cls/NLL", "nll {}", ""},
        {"cal/ECE", "ece { bins: 15 edges: LEFT_CLOSED }", ""},
        {"cal/MCE", "mce { bins: 15 edges: LEFT_CLOSED }", ""},
        {"cal/aECE", "adaptive_ece { bins: 15 }", "equal confidences in the order of its sort"},
        {"sc/AURC", "aurc { form: TRAPEZOID_NORMALISED }", "from coverage 1/n, over 1 - 1/n"},
        {"sc/AUGRC", "augrc { form: TRAPEZOID_NORMALISED }", "from coverage 1/n, over 1 - 1/n"},
        {"sc/Cov_5Risk", "coverage_at_risk { risk: 0.05 }", "if there is none, it prints NaN"},
        {"sc/Risk_80Cov", "risk_at_coverage { coverage: 0.8 }", "equal scores in the order of its sort"},
        {"ood/AUROC", "auroc {}", ""},
        {"ood/AUPR", "aupr_unknown { form: STEP }", "average precision"},
        {"ood/FPR95", "fpr_at_95tpr_unknown_positive { rule: FIRST_REACHING }",
         "unknown is positive; the first threshold with a TPR of 95 % (up to 0.12: the one nearest to it)"}}},
      {"released",
       "OpenAUC (Wang et al. 2022), released code",
       {{"ACC", "accuracy {}", ""},
        {"AUROC", "auroc {}", ""},
        {"OpenAUC", "openauc { mask: EPSILON_DOUBLE }", "wrong samples get the largest unknown score + 1e-5"},
        {"Error@95%TPR", "error_at_95tpr { rule: RELEASED }",
         "TPR nearest to 95 %, then the samples at the threshold change sides"},
        {"ma_f_score", "open_set_f_micro { at { best_on_grid {} } }",
         "named macro, computed as micro; thresholds 0.01 to 0.99 of scores in [0, 1]"},
        {"mi_f_score", "open_set_f_macro { at { best_on_grid {} } }",
         "named micro, computed as macro; thresholds 0.01 to 0.99 of scores in [0, 1]"}}},
  };
}

}  // namespace

std::string RemarkOn(const MetricSpec& metric) {
  const auto at = [](const OperatingPoint& point) -> std::string {
    switch (point.kind_case()) {
      case OperatingPoint::kBestOnGrid:
        return "threshold: the best of a grid, chosen on these samples";
      case OperatingPoint::kThreshold:
        return absl::StrFormat("threshold: %g, as given", point.threshold());
      case OperatingPoint::kKnownAccepted:
        return absl::StrFormat("threshold: accepts %g %% of these known samples", 100 * point.known_accepted());
      case OperatingPoint::kBest:
      case OperatingPoint::KIND_NOT_SET:
        break;
    }
    return "threshold: the best, chosen on these samples";
  };
  const auto balanced = [](const BalancedScoreSpec& spec) -> std::string {
    switch (spec.at_case()) {
      case BalancedScoreSpec::kThreshold:
        return absl::StrFormat("threshold: %g, as given", spec.threshold());
      case BalancedScoreSpec::kOfMethod:
        return "threshold: the method's own";
      case BalancedScoreSpec::kKnownAccepted:
      case BalancedScoreSpec::AT_NOT_SET:
        break;
    }
    return absl::StrFormat("threshold: accepts %g %% of these known samples",
                           100 * (spec.has_known_accepted() ? spec.known_accepted() : 0.95));
  };
  switch (metric.kind_case()) {
    case MetricSpec::kOpenSetFMacro:
      return at(metric.open_set_f_macro().at());
    case MetricSpec::kOpenSetFMicro:
      return at(metric.open_set_f_micro().at());
    case MetricSpec::kYoudenMacro:
      return at(metric.youden_macro().at());
    case MetricSpec::kYoudenMicro:
      return at(metric.youden_micro().at());
    case MetricSpec::kNacc:
      return at(metric.nacc().at());
    case MetricSpec::kNaccRates:
      return at(metric.nacc_rates().at());
    case MetricSpec::kOpenSetAccuracy:
      return at(metric.open_set_accuracy().at());
    case MetricSpec::kOuter:
      return balanced(metric.outer());
    case MetricSpec::kHalfpoint:
      return balanced(metric.halfpoint());
    case MetricSpec::kOverall:
      return balanced(metric.overall());
    case MetricSpec::kFprAt95Tpr:
      return "known is positive: unknown samples accepted where 95 % of the known ones are";
    case MetricSpec::kFprAt95TprUnknownPositive:
      return "unknown is positive: known samples rejected where 95 % of the unknown ones are";
    case MetricSpec::kFprAtTpr:
      return metric.fpr_at_tpr().positive() == FprAtLevelSpec::UNKNOWN
                 ? absl::StrFormat("unknown is positive: known samples rejected where %g %% of the unknown ones are",
                                   100 * metric.fpr_at_tpr().tpr())
                 : absl::StrFormat("known is positive: unknown samples accepted where %g %% of the known ones are",
                                   100 * metric.fpr_at_tpr().tpr());
    case MetricSpec::kErrorAt95Tpr:
      return "unknown is positive: at the threshold that rejects 95 % of these unknown samples";
    default:
      return "";
  }
}

namespace {

Convention Own() {
  Convention convention = {"openset", "openset", {}};
  for (MetricSpec& metric : AllMetrics()) {
    const google::protobuf::OneofDescriptor* kind = MetricSpec::descriptor()->FindOneofByName("kind");
    const std::string name = MetricSpec::GetReflection()->GetOneofFieldDescriptor(metric, kind)->name();
    std::string remark = RemarkOn(metric);
    convention.metrics.push_back({name, std::move(metric), 1, 0, std::move(remark)});
  }
  return convention;
}

}  // namespace

std::vector<Convention> Conventions() {
  std::vector<Convention> conventions = {Own()};
  for (const Table& table : Tables()) {
    Convention convention = {table.name, table.tool, {}};
    for (const Row& row : table.rows) {
      ConventionMetric metric = {row.printed_name, {}, row.factor, row.offset, row.remark};
      google::protobuf::TextFormat::ParseFromString(row.metric, &metric.metric);
      convention.metrics.push_back(std::move(metric));
    }
    conventions.push_back(std::move(convention));
  }
  return conventions;
}

absl::StatusOr<Convention> FindConvention(absl::string_view name) {
  std::vector<std::string> known;
  for (Convention& convention : Conventions()) {
    if (convention.name == name) return std::move(convention);
    known.push_back(convention.name);
  }
  return absl::NotFoundError(UnknownName("convention", name, known));
}

std::vector<MetricSpec> AllMetrics() {
  const google::protobuf::OneofDescriptor* kind = MetricSpec::descriptor()->FindOneofByName("kind");
  std::vector<MetricSpec> metrics(kind->field_count());
  for (int i = 0; i < kind->field_count(); ++i) {
    MetricSpec::GetReflection()->MutableMessage(&metrics[i], kind->field(i));
  }
  return metrics;
}

}  // namespace openset
