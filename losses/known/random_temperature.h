// Loss of random temperature scaling (RTS, Shang et al., AAAI 2023), for the head of the same name
// (models/heads/random_temperature_head.h), which gives it logits of a random temperature and, last, a divergence d:
//
//   mean_i -log softmax(z without z_last)_y + divergence * mean_i z_last.
//
// At least 0, up to the 1e-8 in d. As in OpenOOD's rts_trainer.py, which also clips gradients to a norm of 2.5.
#ifndef OPENSET_LOSSES_KNOWN_RANDOM_TEMPERATURE_H_
#define OPENSET_LOSSES_KNOWN_RANDOM_TEMPERATURE_H_

#include <memory>

#include "losses/loss.h"
#include "losses/loss.pb.h"

namespace openset {

std::unique_ptr<LossTerm> MakeRandomTemperature(const RandomTemperatureSpec& spec);

}  // namespace openset

#endif  // OPENSET_LOSSES_KNOWN_RANDOM_TEMPERATURE_H_
