#!/bin/bash
# On another distribution bazelw says one line and exits with 2, before it installs anything.
bazelw=$TEST_SRCDIR/openset/bazelw
printf 'ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04 LTS"\n' >"$TEST_TMPDIR/os-release"
message=$(OPENSET_OS_RELEASE=$TEST_TMPDIR/os-release "$bazelw" version 2>&1)
code=$?
expected="bazelw: openset is built on Debian 12 or 13, x86-64 (or in a container of one of them); this machine is Ubuntu 24.04 LTS x86_64."
[ $code = 2 ] || { echo "exit code $code"; exit 1; }
[ "$message" = "$expected" ] || { echo "said: $message"; exit 1; }
