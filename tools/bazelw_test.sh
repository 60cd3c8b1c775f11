#!/bin/bash
# On another distribution, bazelw prints one line and exits with 2 before it installs anything. If packages are missing,
# it says so and installs them: as root, by a sudo that needs no password, or, on a terminal, if the user says yes.
bazelw=$TEST_SRCDIR/openset/bazelw
printf 'ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04 LTS"\n' >"$TEST_TMPDIR/os-release"
message=$(OPENSET_OS_RELEASE=$TEST_TMPDIR/os-release "$bazelw" version 2>&1)
code=$?
expected="bazelw: openset is built on Debian 12 or 13, x86-64 (or in a container of one of them); this machine is Ubuntu 24.04 LTS x86_64."
[ $code = 2 ] || { echo "exit code $code"; exit 1; }
[ "$message" = "$expected" ] || { echo "said: $message"; exit 1; }

# A machine without unzip. Its commands only write a line to a file.
bin=$TEST_TMPDIR/bin
mkdir -p "$bin"
for command in bash dirname uname sh; do ln -sf "$(command -v $command)" "$bin/$command"; done
for command in bazel g++ python3 git curl apt-get; do
  printf '#!/bin/bash\necho "%s $*" >>"%s/done"\n' $command "$TEST_TMPDIR" >"$bin/$command"
done
printf '#!/bin/bash\necho $FAKE_UID\n' >"$bin/id"
# It takes no password unless PASSWORD says so; then `sudo -n` fails.
printf '#!/bin/bash\n[ "$PASSWORD$1" != "yes-n" ] || exit 1\necho "sudo $*" >>"%s/done"\nwhile [ "${1#-}" != "$1" ]; do shift; done\nexec "$@"\n' "$TEST_TMPDIR" >"$bin/sudo"
# `true` is a file for sudo, as it is in /usr/bin.
printf '#!/bin/bash\n' >"$bin/true"
chmod +x "$bin"/{bazel,g++,python3,git,curl,apt-get,id,sudo,true}
printf 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian 12"\n' >"$TEST_TMPDIR/os-release"

# run UID CI COMMAND...: sets $code to the exit code, $said to the output, $done to the commands that ran.
run() {
  rm -f "$TEST_TMPDIR/done"
  said=$(env -u CI PATH="$bin" FAKE_UID="$1" CI="$2" OPENSET_OS_RELEASE="$TEST_TMPDIR/os-release" "${@:3}" 2>&1 </dev/null)
  code=$?
  done=$(cat "$TEST_TMPDIR/done" 2>/dev/null | grep -v "^python3")
}
fail() { printf '%s: exit code %s\nsaid: %s\ndone: %s\n' "$1" "$code" "$said" "$done"; exit 1; }

# Without a terminal: as root, and by sudo without a password, with and without --yes or CI=true.
for uid in 0 1000; do
  for how in plain CI=false --yes CI=true; do
    case $how in
      --yes) run $uid "" "$bazelw" --yes test x ;;
      CI=*) run $uid "${how#CI=}" "$bazelw" test x ;;
      plain) run $uid "" "$bazelw" test x ;;
    esac
    [ $code = 0 ] || fail "$how, as $uid"
    case "$said" in *"lacks: unzip."*"apt-get install --yes --no-install-recommends unzip ca-certificates"*"installing them now"*) ;; *) fail "$how, as $uid" ;; esac
    case "$done" in *"apt-get update"*"apt-get install --yes --no-install-recommends unzip ca-certificates"*"bazel test x") ;; *) fail "$how, as $uid" ;; esac
    case "$done" in *sudo*) [ $uid = 1000 ] || fail "$how, as root" ;; *) [ $uid = 0 ] || fail "$how, as a user" ;; esac
  done
done

# Nobody can type sudo's password: it says what to type. The same if there is no sudo.
for how in plain --yes; do
  for sudo in there absent; do
    [ $sudo = there ] || mv "$bin/sudo" "$bin/no_sudo"
    if [ $how = --yes ]; then words="--yes test x"; else words="test x"; fi
    PASSWORD=yes run 1000 "" "$bazelw" $words
    [ $sudo = there ] || mv "$bin/no_sudo" "$bin/sudo"
    [ $code = 2 ] && [ -z "$done" ] || fail "with a password, $how, sudo $sudo"
    case "$said" in *'sudo sh -c "apt-get update && apt-get install'*"nothing was installed"*"./bazelw test x"*) ;; *) fail "with a password, $how" ;; esac
  done
done

# Nothing is missing: nothing is said or installed.
printf '#!/bin/bash\n' >"$bin/unzip"
chmod +x "$bin/unzip"
run 0 "" "$bazelw" test x
[ $code = 0 ] && [ -z "$said" ] && [ "$done" = "bazel test x" ] || fail "with all packages"
rm "$bin/unzip"

# On a terminal it asks, root too.
for uid in 0 1000; do for answer in n y; do
  python=$(PATH=/usr/bin:/bin command -v python3)
  rm -f "$TEST_TMPDIR/done"
  env -u CI PATH="$bin" FAKE_UID=$uid OPENSET_OS_RELEASE="$TEST_TMPDIR/os-release" "$python" - "$bazelw" $answer <<'PYTHON'
import os
import pty
import sys

pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "test", "x"])
text = b""
answered = False
while True:
    try:
        part = os.read(terminal, 1000)
    except OSError:
        break
    if not part:
        break
    text += part
    if b"[y/N]" in text and not answered:
        os.write(terminal, sys.argv[2].encode() + b"\n")
        answered = True
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
expected = 0 if sys.argv[2] == "y" else 2
if code != expected or not answered:
    sys.exit(f"answer {sys.argv[2]}: exit code {code}, said: {text.decode()}")
PYTHON
  [ $? = 0 ] || exit 1
  if [ $answer = y ]; then
    grep -q "^apt-get install" "$TEST_TMPDIR/done" || { echo "yes installed nothing"; exit 1; }
  elif grep -q "apt-get\|sudo" "$TEST_TMPDIR/done"; then
    echo "no installed something"; exit 1
  fi
done; done
