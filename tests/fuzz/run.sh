#!/bin/sh
# usage: run.sh FOLDER SECONDS [READER...]: runs the fuzz programs in FOLDER (or those of these readers) for that long each, from generated
# seeds. What they find is kept below FOLDER: corpora to go on with, and inputs that broke something.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
seconds=$2
shift 2
[ $# -gt 0 ] || set -- $(for program in ./*_fuzz; do basename "$program" _fuzz; done)
[ -d /dev/shm ] && export TMPDIR="${TMPDIR:-/dev/shm}"  # some readers want a file on disk
# Short stacks of allocations and a small quarantine: twice as many executions, and what is broken is found all the same.
export ASAN_OPTIONS="malloc_context_size=2:quarantine_size_mb=8:thread_local_quarantine_size_kb=64:${ASAN_OPTIONS:-}"
for name in "$@"; do
  program=./${name}_fuzz
  mkdir -p "corpus/$name" "seeds/$name" "found"
  python3 "$here/make_seeds.py" "$name" "seeds/$name"
  leaks=1 megabytes=2048 longest=4096
  case $name in
    image | weights | zip | http) longest=16384 ;;
    mat73) leaks=0 megabytes=5000 longest=256 ;;  # HDF5's own leaks on damaged files; what a file holds may take 4 GiB; a list of changes
  esac
  echo "$name: $seconds s"
  "$program" -detect_leaks="$leaks" -rss_limit_mb="$megabytes" -max_total_time="$seconds" -timeout=10 -max_len="$longest" -artifact_prefix="found/$name-" \
    -print_final_stats=1 "corpus/$name" "seeds/$name" > "found/$name.log" 2>&1 || { tail -30 "found/$name.log"; exit 1; }
  grep -E "stat::number_of_executed_units|stat::average_exec_per_sec|cov:" "found/$name.log" | tail -3
done
