#!/bin/bash
# Tests the page of simulated results in a browser; see report_page_test.py.
set -eu
folder=${TEST_TMPDIR:-$(mktemp -d)}
tools/testing/report_page/made_up_page "$folder"
python3 tools/testing/report_page/report_page_test.py "$folder/page.html" "$folder/report.json" "${TEST_UNDECLARED_OUTPUTS_DIR:-$folder}"
