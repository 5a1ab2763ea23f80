package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/protocols/moast"
	"github.com/halyard-robotics/halyard/protocols/nml"
)

// freePort is a port that was free a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// TestMOAST: halyard moast writes an .nml that a client, the shell and nml print open; prim drives the Pioneer to a point.
func TestMOAST(t *testing.T) {
	file := filepath.Join(t.TempDir(), "moast.nml")
	start(t, "moast", "--nml", file, "--listen", freePort(t), "--encoding", "xdr")
	config, err := readNML(file)
	if err != nil {
		t.Fatal(err)
	}
	open := func(name string) *nml.Client {
		t.Helper()
		c, err := dialNML(config, name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	cmd, stat, nav := open("primMobJACmd1"), open("primMobJAStat1"), open("navDataExt1")
	do := func(serial int32, c moast.Command) {
		t.Helper()
		c.Head().Serial = serial
		if err := cmd.Write(c, false); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(20 * time.Second); ; {
			m, err := stat.BlockingRead(moast.New, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if h := m.(moast.Reporter).Report(); h.EchoSerial == serial && h.Status != moast.Exec {
				if h.Status != moast.Done {
					t.Fatalf("%s: got %v %q", moast.Symbol(h.CommandType), h.Status, h.Message)
				}
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: got no end in 20 s", moast.Symbol(c.MessageType()))
			}
		}
	}
	do(11, &moast.Plain{Kind: 8002})
	do(12, &moast.PrimMobCmdMoveWaypoint{Waypoints: []moast.Waypoint{{P: moast.Cartesian{X: 0.5}, Neighborhood: 0.05, Speed: 0.4}}})
	m, err := nav.Peek(moast.New)
	if err != nil {
		t.Fatal(err)
	}
	if at := m.(*moast.NavDataExt).Rel.Tran; at.X < 0.43 || at.X > 0.6 || at.Y < -0.05 || at.Y > 0.05 {
		t.Errorf("position: got %+v, want 0.5, 0", at)
	}
	code, out, errText := runApp(t, "nml", "print", "navDataExt1", "--nml", file)
	if code != 0 || !strings.HasPrefix(out, "NavDataExt &{Time:") {
		t.Errorf("nml print: got %d, %s%s", code, out, errText)
	}
	code, out, errText = runApp(t, "nml", "print", "servoSPLinescan1_1", "--nml", file)
	if code != 0 || strings.Count(out, "\n") != 181 {
		t.Errorf("nml print of a scan: got %d, %d lines, %s", code, strings.Count(out, "\n"), errText)
	}
	if code, out, errText = runApp(t, "shell", "prim", "--nml", file); code != 0 || out != "> " {
		t.Errorf("shell: got %d, %q, %s", code, out, errText)
	}
}

func TestMOASTFaults(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.nml")
	if err := os.WriteFile(bad, []byte("B x SHMEM\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct{ args, want string }{
		{"moast --levels servo,attic", `got "attic", want servo, prim, am, veh or sect`},
		{"moast --listen nowhere", `got "nowhere", want HOST:PORT`},
		{"moast --encoding xml", "xml"},
		{"shell prim --nml " + bad, "bad.nml:1: B line: got 3 words"},
		{"shell prim --nml none.nml", "try: halyard moast --nml none.nml"},
		{"nml print x --nml none.nml", "none.nml"},
	} {
		if code, _, errText := runApp(t, strings.Fields(k.args)...); code != 2 || !strings.Contains(errText, k.want) {
			t.Errorf("%s: got %d, %s, want 2, %s", k.args, code, errText, k.want)
		}
	}
}
