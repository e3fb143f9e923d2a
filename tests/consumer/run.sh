#!/bin/sh
# usage: run.sh SOURCE_DIR BUILD_DIR WORK_DIR installed|sources: compiles a program against the installed build, or with
# the source tree as a part of it.
set -eu
rm -rf "$3"
if [ "$4" = installed ]; then
  cmake --install "$2" --prefix "$3/prefix" > /dev/null
  where="-DCMAKE_PREFIX_PATH=$3/prefix"
else
  where="-DPARTWISE_SOURCE_DIR=$1"
fi
torch=$(sed -n 's/^Torch_DIR:PATH=//p' "$2/CMakeCache.txt")
cmake -S "$1/tests/consumer" -B "$3/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DTorch_DIR="$torch" "$where" > /dev/null
cmake --build "$3/build" --target own_network layer_alone
(cd "$3" && build/own_network)
if [ "$4" = installed ]; then
  "$3/prefix/bin/partwise" --version
  "$3/prefix/bin/partwise" weights --help > /dev/null
  for page in man/man1/partwise.1 bash-completion/completions/partwise zsh/site-functions/_partwise; do
    test -s "$3/prefix/share/$page"
  done
  if ls "$3/prefix/include/partwise" | grep -v '\.h$'; then
    echo "rooms are installed"
    exit 1
  fi
fi
