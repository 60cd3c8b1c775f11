// A library in the place of libpixel_ops_kernel.so, for tests: it starts nothing, and fails with an error that says
// which function was called.
#include "data/augment/pixels/pixel_ops_kernel.h"

extern "C" int OpensetLaunchPixelOps(const openset::PixelOpsLaunch* launch) { return 1000 + launch->batch; }
