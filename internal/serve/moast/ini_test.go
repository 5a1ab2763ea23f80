package moast

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

const sample = `# MOAST
[USARSIM.INFSKIN]
HOST_NAME =
PORT_NUMBER = 3000
PLATFORM_TYPE_1 = P2AT
PLATFORM_TYPE_2 = "P2DX"
[AM_SP]
SOMETHING = else
[DM-USAR_Yellow]
UNREAL_UTM_OFFSET = 4000000.5, 300000, 0 ; north east down
UTM_LETTER = N
UTM_ZONE = 18
UTM_START_POSE_COUNT = 2
UTM_START_POSE_1 = 4000005 300001.9 1.8
UTM_START_POSE_2 = 4000001, 300005, 1.8, 0, 0, 1.57
[DM-USAR_orange]
UNREAL_UTM_OFFSET = ignored
[SERVO_MOB_JA]
CYCLE_TIME = 0.02
`

func TestINI(t *testing.T) {
	ini, err := ParseINI("moast.ini", "yellow", strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	got := string((&Run{World: "yellow", Host: "127.0.0.1", Port: 25700, Encoding: "xdr", INI: ini}).Config())
	for _, want := range []string{
		"- {name: vehicle1, model: usarsim-p2at, pose: {position: [4.5, -1.9",
		"- {name: vehicle2, model: usarsim-p2dx, pose: {position: [0.5, -5, -1.8], rotation: [0, 0, -1.57]}}",
		`agent: vehicle2, listen: "127.0.0.1:25701", levels: "", encoding: "xdr", utm_offset: [4000000.500, 300000.000, 0.000], servo_cycle: 20ms`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
}

// TestINIFaults: all faults of a file are reported, each with its line.
func TestINIFaults(t *testing.T) {
	_, err := ParseINI("moast.ini", "yellow", strings.NewReader(`KEY = before
[USARSIM_API]
HOST_NAME = elsewhere.example
PORT_NUMBER = many
PLATFORM_TYPE_1 = Blimp
PLATFORM_TYPE_x = P2AT
PLATFORM_TYPE_3 = P2AT
no equals sign
[yellow
[yellow]
UTM_LETTER = X
UTM_ZONE = 61
UTM_ZONE = 18
UNREAL_UTM_OFFSET = 1, 2
UTM_START_POSE_COUNT = 3
UTM_START_POSE_2 = 1, 2, nan
UTM_START_POSE_4 = 1, 2, 3
[SERVO_SP]
CYCLE_TIME = 0
`))
	want := []string{"1: line: got \"KEY = before\" before", "3: HOST_NAME: got \"elsewhere.example\"",
		"4: PORT_NUMBER", "5: PLATFORM_TYPE_1: got \"Blimp\"",
		"6: PLATFORM_TYPE_: number: got \"X\"", "8: line: got \"no equals", "9: section", "11: UTM_LETTER",
		"12: UTM_ZONE: got \"61\"",
		"13: UTM_ZONE: got a second", "14: UNREAL_UTM_OFFSET", "16: UTM_START_POSE_2", "19: CYCLE_TIME",
		"19: PLATFORM_TYPE_2: missing",
		"19: UTM_START_POSE_COUNT", "19: UTM_START_POSE_1: missing"}
	if err == nil {
		t.Fatal("got no error")
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), "moast.ini:"+w) {
			t.Errorf("got %v\nwant %s in it", err, w)
		}
	}
	if n := len(strings.Split(err.Error(), "\n")); n != len(want) {
		t.Errorf("got %d faults, want %d:\n%v", n, len(want), err)
	}
}

func FuzzINI(f *testing.F) {
	f.Add(sample)
	f.Add("[yellow]\nUTM_START_POSE_1=1,2,3")
	f.Fuzz(func(t *testing.T, text string) {
		if ini, err := ParseINI("f", "yellow", strings.NewReader(text)); err == nil {
			(&Run{World: "yellow", INI: ini}).Config()
		}
	})
}

// TestWriteBuffers: a new file, an empty one and one that it wrote are written whole; others stay as they are.
func TestWriteBuffers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.nml")
	c := &nml.Config{Buffers: []nml.BufferLine{{Name: "b1", Type: "SHMEM", Host: "localhost", Size: 100, Number: 1,
		Key: 1, Port: 25700}}}
	var want strings.Builder
	if _, err := c.WriteTo(&want); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct{ name, before, want string }{
		{"new", "", want.String()},
		{"empty", "\x00", want.String()}, // written as no bytes
		{"its own, longer", nml.Heading + strings.Repeat("# of an earlier run\n", 2000), want.String()},
		{"another's", "B mine SHMEM somewhere 1000 0 * 1 * 1 TCP=1 packed\n", ""},
		{"a letter", "B", ""},
		{"another's, as long", strings.ToUpper(nml.Heading), ""},
	} {
		os.Remove(file)
		if k.before != "" {
			if err := os.WriteFile(file, []byte(strings.Trim(k.before, "\x00")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		err := WriteBuffers(file, c)
		got, readErr := os.ReadFile(file)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if k.want == "" && (err == nil || string(got) != k.before) || k.want != "" &&
			(err != nil || string(got) != k.want) {
			t.Errorf("%s: got %v, %.200q", k.name, err, got)
		}
	}
}
