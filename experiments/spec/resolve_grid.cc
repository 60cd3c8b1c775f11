#include "experiments/spec/resolve_grid.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/in_parallel.h"
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
    if (a == axes_.size()) {
      methods_.push_back(std::make_shared<TrialMethod>(std::move(so_far)));
      return absl::OkStatus();
    }
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

  // Resolves them all.
  absl::StatusOr<std::vector<std::shared_ptr<const TrialMethod>>> Resolve() && {
    std::vector<std::vector<FieldProblem>> problems(methods_.size());
    InParallel(static_cast<int64_t>(methods_.size()),
               [&](int64_t m) { problems[m] = ResolveMethod(&methods_[m]->method); });
    for (size_t m = 0; m < methods_.size(); ++m) OPENSET_RETURN_IF_ERROR(Check(methods_[m]->method, problems[m]));
    return std::vector<std::shared_ptr<const TrialMethod>>(methods_.begin(), methods_.end());
  }

 private:
  absl::Status Check(const MethodSpec& spec, const std::vector<FieldProblem>& problems) const {
    std::vector<std::string> lines;
    for (const FieldProblem& problem : problems) {
      int setter = -1;
      for (size_t a = 0; a < axes_.size(); ++a) {
        const bool sets_it = SamePlace(spec, axes_[a].axis->path(), spec).value_or("") == problem.path;
        if (sets_it) setter = static_cast<int>(a);
      }
      lines.push_back(absl::StrCat(locate_(setter, problem.path), ": ", problem.message));
    }
    return lines.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
  }

  const std::vector<GridAxis>& axes_;
  const LocateField& locate_;
  std::vector<std::shared_ptr<TrialMethod>> methods_;
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
  return std::move(grid).Resolve();
}

}  // namespace openset
