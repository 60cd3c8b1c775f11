#!/bin/bash
# Checks that a report's LaTeX compiles without errors with a real TeX (Debian: texlive-latex-base, and
# texlive-latex-extra for booktabs and longtable).
#
#   bazel run //tools:latex_report -- [SPEC] [openset's flags]     # default: quickstart, with the existing records
#
# Without records of SPEC, all cells are dashes, which must compile too.
set -u
openset=$PWD/tools/openset
cd "${BUILD_WORKING_DIRECTORY:-.}" || exit 1
spec=quickstart
case ${1:-} in "" | --*) ;; *) spec=$1; shift ;; esac
command -v pdflatex >/dev/null || { echo "latex_report: needs pdflatex (apt-get install texlive-latex-extra)" >&2; exit 2; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$openset" report "$spec" --format=latex --out="$folder/table.tex" "$@" || exit $?
packages=$(sed -n 's/^% needs \(.*\)$/\1/p' "$folder/table.tex")
cat >"$folder/report.tex" <<TEX
\documentclass{article}
$packages
\begin{document}
\input{table}
\end{document}
TEX
cd "$folder" || exit 1
if ! pdflatex -interaction=nonstopmode -halt-on-error report.tex >log.txt 2>&1; then
  grep -A4 '^!' log.txt >&2 || tail -20 log.txt >&2
  echo "latex_report: $spec does not compile" >&2
  exit 1
fi
grep -o 'Output written on .*' log.txt
