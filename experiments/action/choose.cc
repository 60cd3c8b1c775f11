// Chooses among the candidates of a search by their records. The process that runs the plan chooses
// (Planner::Choose()). The choice extends the plan; the store has no result of it.
#include "core/files/digest.h"
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

std::string ChoiceKey(const std::vector<std::string>& trial_ids) {
  Sha256 key;
  key.Update("choose");
  for (const std::string& id : trial_ids) key.Update(id);
  return ToHex(key.Finish());
}

const Stage& ChooseStage() {
  static const Choose* const stage = new Choose;
  return *stage;
}

}  // namespace openset
