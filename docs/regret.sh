#!/usr/bin/env bash
# Draws docs/regret.png: ensembles of several sizes against Thompson sampling.
set -euo pipefail
cd "$(dirname "$0")"
saved=$(mktemp -d)
trap 'rm -rf "$saved"' EXIT
for M in 2 4 8 32; do
    fastes simulate --M "$M" --T 1000 --runs 1000 --quiet --out "$saved/es-$M.npz"
done
fastes simulate --agent ts --T 1000 --runs 1000 --quiet --out "$saved/ts.npz"
fastes plot "$saved"/es-{2,4,8,32}.npz "$saved/ts.npz" --out regret.png
