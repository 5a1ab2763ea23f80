#!/bin/sh
# Runs session.c, the document of what was checked with libplayerc of Player 3, on a P2AT, an SO-101 and an ROV that Halyard
# simulates. Needs Player installed (pkg-config finds playerc; else name its places in CPATH, LIBRARY_PATH and LD_LIBRARY_PATH), a
# C compiler and go. Says "skip" and exits with 0 where one is absent.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT && cd "$dir"
skip() { echo "skip: $1"; exit 0; }
for tool in cc go; do command -v $tool >/dev/null || skip "no $tool"; done
flags=$(pkg-config --cflags --libs playerc 2>/dev/null || echo "-lplayerc -lplayerinterface -lplayercommon")
cc -w "$here/session.c" -o session $flags -lm 2>cc.log || skip "needs Player installed: $(head -n 1 cc.log)"
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
