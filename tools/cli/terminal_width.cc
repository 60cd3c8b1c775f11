#include "tools/cli/terminal_width.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "core/text/wrapped_text.h"

namespace openset {

size_t TableWidth() {
  constexpr size_t kLeast = 40;
  winsize size = {};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kTextWidth;
  return std::max<size_t>(kLeast, size.ws_col);
}

}  // namespace openset
