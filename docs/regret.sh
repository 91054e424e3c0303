#!/usr/bin/env bash
# Draws docs/regret.png: ensembles of several sizes against Thompson sampling.
set -euo pipefail
cd "$(dirname "$0")"
saved=$(mktemp -d)
trap 'rm -rf "$saved"' EXIT
fastes simulate --agent es,ts --M 2,4,8,32 --T 1000 --runs 1000 --quiet \
    --out "$saved/study.npz"
fastes plot "$saved/study.npz" --out regret.png
