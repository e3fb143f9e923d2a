#!/bin/sh
# Exported networks in another runtime: onnxruntime, from npm, against LibTorch.
#   tools/test_onnx.sh BUILD_FOLDER
set -eu
cd "$(dirname "$0")/.."
build=$1
missing=""
command -v node > /dev/null || missing="$missing nodejs"
command -v npm > /dev/null || missing="$missing npm"
# shellcheck disable=SC2086
[ -z "$missing" ] || tools/install_deps.sh $missing || true
command -v npm > /dev/null || { echo "skipped: comparing exported networks with onnxruntime needs node and npm"; exit 0; }
if ! npm ci --prefix tests/onnx --ignore-scripts --no-audit --no-fund --loglevel=error > "$build/npm.log" 2>&1; then
  if npm view onnxruntime-node version > /dev/null 2>&1; then
    cat "$build/npm.log"
    exit 1
  fi
  echo "skipped: comparing exported networks with onnxruntime needs npm's registry, which cannot be reached"
  exit 0
fi
cases=$build/onnx-cases
rm -rf "$cases"
trap 'rm -rf "$cases"' EXIT  # half a gigabyte
"$build/tests/write_onnx_cases" "$cases"
node tests/onnx/agree.mjs "$cases"
