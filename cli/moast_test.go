package cli

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
	servemoast "github.com/halyard-robotics/halyard/internal/serve/moast"
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

// freePorts is a port of which the next one was free too.
func freePorts(t *testing.T) string {
	t.Helper()
	for {
		first := freePort(t)
		at := netip.MustParseAddrPort(first)
		if ln, err := net.Listen("tcp", netip.AddrPortFrom(at.Addr(), at.Port()+1).String()); err == nil {
			ln.Close()
			return first
		}
	}
}

// No file has the config that halyard moast makes: halyard list could not find it.
func TestMOASTNext(t *testing.T) {
	c, err := halyard.Parse("halyard moast",
		(&servemoast.Run{Host: "127.0.0.1", Port: 25700, World: "yellow", Encoding: "packed"}).Config())
	if err != nil {
		t.Fatal(err)
	}
	if next := nextCommand(c, nil, []halyard.Server{{Protocol: "nml", Address: "127.0.0.1:25700"}}); next != "" {
		t.Errorf("got %q, want nothing", next)
	}
}

// TestMOAST: halyard moast writes an .nml that a client, the shell and nml print open; prim drives the Pioneer to a
// point.
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
		for end := time.Now().Add(2 * time.Minute); ; {
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
				t.Fatalf("%s: got no end in 2 minutes", moast.Symbol(c.MessageType()))
			}
		}
	}
	do(11, &moast.Plain{Kind: 8002})
	do(12, &moast.PrimMobCmdMoveWaypoint{Waypoints: []moast.Waypoint{{P: moast.Cartesian{X: 0.5}, Neighborhood: 0.05,
		Speed: 0.4}}})
	m, err := nav.Peek(moast.New)
	if err != nil {
		t.Fatal(err)
	}
	if at := m.(*moast.NavDataExt).Rel.Tran; at.X < 0.43 || at.X > 0.6 || at.Y < -0.05 || at.Y > 0.05 {
		t.Errorf("position: got %+v, want 0.5, 0", at)
	}
	code, out, errText := runApp(t, "nml", "print", "navDataExt1", "--nml", file)
	if code != 0 || !strings.HasPrefix(out, "NavDataExt\ntime:               ") {
		t.Errorf("nml print: got %d, %s%s", code, out, errText)
	}
	code, out, errText = runApp(t, "nml", "print", "servoSPLinescan1_1", "--nml", file)
	if code != 0 || strings.Count(out, "\n") != 181 {
		t.Errorf("nml print of a scan: got %d, %d lines, %s", code, strings.Count(out, "\n"), errText)
	}
	code, out, errText = runApp(t, "nml", "modules", "--nml", file)
	if code != 0 || !strings.Contains(out, "primMobJA1       PrimMobJACmdMoveWaypoint        12      12 DONE") ||
		strings.Count(out, "\n") < 10 {
		t.Errorf("nml modules: got %d, %s%s", code, out, errText)
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
		{"moast --ini none.ini", "none.ini"},
		{"moast --ini " + bad, "bad.nml:1: line: got"},
		{"shell prim --nml " + bad, "bad.nml:1: B line: got 3 words"},
		{"shell prim --nml none.nml", "try: halyard moast --nml none.nml"},
		{"nml print x --nml none.nml", "none.nml"},
	} {
		if code, _, errText := runApp(t, strings.Fields(k.args)...); code != 2 || !strings.Contains(errText, k.want) {
			t.Errorf("%s: got %d, %s, want 2, %s", k.args, code, errText, k.want)
		}
	}
}

// TestMOASTKeepsFiles: --nml does not write over a file that another program wrote.
func TestMOASTKeepsFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.nml")
	const notes = "B mine SHMEM somewhere 1000 0 * 1 * 1 TCP=1 packed\n"
	if err := os.WriteFile(file, []byte(notes), 0o644); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0") // in use, so that the command ends in any case
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	code, _, errText := runApp(t, "moast", "--nml", file, "--listen", ln.Addr().String())
	if code != 2 || !strings.Contains(errText,
		"f.nml: got a file that halyard moast did not write, want a new one (try: another name)") {
		t.Errorf("got %d, %s, want 2", code, errText)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != notes {
		t.Errorf("got %q, %v, want it as it was", got, err)
	}
}

// TestMOASTTwoVehicles: a moast.ini of two vehicles, each with its buffers on a port of its own, and a section that
// connects to both.
func TestMOASTTwoVehicles(t *testing.T) {
	folder := t.TempDir()
	ini, file := filepath.Join(folder, "moast.ini"), filepath.Join(folder, "moast.nml")
	text := "[USARSIM.INFSKIN]\nPLATFORM_TYPE_1 = P2AT\nPLATFORM_TYPE_2 = P2AT\n[yellow]\nUNREAL_UTM_OFFSET = 1000, " +
		"2000, 0\n" +
		"UTM_START_POSE_1 = 1004.5, 2001.9, 1.8\nUTM_START_POSE_2 = 1001.5, 2001.9, 1.8\n"
	if err := os.WriteFile(ini, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, "moast", "--ini", ini, "--nml", file, "--listen", freePorts(t))
	config, err := readNML(file)
	if err != nil {
		t.Fatal(err)
	}
	for buffer, north := range map[string]float64{"navDataExt1": 1004.5, "navDataExt2": 1001.5} {
		c, err := dialNML(config, buffer)
		if err != nil {
			t.Fatal(err)
		}
		m, err := c.BlockingRead(moast.New, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if at := m.(*moast.NavDataExt).Abs.Tran; at.X < north-0.2 || at.X > north+0.2 || at.Y < 2001 || at.Y > 2003 {
			t.Errorf("%s: got %+v, want %g north", buffer, at, north)
		}
		c.Close()
	}
	cmd, err := dialNML(config, "sectMobPLCmd1")
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Close()
	stat, err := dialNML(config, "sectMobPLStat1")
	if err != nil {
		t.Fatal(err)
	}
	defer stat.Close()
	for i, c := range []moast.Command{&moast.Plain{Kind: 16001},
		&moast.SectMobCmdConnect{Vehicles: []int32{1, 2}, SendInit: true}} {
		c.Head().Serial = int32(20 + i)
		if err := cmd.Write(c, false); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(2 * time.Minute); ; {
			m, err := stat.BlockingRead(moast.New, 2*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if h := m.(moast.Reporter).Report(); h.EchoSerial == c.Head().Serial && h.Status == moast.Done {
				break
			} else if h.Status == moast.Error || time.Now().After(end) {
				t.Fatalf("%s: got %v %q", moast.Symbol(c.MessageType()), h.Status, h.Message)
			}
		}
	}
}
