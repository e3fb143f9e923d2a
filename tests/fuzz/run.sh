#!/bin/sh
# usage: run.sh FOLDER SECONDS: runs every fuzz program in FOLDER for that long, from generated seeds. What they find is kept
# below FOLDER: corpora to go on with, and inputs that broke something.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
[ -d /dev/shm ] && export TMPDIR="${TMPDIR:-/dev/shm}"  # some readers want a file on disk
for program in ./*_fuzz; do
  name=$(basename "$program" _fuzz)
  mkdir -p "corpus/$name" "seeds/$name" "found"
  python3 "$here/make_seeds.py" "$name" "seeds/$name"
  leaks=1 megabytes=2048
  [ "$name" = mat73 ] && leaks=0 megabytes=5000  # HDF5's own leaks on damaged files; what a file holds may take 4 GiB
  echo "$name: $2 s"
  "$program" -detect_leaks="$leaks" -rss_limit_mb="$megabytes" -max_total_time="$2" -timeout=10 -max_len=16384 -artifact_prefix="found/$name-" -print_final_stats=1 \
    "corpus/$name" "seeds/$name" > "found/$name.log" 2>&1 || { tail -30 "found/$name.log"; exit 1; }
  grep -E "stat::number_of_executed_units|cov:" "found/$name.log" | tail -2
done
