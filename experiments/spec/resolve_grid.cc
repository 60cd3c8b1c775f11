#include "experiments/spec/resolve_grid.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/proto/field_path.h"
#include "core/status_macros.h"
#include "experiments/spec/axis.h"
#include "experiments/spec/check_method.h"

namespace openset {
namespace {

class Grid {
 public:
  Grid(const std::vector<GridAxis>& axes, const LocateField& locate) : axes_(axes), locate_(locate) {}

  // A method for each combination of values of axes `a` and up.
  absl::Status Add(size_t a, TrialMethod so_far) {
    if (a == axes_.size()) return AddResolved(std::move(so_far));
    const Axis& axis = *axes_[a].axis;
    for (const std::string& value : axis.value()) {
      TrialMethod next = so_far;
      if (axes_[a].is_labelled) {
        AxisValue* label = next.axis.Add();
        label->set_name(AxisName(axis));
        label->set_value(AxisLabel(value));
      }
      const absl::Status set = SetAxis(axis, value, &next.method);
      if (!set.ok()) {
        return absl::InvalidArgumentError(absl::StrCat(axes_[a].where, ": ", next.method.name(), ": ", set.message()));
      }
      OPENSET_RETURN_IF_ERROR(Add(a + 1, std::move(next)));
    }
    return absl::OkStatus();
  }

  std::vector<std::shared_ptr<const TrialMethod>> TakeMethods() { return std::move(methods_); }

 private:
  absl::Status AddResolved(TrialMethod method) {
    std::vector<std::string> lines;
    const MethodSpec& spec = method.method;
    for (const FieldProblem& problem : ResolveMethod(&method.method)) {
      int setter = -1;
      for (size_t a = 0; a < axes_.size(); ++a) {
        const bool sets_it = SamePlace(spec, axes_[a].axis->path(), spec).value_or("") == problem.path;
        if (sets_it) setter = static_cast<int>(a);
      }
      lines.push_back(absl::StrCat(locate_(setter, problem.path), ": ", problem.message));
    }
    if (!lines.empty()) return absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
    methods_.push_back(std::make_shared<TrialMethod>(std::move(method)));
    return absl::OkStatus();
  }

  const std::vector<GridAxis>& axes_;
  const LocateField& locate_;
  std::vector<std::shared_ptr<const TrialMethod>> methods_;
};

}  // namespace

std::vector<FieldProblem> ResolveMethod(MethodSpec* method) {
  FillDefaults(method);
  std::vector<FieldProblem> problems = FindProblems(*method);
  if (problems.empty()) problems = FindMethodProblems(*method);
  return problems;
}

absl::StatusOr<std::vector<std::shared_ptr<const TrialMethod>>> ResolveGrid(const TrialMethod& base,
                                                                            const std::vector<GridAxis>& axes,
                                                                            const LocateField& locate) {
  Grid grid(axes, locate);
  OPENSET_RETURN_IF_ERROR(grid.Add(0, base));
  return grid.TakeMethods();
}

}  // namespace openset
