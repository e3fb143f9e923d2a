#!/bin/sh
# The report and the explorer in a real browser: Debian's chromium, driven by playwright-core, looked through by axe-core.
#   tools/test_browser.sh BUILD_FOLDER
# PARTWISE_RUNS=RUN:RUN takes copies of these measured runs instead of training two small ones.
set -eu
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
missing=""
command -v node > /dev/null || missing="$missing nodejs"
command -v npm > /dev/null || missing="$missing npm"
command -v "${CHROMIUM:-chromium}" > /dev/null || missing="$missing chromium"
# shellcheck disable=SC2086
[ -z "$missing" ] || tools/install_deps.sh $missing || true
for tool in node npm "${CHROMIUM:-chromium}"; do
  command -v "$tool" > /dev/null || { echo "skipped: looking at pages in a browser needs $tool"; exit 0; }
done
node -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)' ||
  { echo "skipped: looking at pages in a browser needs node 20 or newer, this is $(node --version)"; exit 0; }
if ! npm ci --prefix tests/browser --ignore-scripts --no-audit --no-fund --loglevel=error > "$build/npm-browser.log" 2>&1; then
  if npm view playwright-core version > /dev/null 2>&1; then
    cat "$build/npm-browser.log"
    exit 1
  fi
  echo "skipped: looking at pages in a browser needs npm's registry, which cannot be reached"
  exit 0
fi
work=$build/browser
rm -rf "$work"
mkdir -p "$work"
partwise=$build/partwise
if [ -n "${PARTWISE_RUNS:-}" ]; then
  folders=""
  IFS=:
  for run in $PARTWISE_RUNS; do
    cp -r "$run" "$work/$(basename "$run")"
    folders="$folders:$work/$(basename "$run")"
  done
  unset IFS
  PARTWISE_RUNS=${folders#:}
  PARTWISE_PHOTO=${PARTWISE_PHOTO:?a photograph is needed to drop}
else
  "$partwise" data synth "$work/animals" --images 30 --categories 3 --size 64 > "$work/log"
  # A category whose name would be an element if it were not written as words.
  sed -i 's/"name": *"deer"/"name": "d<i>e\\"er ✓"/' "$work/animals/dataset.json"
  for arm in masked interpretable; do
    "$partwise" train "$work/animals" "$work/$arm" --arm "$arm" --epochs 2 --hidden 16 >> "$work/log" 2>&1
  done
  "$partwise" measure "$work/masked" "$work/interpretable" --resamples 200 >> "$work/log" 2>&1
  PARTWISE_RUNS=$work/masked:$work/interpretable
  PARTWISE_PHOTO=$(find "$work/animals/images" -name 'fox-*.png' | sort | head -n 1)
fi
PARTWISE_REPORT=$work/report.html
echo "$PARTWISE_RUNS" | tr ':' '\n' | xargs "$partwise" report --out "$PARTWISE_REPORT" >> "$work/log" 2>&1
PARTWISE=$partwise PARTWISE_SHOTS=$work/shots CHROMIUM=$(command -v "${CHROMIUM:-chromium}")
export PARTWISE PARTWISE_RUNS PARTWISE_REPORT PARTWISE_PHOTO PARTWISE_SHOTS CHROMIUM
node --test --test-concurrency=1 --test-reporter=spec tests/browser/report_test.mjs tests/browser/explorer_test.mjs
echo "screenshots: $work/shots"
