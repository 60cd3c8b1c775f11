// The width of tables in text.
#ifndef OPENSET_TOOLS_CLI_TERMINAL_WIDTH_H_
#define OPENSET_TOOLS_CLI_TERMINAL_WIDTH_H_

#include <cstddef>

namespace openset {

// Returns the number of columns of the terminal, at least 40. If standard output is not a terminal, returns kTextWidth
// (core/text/wrapped_text.h), so that output in files and pipes is always the same.
size_t TableWidth();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_TERMINAL_WIDTH_H_
