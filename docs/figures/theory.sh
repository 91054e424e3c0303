#!/usr/bin/env bash
# Draws divergence.png, size.png and bounds.png in docs/figures.
set -euo pipefail
cd "$(dirname "$0")"
saved=$(mktemp -d)
trap 'rm -rf "$saved"' EXIT
fastes diagnose --agent es,ts --M 2,10,100,1000 --K 30 --d 5 --T 250 --runs 400 \
    --quiet --out "$saved/study.npz"
fastes plot "$saved/study.npz" --figure divergence --out divergence.png
fastes sweep --agent es,ts --M 2,5,10,30,100,300,1000,3000,10000 --K 30 --d 5 --T 250 --runs 400 \
    --quiet --out "$saved/models.db"
fastes plot "$saved/models.db" --figure bounds --x M --out bounds.png
fastes simulate --agent es,ts --M 1,2,3,5,10,20,50,100,1000,10000 --K 30 --d 5 --T 250 \
    --runs 4000 --quiet --out "$saved/sizes.npz"
fastes plot "$saved/sizes.npz" --figure size --out size.png
