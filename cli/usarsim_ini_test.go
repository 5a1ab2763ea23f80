package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/usarini"
	"github.com/halyard-robotics/halyard/sim/model"
)

const iniFolder = "../internal/usarini/testdata"

// Show 5: an INI in USARSim's style, with every key of the manual, spawns robots that answer and move to the byte as
// those of robot files which say the same: GEO, CONF, STA and every sensor, noise and all.
func TestINITwins(t *testing.T) {
	t.Parallel()
	p2at, err := model.Source("usarsim-p2at")
	if err != nil {
		t.Fatal(err)
	}
	carries, err := os.ReadFile(filepath.Join(iniFolder, "p2at.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	mechanics, _, _ := strings.Cut(string(p2at), "\nsensors:")
	own := filepath.Join(t.TempDir(), "p2at.yaml")
	if err := os.WriteFile(own, []byte(mechanics+"\n"+string(carries)), 0o600); err != nil {
		t.Fatal(err)
	}
	bot, err := filepath.Abs(filepath.Join(iniFolder, "mybot.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for class, yaml := range map[string]string{"USARBot.MyBot": bot, "USARBot.P2AT": own} {
		t.Run(class, func(t *testing.T) {
			of := usarsimFlags{arena: "yellow", ini: []string{filepath.Join(iniFolder, "MyRobots.ini")}}
			have := transcript(t, class, of)
			of = usarsimFlags{arena: "yellow"}
			of.flags.set = []string{fmt.Sprintf("classes[%q].model=%s", class, yaml)}
			want := transcript(t, class, of)
			for i := range want {
				if i >= len(have) || have[i] != want[i] {
					t.Fatalf("line %d of %d: of the INI\n%s\nof its twin\n%s", i, len(want), append(have, "")[i],
						want[i])
				}
			}
			text := strings.Join(want, "\n")
			if moved := strings.Count(text, "\nSTA "); len(have) != len(want) || moved < 12 ||
				!strings.Contains(text, "\nGEO ") || !strings.Contains(text, "\nCONF ") {
				t.Errorf("got %d lines, want %d with %d of STA, and GEO and CONF", len(have), len(want), moved)
			}
			t.Logf("%d lines, %d bytes alike; last: %.130s", len(want), len(text), want[len(want)-1])
		})
	}
}

// transcript is all that a robot of a class says of itself, and while it drives for three seconds. Time stands still
// but where the script lets it pass, so that two transcripts are alike where the robots are.
func transcript(t *testing.T, class string, f usarsimFlags) []string {
	t.Helper()
	clock := newTowed()
	clock.timeout = time.Hour
	_, address := runArena(t, clock, f)
	defer clock.allow(24 * time.Hour)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewScanner(conn)
	in.Buffer(nil, 1<<20)
	var told, answers []string
	// say sends a line and waits until the server has obeyed it: what is asked behind it is answered.
	say := func(line string) {
		t.Helper()
		conn.SetDeadline(time.Now().Add(time.Minute))
		fmt.Fprintf(conn, "%s\r\nGETSTARTPOSES\r\n", line)
		for in.Scan() {
			if strings.HasPrefix(in.Text(), "NFO {StartPoses") {
				return
			}
			// What comes by itself and what is answered may pass each other; each of the two keeps its order.
			switch kind, _, _ := strings.Cut(in.Text(), " "); kind {
			case "STA", "MIS", "SEN":
				told = append(told, in.Text())
			default:
				answers = append(answers, in.Text())
			}
		}
		t.Fatalf("after %q: %v", line, in.Err())
	}
	say(fmt.Sprintf("INIT {ClassName %s} {Location 4.5,1.9,1.8} {Name Twin}", class))
	for _, kind := range strings.Fields("Sonar IR RangeScanner IRScanner Odometry INU Encoder Touch RFID VictRFID " +
		"Sound HumanMotion Camera RFIDReleaser PanTilt") {
		say("GETGEO {Type " + kind + "}")
		say("GETCONF {Type " + kind + "}")
	}
	for step := range 60 {
		switch step {
		case 5:
			say("DRIVE {Left 6} {Right 4}")
			say("CAMERA {Rotation 0,0.2,0.4} {Zoom 1.0}")
		case 30:
			say("DRIVE {Left -30} {Right 30} {Normalized True}")
			say("SET {Type IRScanner} {Name Scanner2} {Opcode SCAN}")
			say("SET {Type RFIDReleaser} {Name Gun} {Opcode Release}")
		}
		clock.pass(50 * time.Millisecond)
		say("SET {Type RFIDReleaser} {Name Gun} {Opcode TagsRemaining}")
	}
	return append(answers, told...)
}

// Each class of the example can be spawned and driven. Corky's sides are torques there: it goes as fast as it can.
func TestINIDrives(t *testing.T) {
	t.Parallel()
	clock := newTowed()
	st, address := runArena(t, clock,
		usarsimFlags{arena: "hall", ini: []string{filepath.Join(iniFolder, "MyRobots.ini")}})
	for _, class := range []string{"USARBot.MyBot", "P2AT", "usarbot.usarbc"} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "INIT {ClassName %s} {Location 4.5,6,1.8} {Name One}\r\nDRIVE {Left 2} {Right 2}\r\n", class)
		in := bufio.NewScanner(conn)
		in.Buffer(nil, 1<<20)
		var speeds []float64
		for len(speeds) < 8 && in.Scan() {
			if _, rest, ok := strings.Cut(in.Text(), "{Velocity "); ok && strings.HasPrefix(in.Text(), "STA") {
				speeds = append(speeds, triple(rest)[0])
				clock.tow(250 * time.Millisecond)
			}
		}
		conn.Close()
		for st.Rig.Agent("One") != nil {
			clock.tow(20 * time.Millisecond)
		}
		if len(speeds) < 8 || !(speeds[7] > 0.05) {
			t.Fatalf("%s: got speeds of %v, want it to drive", class, speeds)
		}
		if fast := speeds[7] > 0.5; fast != strings.HasSuffix(class, "bc") {
			t.Errorf("%s: got speeds of %v, want 2 rad/s of its wheels, but for Corky, which speeds up as long as "+
				"it can", class, speeds)
		}
	}
}

// A file with faults is notified of with the file's own lines and keys, and ends the command as a bad config does.
func TestINIFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.ini")
	for _, k := range []struct{ text, want string }{
		{"[USARBot.A]\nmsgTimer=soon\n", `mine.ini:2: [USARBot.A] msgTimer: got "soon", want a number`},
		{"[USARBot.A]\nPayload=1\n", `mine.ini: got no robot that carries something, no settings of sensors, and no [BotAPI.BotServer]`},
		{"[USARBot.P2AT]\nSensors=(ItemClass=class'USARBot.RangeScanner',ItemName=\"S\")\n[USARBot.RangeScanner]\nResolution=1\nScanFov=65535\n",
			`mine.ini:2: [USARBot.P2AT] Sensors S: got 65534.99999403495 rays, want at most 4096`},
		{"[USARBot.P2AT]\nbatteryLife=0\nSensors=(ItemClass=class'USARBot.SonarSensor',ItemName=\"S\")",
			`mine.ini:1: [USARBot.P2AT] batteryLife: got 0, want 1..1e7`},
		{"[Engine.Engine]\nA=1\n", `mine.ini: got no robot that carries something, no settings`},
	} {
		if err := os.WriteFile(file, []byte(k.text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, errText := runApp(t, "usarsim", "--ini", file, "--listen", "gamebots=127.0.0.1:0", "--listen",
			"imageserver=127.0.0.1:0")
		if code != 2 || !strings.Contains(errText, k.want) {
			t.Errorf("%q: got exit %d and\n%swant exit 2 and\n%s", k.text, code, errText, k.want)
		}
	}
	if code, _, _ := runApp(t, "usarsim", "--ini", file+".none"); code != 2 { // as a config that is not there
		t.Errorf("no file: got exit %d, want 2", code)
	}
}

// BotAPI.ini says where to listen and for how many; what the command line says counts more.
func TestBotAPI(t *testing.T) {
	file := filepath.Join(t.TempDir(), "BotAPI.ini")
	if err := os.WriteFile(file, []byte("[BotAPI.BotServer]\nListenPort=3123\nMaxConnections=3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		port int
		want string
	}{{0, "127.0.0.1:3123"}, {3456, "127.0.0.1:3456"}} {
		f := usarsimFlags{ini: []string{file}, port: k.port}
		p, err := f.config(&app{err: io.Discard}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s := p.Servers[0]; s.Protocol != "gamebots" || s.Listen != k.want || s.MaxClients != 3 {
			t.Errorf("got %+v, want %s for 3", s, k.want)
		}
	}
}

// FuzzINI: the robots of any file are built, or the error reports each fault with its place.
func FuzzINI(f *testing.F) {
	for _, name := range []string{"MyRobots.ini", "USARBot.ini"} {
		text, err := os.ReadFile(filepath.Join(iniFolder, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	base, err := plan.Builtin("USARBot.P2AT")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		bots, err := usarini.ParseBots("f.ini", text)
		if err != nil {
			return
		}
		for i := range bots.Robots {
			own := base
			if bots.Robots[i].Class != "USARBot.P2AT" {
				own = nil
			}
			twin, err := bots.Twin(bots.Robots[i].Class, own, false)
			if err != nil {
				continue
			}
			var faults configs.Faults
			if _, err = model.Parse(twin.YAML, "twin"); !errors.As(err, &faults) {
				continue
			}
			for _, b := range twin.Blame(faults) {
				if b.Line < 1 || strings.Contains(b.String(), "yaml") {
					t.Errorf("got a fault of the twin itself: %v\n%s", b, twin.YAML)
				}
			}
		}
	})
}
