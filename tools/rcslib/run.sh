#!/bin/sh
# Builds NIST's rcslib from its public repository in DIR, outside this tree, and runs session.cc on the buffers of `halyard moast`, packed
# and xdr, at the servo and the prim level: tools/rcslib/run.sh DIR. Needs git, make and a C++ compiler. Where it cannot be built
# it says "skip" and exits with 0.
set -eu
dir=${1:?usage: tools/rcslib/run.sh DIR}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$dir" && cd "$dir" && dir=$PWD
skip() { echo "skip: $1"; exit 0; }
for tool in git make cc c++ go; do command -v $tool >/dev/null || skip "no $tool"; done
[ -d rcslib ] || git clone -q --depth 1 https://github.com/usnistgov/rcslib || skip "no repository"
xdr= libraries= encodings=packed
if [ -f /usr/include/tirpc/rpc/xdr.h ]; then
  xdr="--enable-xdr CPPFLAGS=-I/usr/include/tirpc" libraries=-ltirpc encodings="packed xdr"
else
  echo "skip: xdr needs libtirpc-dev"
fi
if [ ! -f build/.libs/librcs.a ] || [ ! -d inst/include ]; then
  mkdir -p build
  (cd build && ../rcslib/configure --disable-shared --prefix="$dir/inst" $xdr >configure.log 2>&1 &&
    make LIBS="$libraries" CXXFLAGS="-O1 -w -fpermissive -fcommon" CFLAGS="-O1 -w -fcommon" libposemath.la librcs.la install-includeHEADERS >make.log 2>&1) ||
    skip "rcslib does not build: $dir/build/make.log"
fi
c++ -w -fpermissive -Iinst/include -Iinst/include/rcs "$here/session.cc" -o session build/.libs/librcs.a build/.libs/libposemath.a $libraries -lpthread -ldl -lm
(cd "$here/../.." && go build -o "$dir/halyard" ./cmd/halyard)
failed=0
for encoding in $encodings; do
  for level in servo servo,prim; do
    rm -f moast.nml
    ./halyard moast --levels $level --encoding $encoding --listen 127.0.0.1:25799 --nml moast.nml >moast.log 2>&1 &
    server=$!
    n=0
    until [ -s moast.nml ] && grep -q 'Ctrl-C' moast.log || [ $n = 30 ]; do sleep 1; n=$((n + 1)); done
    echo "== $encoding, $level"
    ./session moast.nml ${level#servo,} || failed=1
    kill -INT $server
    wait $server || true
  done
done
exit $failed
