// How open a problem is.
#ifndef OPENSET_CORE_OPENNESS_H_
#define OPENSET_CORE_OPENNESS_H_

#include <cmath>
#include <cstdint>

namespace openset {

// 1 - sqrt(2K / (2K + U)) for K > 0 known and U >= 0 unknown classes: 0 for a closed set, close to 1 for a very open
// one (Scheirer et al. 2013, where the classes to recognise are the training classes, as in Komorniczak and Ksieniewicz
// 2024).
inline double Openness(int64_t known_classes, int64_t unknown_classes) {
  const double known = 2 * static_cast<double>(known_classes);
  return 1 - std::sqrt(known / (known + static_cast<double>(unknown_classes)));
}

}  // namespace openset

#endif  // OPENSET_CORE_OPENNESS_H_
