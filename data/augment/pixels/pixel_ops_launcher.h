// Finds the kernel in pixel_ops_kernel.cu, which is in a library of its own.
#ifndef OPENSET_DATA_AUGMENT_PIXELS_PIXEL_OPS_LAUNCHER_H_
#define OPENSET_DATA_AUGMENT_PIXELS_PIXEL_OPS_LAUNCHER_H_

#include "data/augment/pixels/pixel_ops_kernel.h"

namespace openset {

// Loads the library with the kernel: the file that the environment variable OPENSET_PIXEL_KERNEL names, or the one
// among the program's files, which a build without --config=cuda lacks. Null, so that the CPU computes, without one; if
// the variable is "none"; and, with a warning in the log, if the program's own can't be loaded. Throws c10::Error if
// the file that the variable names can't be loaded.
PixelOpsLauncher FindPixelOpsLauncher();

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_PIXELS_PIXEL_OPS_LAUNCHER_H_
