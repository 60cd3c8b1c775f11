#!/bin/bash
# Slurm's commands for tests, by the name it is called by. What it knows is in $FAKE_SLURM: count (of jobs),
# queue/JOB|INDEX (a state), names/NAME (a job), submitted (the options of each sbatch), calls. What is to go wrong:
#   lose_replies, refuse     so many sbatch calls: submitted without an answer; not submitted, "Unable to contact"
#   invalid                  sbatch refuses the partition
#   blind                    so many squeue calls fail
#   kill                     so many tasks die without doing anything
# Jobs run one after the other, each task in the background of the sbatch that submitted it.
cd "$FAKE_SLURM" || exit 1
mkdir -p queue names

# Takes one from the number in a file; false if there is none left.
take() {
  local left
  left=$(cat "$1" 2>/dev/null || echo 0)
  [ "$left" -gt 0 ] && echo $((left - 1)) > "$1"
}

case "$(basename "$0")" in
  sbatch)
    script="${!#}"
    echo "$*" >> submitted
    if [ -e invalid ]; then echo "sbatch: error: invalid partition specified: nowhere" >&2; exit 1; fi
    if take refuse; then echo "sbatch: error: Unable to contact slurm controller (connect failure)" >&2; exit 1; fi
    job=$(($(cat count 2>/dev/null || echo 0) + 1))
    echo $job > count
    for word in "$@"; do
      case "$word" in
        --array=*) last=${word#--array=0-}; last=${last%%%*};;
        --job-name=*) echo $job > "names/${word#--job-name=}";;
      esac
    done
    for i in $(seq 0 "$last"); do echo PENDING > "queue/$job|$i"; done
    (
      while [ -n "$(cd queue && ls | awk -F'|' -v job=$job '$1 < job')" ]; do sleep 0.01; done
      for i in $(seq 0 "$last"); do
        [ -e "queue/$job|$i" ] || continue
        echo RUNNING > "queue/$job|$i"
        if ! take kill; then SLURM_ARRAY_JOB_ID=$job SLURM_ARRAY_TASK_ID=$i bash "$script"; fi
        rm -f "queue/$job|$i"
      done
    ) > /dev/null 2>&1 &
    if take lose_replies; then echo "sbatch: error: Batch job submission failed: Socket timed out" >&2; exit 1; fi
    echo $job
    ;;
  squeue)
    if take blind; then echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1; fi
    for word in "$@"; do
      case "$word" in --name=*) cat "names/${word#--name=}" 2>/dev/null; exit 0;; esac
    done
    for task in queue/*; do [ -e "$task" ] && echo "${task#queue/}|$(cat "$task" 2>/dev/null)"; done
    ;;
  scontrol) echo "MaxArraySize            = 4";;
  scancel) for job in "$@"; do rm -f queue/"$job|"*; done;;
  sacct) exit 1;;
esac
exit 0
