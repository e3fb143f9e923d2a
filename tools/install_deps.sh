#!/bin/sh
# Installs what is missing of the Debian packages the project builds with, and of those named; quiet when nothing is.
set -eu
packages="g++ cmake ninja-build git python3 python3-numpy
  libcpp-httplib-dev libtorch-dev libopenblas0-pthread libfmt-dev nlohmann-json3-dev libcli11-dev libgloo-dev libjpeg62-turbo-dev libpng-dev zlib1g-dev libhdf5-dev libgtest-dev $*"
command -v dpkg-query > /dev/null || { echo "not a Debian system: install the equivalents of: $packages"; exit 0; }
missing=""
for package in $packages; do
  dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q "install ok installed" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "installing:$missing"
as_root=""
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo > /dev/null || { echo "not root and no sudo; run as root: apt-get install$missing"; exit 1; }
  as_root="sudo"
fi
$as_root apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing > /dev/null
