package nml

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

const sample = `# buffers
B primMobJACmd1 SHMEM localhost 9000 0 * 1 * 30701 TCP=25700 packed
B skelErr       SHMEM localhost 2816 0 * 2 * 30702 tcp=25700 bsem=1 XDR Queue confirm_write max_message_size=256
C a line of another kind

P svr  primMobJACmd1 LOCAL  localhost RW 1 INF 1 0
P main default       REMOTE localhost R  0 0.5 0 1 poll
`

func TestConfig(t *testing.T) {
	c, err := ParseConfig("moast.nml", strings.NewReader(sample))
	want := &Config{
		Buffers: []BufferLine{
			{Line: 2, Name: "primMobJACmd1", Type: "SHMEM", Host: "localhost", Size: 9000, Number: 1, Key: 30701,
				Port: 25700},
			{Line: 3, Name: "skelErr", Type: "SHMEM", Host: "localhost", Size: 2816, Number: 2, Key: 30702, Port: 25700,
				Encoding: XDR, Queue: true, ConfirmWrite: true, MaxMessage: 256},
		},
		Processes: []ProcessLine{
			{Line: 6, Process: "svr", Buffer: "primMobJACmd1", Type: "LOCAL", Host: "localhost", Ops: "RW",
				Server: true, Master: true},
			{Line: 7, Process: "main", Buffer: "default", Type: "REMOTE", Host: "localhost", Ops: "R", Poll: true},
		},
	}
	if err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, %v, want %+v", c, err, want)
	}
	var out bytes.Buffer
	c.WriteTo(&out)
	again, err := ParseConfig("again", &out)
	for i := range again.Buffers {
		again.Buffers[i].Line = want.Buffers[i].Line
	}
	for i := range again.Processes {
		again.Processes[i].Line = want.Processes[i].Line
	}
	if err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("written and read: got %+v, %v, want %+v", again, err, want)
	}
}

// TestCfg reads the form that .nml files are made from.
func TestCfg(t *testing.T) {
	c, err := ParseConfig("skel.cfg", strings.NewReader(`
b bufname=skelErr size=256 queue=10 bsem=1
b bufname=supCmd size=1024
p bufname=skelErr name=skelNmlSvr master=1 server=1 proctype=local
`))
	want := &Config{
		Buffers: []BufferLine{
			{Line: 2, Name: "skelErr", Type: "SHMEM", Host: "localhost", Size: 2624, Number: 1, Key: 30701, Port: 25700,
				Queue: true, MaxMessage: 256},
			{Line: 3, Name: "supCmd", Type: "SHMEM", Host: "localhost", Size: 1088, Number: 2, Key: 30702, Port: 25701,
				MaxMessage: 1024},
		},
		Processes: []ProcessLine{{Line: 4, Process: "skelNmlSvr", Buffer: "skelErr", Type: "LOCAL", Host: "localhost",
			Ops: "RW", Server: true, Master: true}},
	}
	if err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, %v, want %+v", c, err, want)
	}
	if o := c.Buffers[0].Options(nil); o.Size != 2624 || !o.Queue || o.Number != 1 {
		t.Errorf("options of the queue: got %+v", o)
	}
}

func TestConfigFaults(t *testing.T) {
	c, err := ParseConfig("bad.nml", strings.NewReader(`B one SHMEM localhost 1000 0 * 1 * 1 TCP=70000
B two SHMEM
B three SHMEM localhost many 0 * 3 * 1 TCP=5000 xml
B four SHMEM localhost 1000 0 * 4 * 1 TCP=5000
B five SHMEM localhost 1000 0 * 4 * 1 TCP=5000
B four SHMEM localhost 1000 0 * 6 * 1
P svr six LOCAL localhost RW 1 INF 1 0
P svr four NEAR localhost X 9 soon 2 0
p name=x bufname
p name=x
b size=3
`))
	want := []string{
		"bad.nml:1: TCP port: got \"70000\", want 1..65535 or *",
		"bad.nml:2: B line: got 3 words",
		"bad.nml:3: size: got \"many\"",
		"bad.nml:5: buffer five: number 4 on port 5000 is that of line 4",
		"bad.nml:6: buffer four: got a second line, want one (the first is line 4)",
		"bad.nml:7: process svr: buffer six has no B line",
		"bad.nml:8: process type: got \"NEAR\"",
		"bad.nml:8: operations: got \"X\"",
		"bad.nml:8: server: got \"9\"",
		"bad.nml:8: timeout: got \"soon\"",
		"bad.nml:8: master: got \"2\"",
		"bad.nml:9: p line: got \"bufname\"",
		"bad.nml:10: p line: got no name or bufname",
		"bad.nml:11: b line: no bufname",
	}
	if err == nil {
		t.Fatal("got no faults")
	}
	got := strings.Split(err.Error(), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("fault %d: got %q, want %q", i, got[min(i, len(got)-1)], want[min(i, len(want)-1)])
		}
	}
	if len(c.Buffers) != 3 {
		t.Errorf("buffers without fault: got %d, want 3", len(c.Buffers))
	}
	if _, err := ParseConfig("long.nml", strings.NewReader("B x\n# "+strings.Repeat("x", 5000))); err == nil ||
		!strings.Contains(err.Error(), "long.nml:2: line:") {
		t.Errorf("a long line: got %v", err)
	}
	if b, ok := (&Config{Buffers: []BufferLine{{Name: "default", Port: 7}}}).Buffer("any"); !ok || b.Port != 7 ||
		b.Name != "any" {
		t.Errorf("default: got %+v, %v", b, ok)
	}
	if _, ok := c.Buffer("none"); ok {
		t.Error("a buffer without a line: got one")
	}
}

func FuzzConfig(f *testing.F) {
	f.Add(sample)
	f.Add("b bufname=x size=1 queue=2 neut=xdr\np name=a bufname=x\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseConfig("f", strings.NewReader(text))
		if err != nil {
			return
		}
		var out bytes.Buffer
		c.WriteTo(&out)
		again, err := ParseConfig("again", &out)
		if err != nil || len(again.Buffers) != len(c.Buffers) || len(again.Processes) != len(c.Processes) {
			t.Errorf("written and read: got %+v, %v, want %+v", again, err, c)
		}
	})
}

// TestConfigRefused: a buffer of another kind or encoding is refused by its name, and the others are used.
func TestConfigRefused(t *testing.T) {
	c, err := ParseConfig("all.nml",
		strings.NewReader("B bus GLOBMEM vme1 1024 0 0 199 * vme_addr=0x4400000 packed\nB own OEMEM vme1 1024 0 0 "+
			"198 * addr=1\n"+
			"B text SHMEM localhost 4096 0 * 7 5 7 TCP=5000 xml\nB letters SHMEM localhost 4096 0 * 8 5 8 TCP=5000 "+
			"ascii\nB disk FILEMEM localhost 1024 0 0 199 * in=a\nB none PHANTOM localhost 1024\nB mine LOCMEM "+
			"localhost 1024 0 0 197 *\n"+
			"B good SHMEM localhost 4096 0 * 9 5 9 TCP=5000\n"+
			"P main bus REMOTE vme1 R 0 0.5 0 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"bus": "type GLOBMEM", "own": "type OEMEM", "text": "encoding xml",
		"letters": "encoding ascii", "good": "", "mine": "",
		"disk": "type FILEMEM", "none": "type PHANTOM"} {
		if b, ok := c.Buffer(name); !ok || !strings.HasPrefix(b.Refused, want) || want == "" && b.Refused != "" {
			t.Errorf("%s: got %v, refused for %q, want %q", name, ok, b.Refused, want)
		}
	}
}
