#!/bin/bash
# Tests `openset serve` in a browser; see serve_page_test.py.
set -eu
exec python3 tools/testing/report_page/serve_page_test.py tools/openset_unstamped "${TEST_UNDECLARED_OUTPUTS_DIR:-}"
