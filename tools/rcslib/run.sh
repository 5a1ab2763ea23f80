#!/bin/sh
# Runs session.cc, the document of what was checked with NIST's rcslib, on the buffers of `halyard moast`, packed and xdr, at the
# servo and the prim level. Needs rcslib installed (librcs, libposemath, headers below include/rcs; name its places in CPATH and
# LIBRARY_PATH), for xdr built with it and libtirpc, a C++ compiler and go. Says "skip" and exits with 0 where one is absent.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT && cd "$dir"
skip() { echo "skip: $1"; exit 0; }
for tool in c++ go; do command -v $tool >/dev/null || skip "no $tool"; done
link="-lrcs -lposemath -lpthread -ldl -lm" encodings=packed
[ ! -f /usr/include/tirpc/rpc/xdr.h ] || link="$link -ltirpc" encodings="packed xdr"
c++ -w -fpermissive "$here/session.cc" -o session $link 2>c++.log || skip "needs rcslib installed: $(head -n 1 c++.log)"
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
