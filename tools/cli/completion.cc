#include "tools/cli/completion.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace openset {
namespace {

// Whether all characters are without a meaning to a shell.
bool IsPlain(const std::string& word) {
  return !word.empty() && absl::c_all_of(word, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("_.+-:", c);
  });
}

// The alternatives of a usage, each its words without brackets and dots.
std::vector<std::vector<std::string>> Alternatives(const std::string& usage) {
  std::vector<std::vector<std::string>> alternatives;
  for (const absl::string_view one : absl::StrSplit(usage, '|')) {
    const std::string plain = absl::StrReplaceAll(one, {{"[", " "}, {"]", " "}, {"...", " "}});
    alternatives.push_back(absl::StrSplit(plain, ' ', absl::SkipEmpty()));
  }
  return alternatives;
}

const Command* FindCommand(const CompletionTables& tables, const std::string& name) {
  for (const Command& command : tables.commands) {
    if (!command.hidden && command.name == name) return &command;
  }
  return nullptr;
}

void AddNames(const CompletionTables& tables, const std::string& kind_name, Completions* completions) {
  for (const CompletionKind& kind : tables.kinds) {
    if (kind.name != kind_name && kind.plural != kind_name) continue;
    completions->words.insert(completions->words.end(), kind.names.begin(), kind.names.end());
  }
}

void AddCommands(const CompletionTables& tables, Completions* completions) {
  for (const char* name : {"help", "--help", "--version"}) completions->words.push_back(name);
  for (const Command& command : tables.commands) {
    if (!command.hidden) completions->words.push_back(command.name);
  }
}

// "--store=", "--keep_going", ...
std::vector<std::string> FlagsOf(const Command* command) {
  std::vector<std::string> flags;
  if (command == nullptr) return flags;
  for (const std::string& name : command->flags) {
    flags.push_back(absl::StrCat("--", name, FindFlag(name).is_switch ? "" : "="));
  }
  flags.push_back("--help");
  return flags;
}

// The argument after `count` others, of which `first` is the first one.
void AddArguments(const CompletionTables& tables, const Command& command, size_t count, const std::string& first,
                  Completions* completions) {
  for (const std::vector<std::string>& words : Alternatives(command.arguments)) {
    if (words.size() <= count) continue;
    const bool has_action = absl::ascii_islower(words[0][0]);
    if (has_action && count == 0) completions->words.push_back(words[0]);
    if (has_action && (count == 0 || first != words[0])) continue;
    if (words[count] == "SPEC") {
      AddNames(tables, "spec", completions);
      completions->files = true;
    } else if (words[count] == "KIND") {
      for (const CompletionKind& kind : tables.kinds) completions->words.push_back(kind.plural);
    } else if (count > 0 && words[count - 1] == "KIND") {
      AddNames(tables, first, completions);
    } else if (words[count] == "NAME" && words[0] != "new") {
      AddNames(tables, command.name, completions);
    }
  }
}

// The words as the program will have them.
std::vector<std::string> Joined(const std::vector<std::string>& words) {
  std::vector<std::string> joined;
  for (size_t w = 0; w < words.size(); ++w) {
    if (w > 0 && (words[w] == "=" || words[w - 1] == "=")) {
      joined.back() += words[w];
    } else {
      joined.push_back(words[w]);
    }
  }
  return joined;
}

}  // namespace

Completions Complete(const CompletionTables& tables, const std::vector<std::string>& words) {
  std::vector<std::string> before = Joined(words);
  std::string item = before.back();
  before.pop_back();
  std::string command_name, first, flag;  // `flag`: whose value the next word is
  size_t count = 0;
  for (const std::string& word : before) {
    const std::string value_of = std::exchange(flag, "");
    if (absl::StartsWith(word, "--")) {
      if (absl::c_linear_search(FlagsOf(FindCommand(tables, command_name)), word + "=")) flag = word.substr(2);
    } else if (!value_of.empty()) {
      continue;
    } else if (command_name.empty()) {
      command_name = word;
    } else if (count++ == 0) {
      first = word;
    }
  }
  const Command* command = FindCommand(tables, command_name);
  const size_t equals = absl::StartsWith(item, "--") ? item.find('=') : std::string::npos;
  if (equals != std::string::npos) {
    flag = item.substr(2, equals - 2);
    item = item.substr(equals + 1);
  }

  Completions found;
  if (!flag.empty()) {
    item = item.substr(item.rfind(',') + 1);  // lists are separated by commas
    if (const auto values = tables.flags.find(flag); values != tables.flags.end()) {
      AddNames(tables, values->second.kind, &found);
      found.words.insert(found.words.end(), values->second.words.begin(), values->second.words.end());
    }
  } else if (command_name.empty()) {
    AddCommands(tables, &found);
  } else if (absl::StartsWith(item, "-")) {
    found.words = FlagsOf(command);
  } else {
    if (command_name == "help") AddCommands(tables, &found);
    if (command != nullptr) AddArguments(tables, *command, count, first, &found);
  }
  // The shell replaces its own last word, which may be a part of the program's.
  const std::string last = words.back() == "=" ? "" : words.back();
  const std::string stem = last.substr(0, last.size() - std::min(last.size(), item.size()));
  Completions completions;
  completions.files = found.files;
  for (const std::string& word : found.words) {
    const std::string plain = absl::EndsWith(word, "=") ? word.substr(0, word.size() - 1) : word;
    if (IsPlain(plain) && absl::StartsWith(word, item)) completions.words.push_back(stem + word);
  }
  return completions;
}

std::string CompletionScript(const std::string& shell) {
  constexpr char kBashHead[] =
      "# Completion of openset for bash: source <(openset completion bash), say in ~/.bashrc.\n";
  constexpr char kZshHead[] =
      "# Completion of openset for zsh: source <(openset completion zsh), in ~/.zshrc.\n"
      "autoload -Uz compinit bashcompinit\n(( ${+functions[compdef]} )) || compinit\nbashcompinit\n";
  // The program gives a line for each word, and the line "/" for files. Where there is no file, zsh's compgen prints an
  // empty line.
  constexpr char kFunction[] = R"sh(
_openset() {
  local word=${COMP_WORDS[COMP_CWORD]} line name
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" != / ]; then
      COMPREPLY+=("$line")
      continue
    fi
    while IFS= read -r name; do
      [ -z "$name" ] || COMPREPLY+=("$(printf '%q' "$name")")
    done < <(compgen -f -X '!*.textproto' -- "$word"; compgen -d -S / -- "$word")
  done < <(local -a words; words=("${COMP_WORDS[@]:1:COMP_CWORD}"); "${COMP_WORDS[0]}" complete "${words[@]/#/:}" 2> /dev/null)
  _openset_end
}
)sh";
  // No space follows a completion that can continue.
  constexpr char kBashEnd[] = R"sh(
_openset_end() {
  case "${COMPREPLY[*]-}" in
    *=|*/) compopt -o nospace 2> /dev/null ;;
  esac
  return 0
}

complete -o default -F _openset openset
)sh";
  // bashcompinit has no compopt: nospace is set for all completions, and complete words get their space here.
  constexpr char kZshEnd[] = R"sh(
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
)sh";
  return shell == "bash" ? absl::StrCat(kBashHead, kFunction, kBashEnd) : absl::StrCat(kZshHead, kFunction, kZshEnd);
}

}  // namespace openset
