"""Checks that a source includes the headers of what it uses, directly or through the project's headers.

Only for precompiled headers (tools/build_defs/precompiled.bzl): every file sees these, so the compiler can't notice a
missing include. `./bazelw build --config=no_precompiled //...` shows the same in half an hour.

    python3 tools/checks/includes.py [--fix] FILE...     --fix inserts them; `bazel run //tools:format` then sorts them
"""

import re
import sys

# The names that show that a file uses a header.
USES = {
    "algorithm": r"std::(sort|stable_sort|min|max|minmax|clamp|find|find_if|any_of|all_of|none_of|count|count_if|copy|copy_n|"
                 r"fill|fill_n|transform|reverse|unique|lower_bound|upper_bound|equal|max_element|min_element|nth_element|"
                 r"partial_sort|remove_if|rotate|is_sorted|binary_search|generate|set_difference|merge)\(",
    "cmath": r"std::(sqrt|exp2?|log2?|log1p|expm1|pow|floor|ceil|l?l?round|trunc|isfinite|isnan|isinf|fmod|[lt]gamma|erf|cos|"
             r"sin|hypot|nextafter|copysign|cbrt|tanh)\(",
    "cstdint": r"\bu?int(8|16|32|64)_t\b",
    "filesystem": r"std::filesystem",
    "functional": r"std::(function|hash|greater|less)\b",
    "map": r"std::(multi)?map<",
    "memory": r"std::(unique_ptr|shared_ptr|make_unique|make_shared|weak_ptr)\b",
    "optional": r"std::(optional|nullopt)\b",
    "set": r"std::(multi)?set<",
    "string": r"std::(string|to_string)\b",
    "utility": r"std::(move|pair|forward|swap|exchange|make_pair)\b",
    "vector": r"std::vector<",
    "absl/algorithm/container.h": r"absl::c_\w+",
    "absl/status/status.h": r"absl::(Status|OkStatus|StatusCode|Is[A-Z]\w+|\w+Error)\b",
    "absl/status/statusor.h": r"absl::StatusOr\b",
    "absl/strings/match.h": r"absl::(StrContains|StartsWith|EndsWith|EqualsIgnoreCase)\b",
    "absl/strings/str_cat.h": r"absl::(StrCat|StrAppend)\b",
    "absl/strings/str_format.h": r"absl::(StrFormat|StrAppendFormat|FPrintF)\b",
    "absl/strings/str_join.h": r"absl::StrJoin\b",
    "absl/strings/str_split.h": r"absl::(StrSplit|SkipEmpty|MaxSplits|ByAnyChar)\b",
    "absl/types/span.h": r"absl::(Span|MakeSpan|MakeConstSpan)\b",
}
USES = {header: re.compile(use) for header, use in USES.items()}
# Headers that include others.
BRINGS = {"absl/status/statusor.h": "absl/status/status.h", "stdint.h": "cstdint"}
INCLUDE = re.compile(r'^#include ["<]([^">]+)[">]', re.M)
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')


def included(path, texts, known):
    """The headers that `path` includes, directly or through others in `texts`."""
    if path not in known:
        known[path] = set()
        for header in INCLUDE.findall(texts[path]):
            known[path] |= {header, BRINGS.get(header, header)}
            if header in texts:
                known[path] |= included(header, texts, known)
    return known[path]


def missing(texts):
    """(path, header) for each header that a file needs and does not include."""
    known = {}
    for path, text in texts.items():
        code = COMMENT_OR_TEXT.sub("", text)
        for header, use in USES.items():
            if use.search(code) and header not in included(path, texts, known):
                yield path, header


def insert(path, text, header):
    line = f'#include "{header}"\n' if "/" in header else f"#include <{header}>\n"
    first, *others = INCLUDE.finditer(text)
    # After the include of its own header, which comes first; ours and Abseil's with the others of theirs.
    alike = [one for one in others if "/" in one.group(1)] if "/" in header else []
    place = alike[0].start() if alike else text.index("\n", first.start()) + 1
    text = text[:place] + ("\n" if first.group(1).endswith(".h") and not alike else "") + line + text[place:]
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return text


def main(arguments):
    fix = "--fix" in arguments
    texts = {}
    for path in arguments:
        if path.endswith((".h", ".cc")):
            try:
                with open(path, encoding="utf-8") as file:
                    texts[path] = file.read()
            except (OSError, UnicodeDecodeError) as error:
                sys.exit(f"tools/checks/includes.py: {path}: {error}")
    problems = list(missing(texts))
    for path, header in problems:
        print(f"{path}: include {header}, which it uses")
        if fix:
            texts[path] = insert(path, texts[path], header)
    print(f"{len(texts)} sources, {len(problems)} includes are missing")
    return 1 if problems or not texts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
