#!/bin/bash
# Slurm's commands for tests; the name of the script selects the command. Its state is in $FAKE_SLURM: count (of jobs),
# queue/JOB|INDEX (a state), names/JOB, submitted (the options of each sbatch), calls. Files that request
# failures:
#   lose_replies, refuse     this many sbatch calls: submitted without an answer; not submitted, "Unable to contact"
#   invalid                  sbatch refuses the partition
#   limit                    sbatch refuses arrays of more tasks
#   blind                    this many squeue calls fail
#   kill                     this many tasks die without doing anything
#   requeue                  this many tasks are ended ($FAKE_PREEMPTED), pend and start again
#   renumber                 this many times, with an empty queue, the job numbers restart from 1
#   lag                      this many sacct calls return nothing yet; without the file, there is no accounting
# Files that change its answers:
#   max_array                MaxArraySize; 4 by default
#   twice                    sbatch also prints the cluster's name, squeue prints each line twice
#   hold                     jobs pend
#   wait                     jobs that are submitted now pend while the file exists
# The file log has the standard error of tasks. Jobs run one after the other, each task in the background of the sbatch
# that submitted it.
cd "$FAKE_SLURM" || exit 1
mkdir -p queue names ended

# Decrements the number in a file; false if it is 0.
take() {
  local left
  left=$(cat "$1" 2>/dev/null || echo 0)
  [ "$left" -gt 0 ] && echo $((left - 1)) > "$1"
}

# Sets the state of a task at once: nobody sees an empty file.
set_state() {
  echo "$2" > "state.$BASHPID"
  mv "state.$BASHPID" "queue/$1"
}

case "$(basename "$0")" in
  sbatch)
    script="${!#}"
    echo "$*" >> submitted
    if [ -e invalid ]; then echo "sbatch: error: invalid partition specified: nowhere" >&2; exit 1; fi
    for word in "$@"; do
      last=${word#--array=0-}
      if [ "$last" != "$word" ] && [ -e limit ] && [ $((last + 1)) -gt "$(cat limit)" ]; then
        echo "sbatch: error: QOSMaxSubmitJobPerUserLimit" >&2
        exit 1
      fi
    done
    if take refuse; then echo "sbatch: error: Unable to contact slurm controller (connect failure)" >&2; exit 1; fi
    if [ -z "$(ls queue)" ] && take renumber; then rm -f count; fi
    job=$(($(cat count 2>/dev/null || echo 0) + 1))
    echo $job > count
    for word in "$@"; do
      case "$word" in
        --array=*) last=${word#--array=0-};;
        --job-name=*) echo "${word#--job-name=}" > "names/$job";;
      esac
    done
    for i in $(seq 0 "$last"); do echo PENDING > "queue/$job|$i"; done
    [ -e hold ] || (
      while [ -e wait ]; do sleep 0.01; done
      while [ -n "$(cd queue && ls | awk -F'|' -v job=$job '$1 < job')" ]; do sleep 0.01; done
      for i in $(seq 0 "$last"); do
        [ -e "queue/$job|$i" ] || continue
        set_state "$job|$i" RUNNING
        export SLURM_ARRAY_JOB_ID=$job SLURM_ARRAY_TASK_ID=$i
        if take kill; then
          echo NODE_FAIL > "ended/${job}_$i"
        else
          if take requeue; then
            FAKE_PREEMPTED=1 bash "$script"
            set_state "$job|$i" PENDING
            sleep 0.05
            set_state "$job|$i" RUNNING
            echo 1 >> restarts
            export SLURM_RESTART_COUNT=1
          fi
          bash "$script" 2>> log
          unset SLURM_RESTART_COUNT
          echo COMPLETED > "ended/${job}_$i"
        fi
        rm -f "queue/$job|$i"
      done
    ) > /dev/null 2>&1 &
    if take lose_replies; then echo "sbatch: error: Batch job submission failed: Socket timed out" >&2; exit 1; fi
    if [ -e twice ]; then echo "$job;cluster"; else echo $job; fi
    ;;
  squeue)
    if take blind; then echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1; fi
    for task in queue/*; do
      { read -r state < "$task"; } 2>/dev/null || continue
      id=${task#queue/}
      read -r name < "names/${id%|*}"
      line="$name|$id|$state"
      echo "$line"
      if [ -e twice ]; then echo "$line"; fi
    done
    ;;
  scontrol) echo "MaxArraySize            = $(cat max_array 2>/dev/null || echo 4)";;
  scancel) for job in "$@"; do rm -f queue/"$job|"*; done;;
  sacct)
    if [ ! -e lag ]; then exit 1; fi
    if take lag; then exit 0; fi
    for task in ended/*; do
      [ -e "$task" ] || continue
      id=${task#ended/}
      case "$*" in *--name="$(cat "names/${id%_*}")"*) echo "$id|$(cat "$task")";; esac
    done
    ;;
esac
exit 0
