package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/cmd/halyard-lab/internal/lab"
	"github.com/halyard-robotics/halyard/internal/command"
)

// runApp runs a command line.
func runApp(t *testing.T, args ...string) (code int, out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := &command.Program{Host: command.Host{In: strings.NewReader(""), Out: &stdout, Err: &stderr}}
	code = p.Run(t.Context(), newRoot, args)
	return code, stdout.String(), stderr.String()
}

// TestMain gives the rigs of all tests a folder of their own for their control sockets.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "halyard-lab")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_RUNTIME_DIR", dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A wrong word is refused with the right ones.
func TestArguments(t *testing.T) {
	for line, want := range map[string]string{
		"matrix so101":                 "matrix: got 1 argument, want none (try: halyard-lab matrix)",
		"faults --fault nosuch ax-12a": `faults: --fault: got "nosuch", want one of dropped, corrupted, `,
		"faults --seeds 0 ax-12a":      "faults: --seeds: got 0, want 1..1000",
		"nosuch":                       `unknown command "nosuch" for "halyard-lab" (try: halyard-lab --help)`,
		"matrix -o xml":                `--output: got "xml", want table, json or jsonl (try: halyard-lab --help)`,
	} {
		code, out, err := runApp(t, strings.Fields(line)...)
		if code != 2 || out != "" || !strings.HasPrefix(err, "halyard-lab: "+want) || strings.Count(err, "\n") != 1 {
			t.Errorf("%s: got exit %d, %q\n%s\nwant 2 and halyard-lab: %s", line, code, out, err, want)
		}
	}
}

// The tests that failed are shown with their output, and the slowest of all.
func TestSlowest(t *testing.T) {
	const events = `{"Action":"output","Package":"a","Test":"TestBad","Output":"bad\n"}
{"Action":"output","Package":"a","Test":"TestGood","Output":"good\n"}
{"Action":"pass","Package":"a","Test":"TestGood","Elapsed":2}
{"Action":"fail","Package":"a","Test":"TestBad","Elapsed":1}
{"Action":"output","Package":"a","Test":"TestHangs","Output":"stack\n"}
{"Action":"fail","Package":"a","Elapsed":3}
`
	var out strings.Builder
	err := slowest(strings.NewReader(events), &out)
	want := "FAILED a TestBad\nbad\nFAILED a \nNOT ENDED a TestHangs\nstack\nthe slowest of 1 packages:\n     3.0 s " +
		" a\nthe slowest of 2 tests:\n     2.0 s  a TestGood\n     1.0 s  a TestBad\n1 passed, 1 failed, 0 skipped\n"
	if err == nil || out.String() != want {
		t.Errorf("got %v\n%s, want a failure\n%s", err, out.String(), want)
	}
	if err := slowest(strings.NewReader(strings.ReplaceAll(events, "fail", "pass")), &out); err != nil {
		t.Errorf("all passed: got %v", err)
	}
}

// Every device of the fault matrix and every fault can be typed as its list shows it.
func TestFaultNames(t *testing.T) {
	t.Parallel()
	word := regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)
	_, _, err := runApp(t, "faults", "no such device")
	_, list, _ := strings.Cut(err, "want one of ")
	list, _, _ = strings.Cut(list, " (try: ")
	if got := strings.Split(list, ", "); !slices.Equal(got, lab.DeviceNames()) || len(got) < 40 {
		t.Errorf("devices: got %q", got)
	}
	for _, r := range lab.FaultRows() {
		if !word.MatchString(r.Device) || !slices.Contains(lab.DeviceNames(), r.Device) {
			t.Errorf("device: got %q, want one word of the list", r.Device)
		}
	}
	for _, w := range lab.FaultWords() {
		if !word.MatchString(w.Name) {
			t.Errorf("fault: got %q, want one word", w.Name)
		}
	}
	if code, out, err := runApp(t, "faults", "maestro-crc", "--fault", "echo", "--seeds", "1", "-o",
		"jsonl"); code != 0 || !strings.HasPrefix(out, `{"device":"maestro-crc"`) {
		t.Errorf("got exit %d, %s%s", code, out, err)
	}
}
