#!/bin/bash
# Serve a model to studies, such as one that is larger than a node (docs/cluster.md):
#
#   sbatch --partition=gpu --gpus-per-node=8 slurm/serve.sh MODEL --served-model-name NAME --tensor-parallel-size 8
#
# What follows the script's name goes to vLLM's server. When it answers, its address is in served-<job id>.txt, until it ends.
#SBATCH --job-name=ragrelay-serve
#SBATCH --ntasks-per-node=1
#SBATCH --time=1-00:00:00
#SBATCH --output=served-%j.log

address="http://$(hostname):$((20000 + SLURM_JOB_ID % 20000))"
file="served-$SLURM_JOB_ID.txt"

if [ "${SLURM_NNODES:-1}" -gt 1 ]; then
  export address head="$(hostname)"
  srun bash -c '
    [ "$SLURM_PROCID" -eq 0 ] || other="--headless"
    exec vllm serve "$@" --port "${address##*:}" --nnodes "$SLURM_NNODES" --node-rank "$SLURM_PROCID" --master-addr "$head" $other
  ' serve "$@" &
else
  python -m vllm.entrypoints.openai.api_server --port "${address##*:}" --model "$@" &
fi
server=$!
trap 'rm -f "$file"' EXIT
trap 'kill "$server"; wait "$server"; exit' TERM

until python -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=5)' "$address/health" 2> /dev/null; do
  kill -0 "$server" 2> /dev/null || exit 1
  sleep 2
done
echo "$address/v1" > "$file"
wait "$server"
