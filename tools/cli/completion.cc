#include "tools/cli/completion.h"

#include <algorithm>
#include <iterator>

#include "absl/flags/reflection.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace openset {
namespace {

// The shell's key for a command's words: COMMAND:INDEX:FIRST, with indices from 0 after the command.
struct Rule {
  std::string pattern;
  std::string action;
};

// The alternatives of a usage, each its words without brackets and dots.
std::vector<std::vector<std::string>> Alternatives(const std::string& usage) {
  std::vector<std::vector<std::string>> alternatives;
  for (const absl::string_view one : absl::StrSplit(usage, '|')) {
    const std::string plain = absl::StrReplaceAll(one, {{"[", " "}, {"]", " "}, {"...", " "}});
    alternatives.push_back(absl::StrSplit(plain, ' ', absl::SkipEmpty()));
  }
  return alternatives;
}

bool IsAction(const std::string& word) { return absl::ascii_islower(word[0]); }

// The characters without a meaning to a shell.
std::string PlainWords(const std::vector<std::string>& words) {
  std::vector<std::string> plain;
  std::copy_if(words.begin(), words.end(), std::back_inserter(plain), [](const std::string& word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("_.+-:", c);
    });
  });
  return absl::StrJoin(plain, " ");
}

std::string Words(const std::vector<std::string>& words) {
  return absl::StrCat("_openset_words='", PlainWords(words), "'");
}

std::vector<Rule> RulesOf(const Command& command, const CompletionTables& tables) {
  std::vector<Rule> rules;
  std::vector<std::string> actions;
  const auto at = [&command](size_t place, const std::string& first) {
    return absl::StrCat(command.name, ":", place, ":", first);
  };
  for (const std::vector<std::string>& words : Alternatives(command.arguments)) {
    const bool has_action = !words.empty() && IsAction(words[0]);
    if (has_action) actions.push_back(words[0]);
    for (size_t w = has_action ? 1 : 0; w < words.size(); ++w) {
      const std::string first = has_action ? words[0] : "*";
      if (words[w] == "SPEC") {
        rules.push_back({at(w, first), "_openset_names spec; _openset_files=yes"});
      } else if (words[w] == "KIND") {
        std::vector<std::string> kinds;
        for (const CompletionKind& kind : tables.kinds) kinds.push_back(kind.plural);
        rules.push_back({at(w, first), Words(kinds)});
      } else if (w > 0 && words[w - 1] == "KIND") {
        for (const CompletionKind& kind : tables.kinds) {
          rules.push_back({at(w, kind.name), absl::StrCat("_openset_names ", kind.name)});
          if (kind.plural != kind.name) {
            rules.push_back({at(w, kind.plural), absl::StrCat("_openset_names ", kind.name)});
          }
        }
      } else if (words[w] == "NAME" && words[0] != "new") {
        for (const CompletionKind& kind : tables.kinds) {
          if (kind.name == command.name) rules.push_back({at(w, first), absl::StrCat("_openset_names ", kind.name)});
        }
      }
    }
  }
  if (!actions.empty()) rules.insert(rules.begin(), {at(0, "*"), Words(actions)});
  return rules;
}

// "--store= --keep_going", with a space before each.
std::string FlagsOf(const Command& command) {
  std::string flags;
  for (const std::string& name : command.flags) {
    absl::StrAppend(&flags, flags.empty() ? "" : " ", "--", name,
                    IsSwitch(*absl::FindCommandLineFlag(name)) ? "" : "=");
  }
  return absl::StrCat(flags, flags.empty() ? "" : " ", "--help");
}

constexpr char kFunction[] = R"sh(
_openset() {
  # The words so far, as the program will have them: bash takes --flag=value apart.
  local word=${COMP_WORDS[COMP_CWORD]} joined="" last="" command="" first="" flag="" item="" stem="" name
  local -i at=1 count=0
  local value_of="" takes_value=""
  while [ $at -le $COMP_CWORD ]; do
    joined=${COMP_WORDS[at]}
    while [ $at -lt $COMP_CWORD ] && { [ "${COMP_WORDS[at+1]}" = "=" ] || [ "${COMP_WORDS[at]}" = "=" ]; }; do
      at=$((at + 1))
      joined=$joined${COMP_WORDS[at]}
    done
    last=$joined
    takes_value=$value_of
    value_of=""
    if [ $at -lt $COMP_CWORD ]; then
      case $joined in
        --*=*) ;;
        --*) case " $(_openset_flags "$command") " in *" $joined= "*) value_of=$joined ;; esac ;;
        *)
          if [ -n "$takes_value" ]; then :
          elif [ -z "$command" ]; then command=$joined
          else
            [ $count -eq 0 ] && first=$joined
            count=$((count + 1))
          fi
          ;;
      esac
    fi
    at=$((at + 1))
  done
  COMPREPLY=()
  _openset_words=""
  _openset_files=""
  item=$last
  case $last in
    --*=*) flag=${last%%=*}; item=${last#*=} ;;
    *) flag=$takes_value ;;
  esac
  if [ -n "$flag" ]; then
    # Lists are separated by commas.
    item=${item##*,}
    _openset_values "${flag#--}"
  elif [ -z "$command" ]; then
    _openset_words=$_openset_commands
  else
    case $last in
      -*) _openset_words=$(_openset_flags "$command") ;;
      *)
        [ "$command" = help ] && _openset_words=$_openset_commands
        _openset_arguments "$command:$count:$first"
        ;;
    esac
  fi
  [ "$word" = "=" ] && word=""
  stem=${word%"$item"}
  # Not by compgen -W, which expands the words: they would be run.
  for name in $(printf '%s ' "$_openset_words"); do
    case $name in "$item"*) COMPREPLY+=("$stem$name") ;; esac
  done
  if [ -n "$_openset_files" ]; then
    while IFS= read -r name; do
      # Where there is none, zsh's compgen prints an empty line.
      [ -z "$name" ] || COMPREPLY+=("$(printf '%q' "$name")")
    done < <(compgen -f -X '!*.textproto' -- "$item"; compgen -d -S / -- "$item")
  fi
  _openset_end
}
)sh";

// No space follows a completion that can continue.
constexpr char kBashEnd[] = R"(
_openset_end() {
  case "${COMPREPLY[*]-}" in
    *=|*/) compopt -o nospace 2> /dev/null ;;
  esac
  return 0
}

complete -o default -F _openset openset
)";

// bashcompinit has no compopt: nospace is set for all completions, and complete words get their space here.
constexpr char kZshEnd[] = R"(
_openset_end() {
  local -a spaced
  local name
  for name in "${COMPREPLY[@]}"; do
    case $name in
      *=|*/) spaced+=("$name") ;;
      *) spaced+=("$name ") ;;
    esac
  done
  COMPREPLY=("${spaced[@]}")
}

complete -o nospace -o default -F _openset openset
)";

std::string Script(const CompletionTables& tables, const char* end) {
  std::vector<std::string> commands = {"help", "--help", "--version"};
  std::string flags, arguments, values, names;
  for (const Command& command : tables.commands) {
    if (command.hidden) continue;
    commands.push_back(command.name);
    absl::StrAppend(&flags, "    ", command.name, ") echo '", FlagsOf(command), "' ;;\n");
    for (const Rule& rule : RulesOf(command, tables)) {
      absl::StrAppend(&arguments, "    ", rule.pattern, ") ", rule.action, " ;;\n");
    }
  }
  for (const auto& [name, flag] : tables.flags) {
    absl::StrAppend(&values, "    ", name, ") ",
                    flag.kind.empty() ? "" : absl::StrCat("_openset_names ", flag.kind, "; "),
                    "_openset_words=\"$_openset_words ", PlainWords(flag.words), "\" ;;\n");
  }
  for (const CompletionKind& kind : tables.kinds) {
    absl::StrAppend(&names, "    ", kind.name, ") ", Words(kind.names), " ;;\n");
  }
  return absl::StrCat("_openset_commands='", absl::StrJoin(commands, " "), "'\n\n_openset_names() {\n  case $1 in\n",
                      names, "  esac\n}\n\n_openset_flags() {\n  case $1 in\n", flags,
                      "  esac\n}\n\n_openset_values() {\n  case $1 in\n", values,
                      "  esac\n}\n\n_openset_arguments() {\n  case $1 in\n", arguments, "  esac\n}\n", kFunction, end);
}

}  // namespace

std::string BashCompletion(const CompletionTables& tables) {
  return absl::StrCat("# Completion of openset for bash: source <(openset completion bash), say in ~/.bashrc.\n\n",
                      Script(tables, kBashEnd));
}

std::string ZshCompletion(const CompletionTables& tables) {
  return absl::StrCat(
      "# Completion of openset for zsh: source <(openset completion zsh), in ~/.zshrc.\n"
      "autoload -Uz compinit bashcompinit\n(( ${+functions[compdef]} )) || compinit\nbashcompinit\n\n",
      Script(tables, kZshEnd));
}

}  // namespace openset
