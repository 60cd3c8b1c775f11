// How wide the text of tables may be.
#ifndef OPENSET_TOOLS_CLI_TERMINAL_WIDTH_H_
#define OPENSET_TOOLS_CLI_TERMINAL_WIDTH_H_

#include <cstddef>

namespace openset {

// Columns of the terminal that standard output is, at least 40; kTextWidth (core/text/wrapped_text.h) where it is none,
// so that files and pipes don't depend on who watches.
size_t TableWidth();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_TERMINAL_WIDTH_H_
