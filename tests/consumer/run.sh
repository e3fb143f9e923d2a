#!/bin/sh
# usage: run.sh SOURCE_DIR BUILD_DIR WORK_DIR: installs the build and compiles a program against it.
set -eu
rm -rf "$3"
cmake --install "$2" --prefix "$3/prefix" > /dev/null
cmake -S "$1/tests/consumer" -B "$3/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$3/prefix" > /dev/null
cmake --build "$3/build"
(cd "$3" && build/own_network)
"$3/prefix/bin/partwise" --version
