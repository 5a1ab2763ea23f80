package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
)

// emulated runs "halyard emulate" until stop is called, which returns its exit code, and returns its ready line.
func emulated(t *testing.T, args ...string) (line ready, stop func() int) {
	t.Helper()
	if _, err := os.Stat("/dev/ptmx"); err != nil {
		t.Skip("no pty here: ", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		a := &app{in: strings.NewReader(""), out: in, err: &stderr}
		code <- a.Run(ctx, append([]string{"emulate", "-o", "jsonl"}, args...))
		in.Close()
	}()
	text, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cancel()
		t.Fatalf("no ready line: exit %d, %s", <-code, &stderr)
	}
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	ended := false
	stop = func() int {
		if ended {
			return 0
		}
		ended = true
		cancel()
		return <-code
	}
	t.Cleanup(func() { stop() })
	return line, stop
}

// typed runs a command until it is good, five times at most: behind a terminal is a program, which a busy machine lets
// run when it likes, and a tool that waited for it in vain says so.
func typed(t *testing.T, good func(code int, text string) bool, args ...string) (code int, out, errText string) {
	t.Helper()
	for range 5 {
		if code, out, errText = runApp(t, args...); good(code, out+errText) {
			break
		}
	}
	return code, out, errText
}

// scanned wants "halyard scan" to find want: "id@baud" of each servo.
func scanned(t *testing.T, port, bauds, want string) {
	t.Helper()
	servos := func(out string) string {
		var text []string
		for line := range strings.Lines(out) {
			var f commission.FoundServo
			if err := json.Unmarshal([]byte(line), &f); err != nil {
				continue // what stderr has
			}
			mark := ""
			if f.Model != "xm430-w350" || f.Number != 1020 || f.Type != "dynamixel2" || f.Port != port ||
				f.Finding != "" {
				mark = "!"
			}
			text = append(text, commission.Place{Baud: f.Baud, ID: f.ID}.String()+mark)
		}
		return strings.Join(text, " ")
	}
	exit := 0
	if want == "" {
		exit = 5
	}
	code, out, errText := typed(t, func(code int, text string) bool { return code == exit && servos(text) == want },
		"scan", port, "--protocol", "dynamixel2", "--baud", bauds, "-o", "jsonl", "-q")
	if code != exit || servos(out) != want {
		t.Errorf("scan %s at %s: got exit %d, %q %s; want %d, %q", port, bauds, code, servos(out), errText, exit, want)
	}
}

// A config's servos on a pty are found, changed and found changed by the same commands as real ones.
func TestToolsEndToEnd(t *testing.T) {
	t.Parallel() // it mostly waits for servos that are not there
	dir := t.TempDir()
	line, stop := emulated(t, "xm430-arm", "--dir", dir)
	if len(line.Ports) != 1 || line.Event != "ready" || line.Servers == nil {
		t.Fatalf("got %+v, want one port", line)
	}
	p := line.Ports[0]
	if p.Bus != "arm" || p.Type != "dynamixel2" || p.Baud != 1000000 || !strings.HasPrefix(p.Path, "/dev/pts/") {
		t.Errorf("got %+v", p)
	}
	link := filepath.Join(dir, "arm")
	scanned(t, link, "1000000", "1@1000000 2@1000000 3@1000000 4@1000000 5@1000000 6@1000000")
	scanned(t, p.Path, "4000000", "")
	code, out, errText := typed(t, rigtest.Exits(0), "setup", link, "--id", "3", "--new-id", "9", "--new-baud",
		"2000000",
		"--baud", "1000000", "-o", "jsonl")
	var done commission.Assignment
	if err := json.Unmarshal([]byte(out), &done); code != 0 || err != nil || !done.Done || done.Backup["id"] != 3 ||
		done.ID != 9 {
		t.Fatalf("setup: exit %d, %s %s", code, out, errText)
	}
	scanned(t, link, "2000000,1000000", "9@2000000 1@1000000 2@1000000 4@1000000 5@1000000 6@1000000")
	if code, _, errText := typed(t, rigtest.Exits(7), "setup", link, "--id", "1", "--new-id", "2", "--baud",
		"1000000"); code != 7 || !strings.Contains(errText, "taken") {
		t.Errorf("setup to a taken id: exit %d, %s, want 7", code, errText)
	}
	// The doctor sees on the pty what setup has done; the arm has no calibration.
	code, out, _ = typed(t, func(_ int, text string) bool { return strings.Count(text, `"found":"no answer"`) == 1 },
		"doctor", "xm430-arm", "-q", "-o", "jsonl", "--set", "buses.arm.port="+link)
	for _, want := range []string{
		`{"check":"servo","state":"fail","bus":"arm","id":3,"joint":"elbow","found":"no answer"`,
		`"check":"calibration","state":"fail"`, `{"check":"model","state":"ok","bus":"arm"`} {
		if code != 3 || !strings.Contains(out, want) {
			t.Errorf("doctor: exit %d, %s, want 3 and %s", code, out, want)
		}
	}
	// The port is in use by this process, and the error has its process id.
	held, err := serial.Open(link, 1000000, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"scan", link}, {"setup", link, "--id", "1", "--new-id", "7"},
		{"doctor", "xm430-arm", "--set", "buses.arm.port=" + link}} {
		code, out, errText := runApp(t, args...)
		if code != 4 || !strings.Contains(out+errText, "held by pid "+strconv.Itoa(os.Getpid())) {
			t.Errorf("%v on a busy port: exit %d, %s%s, want 4 and the holder", args, code, out, errText)
		}
	}
	held.Close()
	if code := stop(); code != 0 {
		t.Errorf("emulate: exit %d, want 0", code)
	}
	if _, err := os.Lstat(link); err == nil {
		t.Error("the link is left behind")
	}
	if code, _, _ := runApp(t, "scan", link); code != 3 {
		t.Errorf("scan of a port that is gone: exit %d, want 3", code)
	}
}

// Faults are felt on the pty, and the world moves with the wall's time.
func TestEmulateMoves(t *testing.T) {
	line, _ := emulated(t, "pendulum", "--set", "buses.line.baud=2000000", "--fault", "line: wrong servo 1 by=50")
	port, err := serial.Open(line.Ports[0].Path, 2000000, "")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	c, m := dynamixel.NewClient(port, 1), dynamixel.ModelByName("mx-28")
	c.SetLatency(catalog.TerminalTimeout)
	write := func(name string, v int64) {
		t.Helper()
		if err := c.WriteRegister(1, m, name, v); err != nil {
			t.Fatal(err)
		}
	}
	write("torque_enable", 1)
	start, err := c.ReadRegister(1, m, "present_position")
	if err != nil {
		t.Fatal(err)
	}
	write("goal_position", start+500)
	var now int64
	for begin := port.Now(); now < start+400 && port.Now()-begin < 5e9; {
		if now, err = c.ReadRegister(1, m, "present_position"); err != nil {
			t.Fatal(err)
		}
	}
	if now < start+400 {
		t.Errorf("goal 500 ticks on: got from %d to %d", start, now)
	}
}

func TestEmulateTable(t *testing.T) {
	var out, errs bytes.Buffer
	a := &app{out: &out, err: &errs, format: "table"}
	if err := a.announcePorts([]halyard.Port{{Bus: "legs", Type: "dynamixel1", Baud: 1000000,
		Reason: "no joint is connected to it"},
		{Bus: "arm", Type: "dynamixel2", Path: "/dev/pts/3", Servos: true, Baud: 57600}}, "so101", ""); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "- (no joint is connected to it)") ||
		!strings.Contains(errs.String(), "halyard scan /dev/pts/3 --baud 57600") {
		t.Errorf("got %s%s", &out, &errs)
	}
}

func TestPlant(t *testing.T) {
	// two buses have a servo 1
	w, err := assembly.EmulateWorld(rigtest.PlanOf(t, "demo", configs.Options{Body: "emulated"}))
	if err != nil {
		t.Fatal(err)
	}
	for text, ok := range map[string]bool{
		"off servo 7": true, "upper: off servo 7": true, "upper: off servo 1": true, "crc bus p=0.1": true,
		"left_leg: slow bus": true,
		"off servo 1":        false, "left_leg: off servo 7": false, "off servo 99": false, "arm: crc bus": false,
		"":    false,
		"off": false,
	} {
		if err := w.Plant(text); (err == nil) != ok {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// A folder that another emulate serves into is refused, and free again when that one has ended.
func TestEmulateFolderInUse(t *testing.T) {
	dir := t.TempDir()
	_, stop := emulated(t, "xm430-arm", "--dir", dir)
	code, _, text := runApp(t, "emulate", "xm430-arm", "--dir", dir)
	if code != 4 || !strings.Contains(text, "another halyard uses") {
		t.Errorf("exit %d: %s, want 4", code, text)
	}
	if code := stop(); code != 0 && code != 130 && code != 143 {
		t.Errorf("the first: exit %d", code)
	}
	_, stop = emulated(t, "xm430-arm", "--dir", dir)
	stop()
}
