"""Writes the factory of a family: Make() for the message of each member, and the switch over the oneof that lists them.

    family.py HEADER SOURCE INCLUDED_HEADER SCHEMA MESSAGE RETURNS PARAMETERS NOT_SET INTERFACE WITHOUT MEMBER...

SOURCE includes the sources of the members, so that the family is compiled at once.
"""

import re
import sys


def arms(schema, message):
    """The name of the oneof of `message`, and its arms as pairs of a name and a type."""
    with open(schema, encoding="utf-8") as file:
        text = re.sub(r"//[^\n]*", "", file.read())
    body = re.search(r"\nmessage %s \{\n(.*?)\n\}" % message, text, re.S)
    oneof = body and re.search(r"\n  oneof (\w+) \{\n(.*?)\n  \}", "\n" + body.group(1), re.S)
    if not oneof:
        sys.exit(f"{schema}: there is no message {message} with a oneof")
    return oneof.group(1), [(name, kind) for kind, name in re.findall(r"^    (\w+) (\w+) = \d+", oneof.group(2), re.M)]


def camel(name):
    return re.sub(r"(?:^|_|(?<=\d))([a-z])", lambda match: match.group(1).upper(), name).replace("_", "")


def main(header, source, included, schema, message, returns, parameters, not_set, interface, without, *members):
    oneof, all_arms = arms(schema, message)
    family = [arm for arm in all_arms if arm[0] not in without.split(",")]
    types = [kind for _, kind in family]
    arguments = "".join(", " + re.search(r"(\w+)$", one).group(1) for one in parameters.split(", ") if one)

    def declaration(kind):
        # Members that share a message are told which of them it is.
        which = f", {message}::{camel(oneof)}Case kind" if types.count(kind) > 1 else ""
        return f"{returns} Make(const {kind}& spec{which}{', ' + parameters if parameters else ''})"

    def call(name, kind):
        which = f", {message}::k{camel(name)}" if types.count(kind) > 1 else ""
        return f"Make(spec.{name}(){which}{arguments})"

    status_or = '#include "absl/status/statusor.h"\n' if "StatusOr" in returns else ""
    guard = "OPENSET_" + re.sub(r"\W", "_", included).upper() + "_"
    declarations = "".join(f"{declaration(kind)};\n" for kind in dict.fromkeys(types))
    with open(header, "w", encoding="utf-8") as file:
        file.write(f"""// Makes the members of {message}. Written from {schema}.
#ifndef {guard}
#define {guard}

#include <memory>

{status_or}#include "{interface}"
#include "{schema.replace('.proto', '.pb.h')}"

namespace openset {{

{declarations}
// The member that is set.
{declaration(message)};

}}  // namespace openset

#endif  // {guard}
""")
    cases = "".join(f"    case {message}::k{camel(name)}:\n      return {call(name, kind)};\n" for name, kind in family)
    cases += "".join(f"    case {message}::k{camel(name)}:\n" for name, _ in all_arms if name in without.split(","))
    with open(source, "w", encoding="utf-8") as file:
        file.write("".join(f'#include "{path}"\n' for path in (included, *members)) + f"""
namespace openset {{

{declaration(message)} {{
  switch (spec.{oneof}_case()) {{
{cases}    case {message}::{oneof.upper()}_NOT_SET:
      break;
  }}
  {not_set};
}}

}}  // namespace openset
""")


main(*sys.argv[1:])
