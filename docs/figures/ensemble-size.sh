#!/usr/bin/env bash
# How large must an ensemble be? The studies of docs/explanation/ensemble-size.md, and its figures.
# With a folder, keeps the studies there, and goes on with those that it finds.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
sizes=1,2,3,4,6,8,12,16,24,32,48,64,96,128
fastes sweep --agent es,ts --M 1,2,4,...,1024 --K 100 --d 10 --T 1000 --runs 4000 \
    --out "$folder/size.db"
fastes sweep --agent es,ts --M "$sizes" --K 100 --d 2,3,5,10,20,30,50 --T 1000 --runs 2000 \
    --out "$folder/d.db" --quiet
fastes sweep --agent es,ts --M "$sizes" --d 10 --K 10,30,100,300,1000,3000,10000 --T 1000 \
    --runs 2000 --out "$folder/K.db" --quiet
python "$here/ensemble_size.py" "$folder"
