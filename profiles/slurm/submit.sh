#!/bin/bash
# Snakemake as a long small job that submits the others, for clusters that end long processes on their login nodes:
#
#   sbatch --partition=short --account=ir-lab slurm/submit.sh --configfile config/paper.yaml
#
# What follows the script's name goes to Snakemake. Before the time limit (and after a preemption or a node's failure,
# where the site allows it) the job is queued again under the same id, and continues: finished work is kept.
#SBATCH --job-name=ragrelay
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=8000
#SBATCH --time=1-00:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@300
set -m # else bash lets what runs in the background ignore the interrupt below

name="ragrelay-$SLURM_JOB_ID" # of the jobs that this one submits: their names begin with it
queued() { squeue --noheader --user="$(id -un)" --format='%i %j' | awk -v name="${name}_" 'index($2, name) == 1 { print $1 }'; }

cancel() { queued | xargs --no-run-if-empty scancel; }

if [ "${SLURM_RESTART_COUNT:-0}" -gt 0 ]; then
  # Snakemake was killed with the node: nothing waits for its jobs any more, and its lock is left.
  cancel
  while [ -n "$(queued)" ]; do sleep 5; done
  snakemake --profile profiles/slurm "$@" --unlock
fi

snakemake --profile profiles/slurm --slurm-jobname-prefix "$name" "$@" &
running=$!
# As Ctrl-C: Snakemake cancels its jobs and removes its lock. It does not know a job that it is just submitting, and it
# may need longer than the site's KillWait.
interrupt() {
  trap '' TERM USR1
  kill -INT "$running"
  cancel
  wait "$running"
  cancel
}
trap 'interrupt; exit 1' TERM
trap 'interrupt; scontrol requeue "$SLURM_JOB_ID"; exit 1' USR1
wait "$running"
