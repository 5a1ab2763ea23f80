#!/bin/sh
# Builds Player 3 (libplayerc, playerv) from its public repository in DIR, outside this tree, and runs session.c with a P2AT,
# an SO-101 and an ROV that Halyard simulates: tools/player/run.sh DIR. Needs git, cmake and a C++ compiler; playerv also
# GTK 2, libgnomecanvas and an X display. Where it cannot be built it says "skip" and exits with 0.
set -eu
dir=${1:?usage: tools/player/run.sh DIR}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$dir" && cd "$dir"
skip() { echo "skip: $1"; exit 0; }
for tool in git cmake cc c++ go; do command -v $tool >/dev/null || skip "no $tool"; done
[ -d player ] || git clone -q --depth 1 https://github.com/playerproject/player || skip "no repository"
if [ ! -f build/client_libs/libplayerc/libplayerc.so ]; then
  mkdir -p build
  (cd build && cmake ../player -DBUILD_EXAMPLES=OFF -DBUILD_PYTHONC_BINDINGS=OFF -DBUILD_RUBYCPP_BINDINGS=OFF \
    -DCMAKE_C_FLAGS=-fcommon -DCMAKE_CXX_FLAGS="-fcommon -std=gnu++11" >cmake.log 2>&1 && make playerc >make.log 2>&1) ||
    skip "player does not build: $dir/build/make.log"
  (cd build && make playerv >playerv.log 2>&1) || echo "playerv does not build: $dir/build/playerv.log"
fi
libraries=$(find "$PWD/build/" -name '*.so' -exec dirname {} \; | sort -u | paste -sd:)
export LD_LIBRARY_PATH=$libraries
link=$(echo "$libraries" | sed 's/^/-L/; s/:/ -L/g')
cc -w -Iplayer/client_libs -Ibuild/client_libs -Iplayer -Ibuild -I/usr/include/tirpc "$here/session.c" -o session \
  $link -lplayerc -lplayerinterface -lplayercommon -lm
(cd "$here/../.." && go build -o "$dir/halyard" ./cmd/halyard)
cat >p2at.yaml <<'YAML'
name: p2at
clock: {mode: realtime, period: 10ms}
world: {scene: yellow, seed: 1}
agents: [{name: p2at, model: usarsim-pioneer, pose: {position: [4.5, -1.9, -1.8]}}]
servers: []
YAML
failed=0
for robot in p2at so101 rov; do
  config=$robot
  [ $robot != p2at ] || config=p2at.yaml
  ./halyard serve $config --body sim --set 'servers=[{protocol: player, listen: "127.0.0.1:16665"}]' >$robot.log 2>&1 &
  server=$!
  n=0
  until grep -q 'Ctrl-C' $robot.log || [ $n = 30 ]; do sleep 1; n=$((n + 1)); done
  echo "== $robot"
  ./session $robot 16665 2>/dev/null || failed=1
  kill $server && wait $server || true
done
exit $failed
