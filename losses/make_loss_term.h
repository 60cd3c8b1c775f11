// LossTermSpec -> LossTerm.
#ifndef OPENSET_LOSSES_MAKE_LOSS_TERM_H_
#define OPENSET_LOSSES_MAKE_LOSS_TERM_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

// lambda times the term; its parameters, if it has any, are f32 on setting.device. Precondition: the spec obeys its
// schema's rules and has its defaults filled in.
std::unique_ptr<LossTerm> MakeLossTerm(const LossTermSpec& spec, const LossSetting& setting = {});

}  // namespace openset

#endif  // OPENSET_LOSSES_MAKE_LOSS_TERM_H_
