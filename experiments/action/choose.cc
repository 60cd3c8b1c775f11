// Chooses among the candidates of a search by their records. The process that runs the plan chooses
// (Planner::Choose()). The choice extends the plan; the store has no result of it.
#include "experiments/action/stage.h"

namespace openset {
namespace {

class Choose : public Stage {
 public:
  const char* Verb(ActionRole /*role*/) const override { return "choose"; }
  const char* PastTense(ActionRole /*role*/) const override { return "chose for"; }
  const char* Noun(ActionRole /*role*/) const override { return "choice"; }
};

}  // namespace

const Stage& ChooseStage() {
  static const Choose* const stage = new Choose;
  return *stage;
}

}  // namespace openset
