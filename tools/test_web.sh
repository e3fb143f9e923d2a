#!/bin/sh
# The explorer's page: types are checked, and a fresh build equals web/dist, which the program embeds.
#   tools/test_web.sh BUILD_FOLDER
set -eu
cd "$(dirname "$0")/.."
build=$1
mkdir -p "$build"
missing=""
command -v node > /dev/null || missing="$missing nodejs"
command -v npm > /dev/null || missing="$missing npm"
# shellcheck disable=SC2086
[ -z "$missing" ] || tools/install_deps.sh $missing || true
command -v npm > /dev/null || { echo "skipped: building the explorer's page needs node and npm"; exit 0; }
node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
  { echo "skipped: building the explorer's page needs node 20.19 or newer, this is $(node --version)"; exit 0; }
if ! npm ci --prefix web --ignore-scripts --no-audit --no-fund --loglevel=error > "$build/npm-web.log" 2>&1; then
  if npm view vite version > /dev/null 2>&1; then
    cat "$build/npm-web.log"
    exit 1
  fi
  echo "skipped: building the explorer's page needs npm's registry, which cannot be reached"
  exit 0
fi
fresh=$(pwd)/$build/web-dist
case $build in /*) fresh=$build/web-dist ;; esac
rm -rf "$fresh"
npm run --silent --prefix web check
npm run --silent --prefix web build -- --outDir "$fresh" --emptyOutDir --logLevel warn
diff -rq "$fresh" web/dist || { echo "web/dist differs from a fresh build: run 'npm run build' in web/ and commit web/dist"; exit 1; }
echo "the explorer's page equals a fresh build: $(cat web/dist/* | wc -c) bytes"
