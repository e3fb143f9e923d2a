#!/bin/sh
# The tests labelled "real"; they need photographs that are not part of the repository.
data=${PARTWISE_REAL_DATA:-$(dirname "$0")/../../shared/data}
if [ ! -d "$data" ]; then
  echo "skipped: the tests on real photographs need $data (or PARTWISE_REAL_DATA)"
  exit 0
fi
/usr/bin/python3 -c "import PIL" 2> /dev/null || "$(dirname "$0")/install_deps.sh" python3-pil || true  # without it one test is skipped
weights=${PARTWISE_REAL_WEIGHTS:-$data/../weights}
[ ! -d "$weights" ] || PARTWISE_REAL_WEIGHTS=$(cd "$weights" && pwd)
export PARTWISE_REAL_WEIGHTS
PARTWISE_REAL_DATA=$(cd "$data" && pwd) ctest --preset release -L real
