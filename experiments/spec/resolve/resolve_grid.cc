#include "experiments/spec/resolve/resolve_grid.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/in_parallel.h"
#include "core/proto/field_path.h"
#include "core/status_macros.h"
#include "experiments/spec/axis.h"
#include "experiments/spec/method/check_method.h"

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
  return absl::InvalidArgumentError(absl::StrCat(axis.where, ": ", made->method.name(), ": ", set.message()));
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

}  // namespace openset
