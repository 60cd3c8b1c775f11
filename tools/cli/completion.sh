# Completion of openset in bash and zsh: source <(openset completion bash) in ~/.bashrc, or with zsh in ~/.zshrc.
# The script asks the program for the names that exist: "openset list KIND --names".
if [[ ${ZSH_VERSION-} ]]; then
  autoload -Uz compinit bashcompinit
  whence compdef > /dev/null || compinit
  bashcompinit
fi

_openset() {
  # The flags that take no value.
  local switches=" all_pairs allow_commands always_allow brief check ci cost_map detach dry_run exact features help \
higher_is_known images keep_going names private probe skip_damaged sub_folders tidy token unverified yes "
  local command="" first="" flag="" word="" more="" kind="" of="" files="" cut="" line
  local last=${COMP_WORDS[COMP_CWORD]} i n=0 count=0
  local -a all
  all=() COMPREPLY=()
  for ((i = 1; i <= COMP_CWORD; i++)); do  # bash takes --flag=value and a:b apart
    if ((n > 0)) && [[ ${COMP_WORDS[i]} == [=:] || ${COMP_WORDS[i - 1]} == [=:] ]]; then
      all[n-1]+=${COMP_WORDS[i]}
    else
      all[n++]=${COMP_WORDS[i]}
    fi
  done
  for ((i = 0; i < n - 1; i++)); do
    word=${all[i]}
    if [[ $word == --* ]]; then
      flag=${word#--}
      [[ $flag == *=* || $switches == *" $flag "* || $switches == *" ${flag#no} "* ]] && flag=""
    elif [[ $flag ]]; then
      flag=""
    elif [[ ! $command ]]; then
      command=$word
    elif ((count++ == 0)); then
      first=$word
    fi
  done
  word=${all[n - 1]}
  [[ $last == [=:] ]] && last=""
  if [[ $word == --*=* ]]; then
    flag=${word%%=*} word=${word#*=}
    flag=${flag#--}
  fi
  if [[ $flag ]]; then
    word=${word##*,}  # lists are separated by commas
    case $flag in
      methods) kind=methods ;;
      metrics | y) kind=metrics ;;
      score) kind=scores ;;
      task | like) kind=tasks ;;
      redo) kind=methods more="all changed failed" ;;
      only) more="failed missing changed" ;;
      convention) more="openset openood pytorch_ood odin oe udb arpl fd_shifts torch_uncertainty released" ;;
      devices) more="auto cpu cuda:0" ;;
      engine) more="local slurm" ;;
      format) more="text markdown latex csv json html sentence tensorboard" ;;
      width) more="column page" ;;
      *) return 0 ;;  # files, by the shell itself
    esac
  elif [[ ! $command || "$command $count" == "help 0" ]]; then
    kind=words more="help --help --version"
  elif [[ $word == -* ]]; then
    kind=words of=$command more=--help
  else
    case "$command $count $first" in
      "run 0 " | "plan 0 " | "status 0 " | "cancel 0 " | "report 0 " | "figure 0 " | "compare 0 " | "explain "[12]*)
        kind=specs files=1 ;;
      "list 0 " | "show 0 ") kind=kinds ;;
      "list 1 "* | "show 1 "*) kind=$first ;;
      "data 1 fetch" | "data 1 verify" | "data 1 show" | "data 1 audit") kind=data ;;
      "task 1 splits" | "task 1 samples") kind=tasks ;;
      *" 0 ") kind=words of=$command ;;  # its subcommands
      *) return 0 ;;
    esac
  fi
  # The shell replaces its own last word, which may be a part of the program's.
  if [[ $last == *"$word" ]]; then last=${last%"$word"}; else cut=${word%"$last"} last=""; fi
  while IFS= read -r line; do
    [[ $line && $line == "$word"* && (! $command || $line != -* || $word == -*) ]] || continue
    printf -v line %q "${line#"$cut"}"                      # a file's name may be anything
    [[ ! ${ZSH_VERSION-} || $line == *[=/] ]] || line+=" "  # zsh has no compopt, and no space of its own
    COMPREPLY+=("$last$line")
  done < <(
    printf '%s\n' $more
    [[ ! $kind ]] || "${COMP_WORDS[0]}" list "$kind" ${of:+"$of"} --names 2> /dev/null
    [[ ! $files ]] || { compgen -f -X '!*.textproto' -- "$word"; compgen -d -S / -- "$word"; }
  )
  [[ ${COMPREPLY[*]-} != *[=/] ]] || compopt -o nospace 2> /dev/null
  return 0
}

complete -o default ${ZSH_VERSION:+-o nospace} -F _openset openset
