package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// fresh is a servo as it is before a walk.
type fresh struct {
	model    string
	id, baud int
}

// desk is a walk over a line whose servos a script plugs in and out.
type desk struct {
	t      *testing.T
	bus    *emulator.Bus
	app    *app
	walk   *commission.Walk
	out    bytes.Buffer // stdout
	said   bytes.Buffer // stderr, with what was typed
	script []string
	cancel context.CancelFunc
	ctx    context.Context
}

// newDesk is a walk over a bus of the config's type with joints "name model id", of servos that are all unplugged. A
// line of the script is what is typed, behind the servos, by their index, that are plugged in for it: "0 1: s".
func newDesk(t *testing.T, kind string, baud int, joints []string, servos []fresh, script ...string) *desk {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "name: desk\nbuses:\n  arm: {type: %s, port: /dev/ttyUSB0, baud: %d}\nagents:\n  - name: "+
		"desk\n    model: so101\n    hardware:\n      joints:\n", kind, baud)
	for _, j := range joints {
		var name, model, more string
		var id int
		fmt.Sscan(j, &name, &model, &id, &more)
		if more != "" {
			more = ", registers: {" + strings.Replace(more, "=", ": ", 1) + "}"
		}
		fmt.Fprintf(&text, "        %s: {bus: arm, id: %d, model: %s%s}\n", name, id, model, more)
	}
	config, err := configs.Parse([]byte(text.String()), "desk.yaml", configs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := commission.JointsOn(catalog.BuiltinBuses(), config, "arm")
	if err != nil {
		t.Fatal(err)
	}
	var made []*emulator.Servo
	for _, s := range servos {
		spec, ok := actuator.Lookup(s.model)
		if !ok {
			t.Fatalf("no actuator %s", s.model)
		}
		act := actuator.NewServo(spec)
		act.Reset(0.3 * float64(len(made))) // what they say of themselves differs
		made = append(made, catalog.BuiltinBuses().Of(typeOfModel(s.model)).Emulate(
			catalog.BuiltinBuses().Model(s.model), s.id, act, emulator.GroundTruth{}))
	}
	b := &desk{t: t, script: script, bus: emulator.NewBus(emulator.BusConfig{Name: "test", Baud: baud}, made...)}
	for i, s := range servos {
		if code, ok := catalog.BuiltinBuses().Model(s.model).BaudCode(s.baud); ok && s.baud != baud {
			made[i].Preset("baud_rate", int64(code))
		}
	}
	b.ctx, b.cancel = context.WithCancel(t.Context())
	t.Cleanup(b.cancel)
	a := &app{in: b, out: &b.out, err: &b.said, format: "table"}
	types, err := catalog.BuiltinBuses().Scanned(kind)
	if err != nil {
		t.Fatal(err)
	}
	f := commission.Finder{Line: b.bus.Line(), Buses: catalog.BuiltinBuses(), Port: "/dev/ttyUSB0", Types: types,
		Bauds: []int{baud}}
	for _, rate := range []int{57600, 115200, 500000, 1000000} {
		if rate != baud && commission.Possible(catalog.BuiltinBuses(), kind, rate) {
			f.Bauds = append(f.Bauds, rate)
		}
	}
	b.app = a
	b.walk = &commission.Walk{BareLine: &commission.BareLine{Finder: f}, Config: "desk.yaml", Kind: kind, Baud: baud,
		Joints: list}
	return b
}

// typeOfModel is the type of line that a model is connected to.
func typeOfModel(model string) string {
	for _, t := range catalog.BuiltinBuses() {
		kind := t.Type
		if !t.Duplex && t.Lookup(model) != nil {
			return kind
		}
	}
	return ""
}

// Read is the person: each time something is asked it plugs and types the script's next line.
func (b *desk) Read(p []byte) (int, error) {
	if len(b.script) == 0 {
		return 0, io.EOF
	}
	line := b.script[0]
	b.script = b.script[1:]
	plugged, text, _ := strings.Cut(line, ":")
	b.plug(strings.Fields(plugged))
	if text = strings.TrimSpace(text); text == "^C" {
		fmt.Fprintln(&b.said, "> ^C")
		b.cancel() // the walk ends from here on, while this still reads: it touches nothing of the desk any more
		return 0, io.EOF
	}
	fmt.Fprintf(&b.said, "> %s\n", text)
	return copy(p, text+"\n"), nil
}

// plug leaves only the servos of list on the line. A fault finds its servo by its id, which is made its own for that.
func (b *desk) plug(list []string) {
	b.bus.ClearFaults()
	for i, s := range b.bus.Servos() {
		if strings.Contains(" "+strings.Join(list, " ")+" ", fmt.Sprintf(" %d ", i)) {
			continue
		}
		id, _ := s.Register("id")
		const nobodys = 30 // of every vendor
		s.Preset("id", nobodys)
		if err := b.bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: nobodys, P: 1}); err != nil {
			b.t.Error(err)
		}
		s.Preset("id", id)
	}
}

// places are where the servos are, "id@baud".
func (b *desk) places() string {
	var text []string
	for _, s := range b.bus.Servos() {
		id, _ := s.Register("id")
		code, _ := s.Register("baud_rate")
		rate := 115200
		if m, ok := catalog.BuiltinBuses().Model(s.Name()).(interface{ Rate(byte) int }); ok {
			rate = m.Rate(byte(code))
		}
		text = append(text, fmt.Sprintf("%d@%d", id, rate))
	}
	return strings.Join(text, " ")
}

// A person who types nothing: each servo is set up once it is plugged in, and again where the one before it had the
// same id. One who is quick adds the next to those that are done as soon as its name is read.
func TestWalkRecognises(t *testing.T) {
	three := func(model string, baud int) []fresh { return slices.Repeat([]fresh{{model, 1, baud}}, 3) }
	for _, c := range []struct {
		kind   string
		baud   int
		joints []string
		servos []fresh
		wait   time.Duration
		plug   []string
		want   string
	}{
		{"feetech", 1000000, []string{"lift sts3215 2", "roll sts3215 3", "pan sts3215 1"}, three("sts3215", 1000000),
			time.Second, []string{"0", "1", "2"}, "2@1000000 3@1000000 1@1000000"},
		{"hiwonder", 115200, []string{"lift lx-16a 6", "roll lx-16a 5", "pan lx-16a 1"}, three("lx-16a", 115200),
			0, []string{"0", "0 1", "0 1 2"}, "6@115200 5@115200 1@115200"},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, c.kind, c.baud, c.joints, c.servos)
			d.plug(nil)
			silent, end := io.Pipe()
			defer end.Close()
			d.app.in = silent
			done := 0
			d.walk.Each = func(commission.WalkRow) error {
				done++
				return nil
			}
			d.walk.In, d.walk.Note = commission.NewAsker(silent), func(text string, args ...any) {
				if text = fmt.Sprintf(text, args...); strings.Contains(text, "connect only the servo of") {
					plug := func() { d.plug(strings.Fields(c.plug[done])) }
					if c.wait == 0 {
						plug()
						return
					}
					time.AfterFunc(c.wait, plug)
				}
			}
			if err := d.walk.Run(d.ctx); err != nil || d.places() != c.want {
				t.Errorf("%s: got %v, servos at %s, want %s", c.kind, err, d.places(), c.want)
			}
		})
	}
}

// What a person sees and types, from the first servo to the last.
func TestWalkTranscript(t *testing.T) {
	folder := t.TempDir()
	d := newDesk(t, "feetech", 1000000, []string{"pan sts3215 1", "lift sts3215 2 max_voltage=84", "roll sts3215 3",
		"grip scs15 4"},
		[]fresh{{"sts3215", 1, 1000000}, {"sts3215", 1, 500000}, {"sts3215", 1, 1000000}, {"scs15", 7, 1000000}},
		":", "0 1:", "0 2:", "3:", ":what?", "0:", "0 1:", "0 1 3:", ":s")
	d.walk.Folder = folder
	if err := d.app.walk(d.ctx, d.walk); err != nil {
		t.Error(err)
	}
	const want = `pan comes last: new servos have its id, 1, too
a servo that is plugged in is recognised by itself; Enter looks at once
1 of 4: connect only the servo of lift (sts3215, id 2) to the bus, and press Enter; s skips it, Ctrl-C stops
>
  no reply to a packet to all: looking at 1000000, 57600, 115200, 500000 Bd, each id, up to 3.7s
  no reply: check the servo's power and cable. Then press Enter
>
  id 1 (sts3215, 1000000 Bd) and id 1 (sts3215, 500000 Bd) reply: connect only the servo of lift. Then press Enter
>
  several servos reply at id 1: connect only one. Then press Enter
>
  it is an scs15, want an sts3215 of lift: connect another, or correct desk.yaml. Then press Enter
> what?
  got "what?": Enter when it is connected, s to skip lift
>
  lift: id 1 at 1000000 Bd is now id 2 at 1000000 Bd, max_voltage=84
2 of 4: connect only the servo of roll (sts3215, id 3) to the bus, or add it to those that are done, and press Enter; s skips it, Ctrl-C stops
>
  roll: id 1 at 500000 Bd is now id 3 at 1000000 Bd
3 of 4: connect only the servo of grip (scs15, id 4) to the bus, or add it to those that are done, and press Enter; s skips it, Ctrl-C stops
>
  grip: id 7 at 1000000 Bd is now id 4 at 1000000 Bd
4 of 4: connect only the servo of pan (sts3215, id 1) to the bus, or add it to those that are done, and press Enter; s skips it, Ctrl-C stops
> s
/dev/ttyUSB0: 3 set up, 1 skipped. Connect all of them, then: halyard doctor desk.yaml
`
	if got := strings.ReplaceAll(d.said.String(), "> \n", ">\n"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got := d.places(); got != "2@1000000 3@1000000 1@1000000 4@1000000" {
		t.Errorf("got %s", got)
	}
	table := strings.ReplaceAll(d.out.String(), folder, "D")
	const rows = `JOINT  MODEL    ID  BAUD     STATE    REGISTERS
lift   sts3215  2   1000000  set up   D/lift.json
roll   sts3215  3   1000000  set up   D/roll.json
grip   scs15    4   1000000  set up   D/grip.json
pan    sts3215  1   1000000  skipped  -
`
	if strings.Join(strings.Fields(table), " ") != strings.Join(strings.Fields(rows), " ") {
		t.Errorf("got:\n%s\nwant:\n%s", table, rows)
	}
	// What was saved is what was there before.
	if f, err := commission.LoadRegisters(catalog.BuiltinBuses(), filepath.Join(folder, "lift.json")); err != nil ||
		f.ID != 1 ||
		f.Registers["max_voltage"] != 140 {
		t.Errorf("got %+v, %v", f, err)
	}
}

func TestWalk(t *testing.T) {
	xm := []string{"pan xm430-w350 1", "lift xm430-w350 2", "grip xl430-w250 3"}
	xms := []fresh{{"xm430-w350", 1, 57600}, {"xm430-w350", 1, 57600}, {"xl430-w250", 1, 57600}}
	sts := []string{"pan sts3215 1", "lift sts3215 2", "grip sts3215 3"}
	for _, c := range []struct {
		name    string
		kind    string
		baud    int
		joints  []string
		servos  []fresh
		script  string // lines, apart by a slash
		change  func(d *desk)
		places  string
		said    string // a part of it
		summary string
		err     string
	}{
		{"each alone", "dynamixel2", 1000000, xm, xms, "1:/2:/0:", nil, "1@1000000 2@1000000 3@1000000", "", "3 set up",
			""},
		{"one joins the others", "dynamixel2", 1000000, xm, xms, "1:/1 2:/0 1 2:", nil, "1@1000000 2@1000000 3@1000000",
			"", "3 set up", ""},
		{"AX", "dynamixel1", 1000000, []string{"a ax-12a 1", "b ax-12a 2"},
			[]fresh{{"ax-12a", 1, 1000000}, {"ax-12a", 1, 57600}}, "1:/0 1:", nil,
			"1@1000000 2@1000000", "", "1 set up, 1 unchanged", ""},
		{"Hiwonder", "hiwonder", 115200, []string{"a lx-16a 2", "b lx-16a 1"},
			[]fresh{{"lx-16a", 1, 115200}, {"lx-16a", 1, 115200}}, "0:/0 1:", nil,
			"2@115200 1@115200", "", "1 set up, 1 unchanged", ""},
		{"Kondo, each alone", "kondo", 115200, []string{"a krs-2552 1", "b krs-2552 0"},
			[]fresh{{"krs-2552", 0, 115200}, {"krs-2552", 0, 115200}}, "0:/1:", nil,
			"1@115200 0@115200", "", "1 set up, 1 unchanged", ""},
		{"all in their places", "feetech", 1000000, sts,
			[]fresh{{"sts3215", 3, 1000000}, {"sts3215", 2, 1000000}, {"sts3215", 1, 1000000}}, "0 1 2:", nil,
			"3@1000000 2@1000000 1@1000000", "", "3 unchanged", ""},
		// The one with the id of all new servos may be new.
		{"some in their places", "feetech", 1000000, sts, []fresh{{"sts3215", 1, 1000000}, {"sts3215", 3, 1000000}},
			"0 1:/1:/0 1:", nil,
			"2@1000000 3@1000000", "those were in their places. Now connect the servo of lift", "", "input ended"},
		{"a setting that is missing", "feetech", 1000000, []string{"pan sts3215 2 max_voltage=84"},
			[]fresh{{"sts3215", 2, 1000000}}, "0:", nil,
			"2@1000000", "max_voltage=84", "1 set up", ""},
		{"a neighbour's id", "feetech", 1000000, sts, []fresh{{"sts3215", 1, 1000000}, {"sts3215", 2, 1000000},
			{"sts3215", 2, 1000000}}, "0:/0 1:/1:/1: new/2:", nil,
			"2@1000000 3@1000000 2@1000000", "several servos answer at id 2, the one of lift: take that off", "",
			"input ended"},
		{"no new servo", "feetech", 1000000, sts[:2], []fresh{{"sts3215", 5, 1000000}}, "0:/0:", nil,
			"2@1000000", "only id 2 (sts3215, 1000000 Bd) answers, which is done", "", "input ended"},
		{"another brand's", "dynamixel1", 1000000, []string{"a ax-12a 4"}, []fresh{{"sts3215", 1, 1000000}}, "0:", nil,
			"1@1000000", "it is an sts3215, want an ax-12a of a", "", "input ended"},
		{"a model without a number", "feetech", 1000000, []string{"a sts3032 4"}, []fresh{{"sts3032", 1, 1000000}},
			"0:", nil, "4@1000000", "", "1 set up", ""},
		{"dry", "dynamixel2", 1000000, xm[:2], xms[:2], "0:/1:", func(d *desk) { d.walk.Dry = true }, "1@57600 1@57600",
			"would become id 2", "2 dry run. Nothing was written", ""},
		{"all skipped", "dynamixel2", 1000000, xm, xms, ":s/:s/:s", nil, "1@57600 1@57600 1@57600", "", "3 skipped",
			""},
		{"stopped at a question", "dynamixel2", 1000000, xm, xms, "1:/:^C", nil, "1@57600 2@1000000 1@57600", "", "",
			"canceled"},
		{"stopped in a change", "dynamixel2", 1000000, xm, xms, "0:", func(d *desk) {
			d.walk.Line = &rigtest.Watched{Line: d.walk.Line, Before: func(p []byte) {
				if len(p) > 9 && p[7] == 3 && p[8] == 7 { // the id is written
					d.cancel()
				}
			}}
		}, "1@57600 1@57600 1@57600", "back at id 1, 57600 Bd", "", "canceled"},
		{"the adapter is pulled", "dynamixel2", 1000000, xm, xms, "0:", func(d *desk) {
			d.walk.Line = &rigtest.Watched{Line: d.walk.Line, Before: func([]byte) {
				if len(d.script) == 0 {
					d.bus.Fault(wire.Fault{Kind: wire.Unplugged, Target: wire.All, P: 1})
				}
			}}
		}, "1@57600 1@57600 1@57600", "", "", "gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, c.kind, c.baud, c.joints, c.servos, strings.Split(c.script, "/")...)
			if c.change != nil {
				c.change(d)
			}
			err := d.app.walk(d.ctx, d.walk)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got %v, want %q", err, c.err)
			}
			if got := d.places(); got != c.places {
				t.Errorf("servos: got %s, want %s", got, c.places)
			}
			if said := d.said.String(); !strings.Contains(said, c.said) || c.summary != "" &&
				!strings.Contains(said, "/dev/ttyUSB0: "+c.summary) || len(d.script) > 0 {
				t.Errorf("got:\n%s\nwant %q and %q; left: %q", said, c.said, c.summary, d.script)
			}
		})
	}
}

// A program gets an object a servo, as soon as it is done; an older file is never written over.
func TestWalkForPrograms(t *testing.T) {
	folder := t.TempDir()
	for n := range 2 {
		d := newDesk(t, "feetech", 1000000, []string{"lift sts3215 2"}, []fresh{{"sts3215", 1, 1000000}}, "0:")
		d.app.format, d.walk.Folder = "jsonl", folder
		if err := d.app.walk(d.ctx, d.walk); err != nil {
			t.Fatal(err)
		}
		var got commission.WalkRow
		file := filepath.Join(folder, []string{"lift.json", "lift-2.json"}[n])
		if err := json.Unmarshal(d.out.Bytes(), &got); err != nil || got.Joint != "lift" ||
			got.State != commission.WalkSet || got.OldID != 1 || got.ID != 2 ||
			got.File != file || got.Type != "feetech" || !got.Done || got.Backup["max_voltage"] != 140 {
			t.Errorf("got %s, %v", d.out.String(), err)
		}
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}

// What a walk cannot begin with.
func TestWalkRefuses(t *testing.T) {
	for _, c := range []struct {
		code int
		args []string
		say  string
	}{
		{2, []string{"/dev/ttyUSB0"}, "want --id with it, or CONFIG:BUS"},
		{2, []string{"so101:leg"}, "want a line of servos of so101: arm"},
		{2, []string{"so101:arm", "--no-input"}, "--id OLD --new-id N"},
		{2, []string{"so101:arm", "--new-id", "3"}, "--id"},
		{3, []string{"so101:arm"}, "halyard ports"},
	} {
		if code, _, errText := runApp(t, append([]string{"setup"}, c.args...)...); code != c.code ||
			!strings.Contains(errText, c.say) {
			t.Errorf("%v: got exit %d, %s; want %d and %q", c.args, code, errText, c.code, c.say)
		}
	}
	for text, say := range map[string]string{
		"id: 1, model: sts3250, bus: slow":      "want a rate of the sts3250: ",
		"id: 1, model: ax-12a":                  "want a servo that speaks feetech",
		"id: 3, model: sts3215, bus: elsewhere": "",
	} {
		bus := "arm"
		if before, after, ok := strings.Cut(text, ", bus: "); ok {
			text, bus = before, after
		}
		config, err := configs.Parse([]byte(
			"name: x\nbuses: {arm: {type: feetech, port: /dev/p}, elsewhere: {type: feetech, port: /dev/q},\n"+
				"  slow: {type: feetech, port: /dev/r, baud: 9600}}\nagents: [{name: x, model: so101, hardware: "+
				"{joints: {a: {bus: arm, id: 2, model: sts3215}, b: {bus: "+bus+", "+text+"}}}}]\n"), "x.yaml",
			configs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		target := "arm"
		if bus == "slow" {
			target = bus
		}
		if list, err := commission.JointsOn(catalog.BuiltinBuses(), config, target); say == "" &&
			(err != nil || len(list) != 1) ||
			say != "" && (err == nil || !strings.Contains(err.Error(), say)) {
			t.Errorf("%s: got %+v, %v; want %q", text, list, err, say)
		}
	}
}

// The command, on a pty, with lines from a pipe: an arm that is all set up already, at once.
func TestWalkEndToEnd(t *testing.T) {
	dir := t.TempDir()
	_, stop := emulated(t, "so101", "--dir", dir)
	defer stop()
	data, _ := configs.Embedded("so101")
	text := strings.Replace(string(data), "/dev/serial/by-id/usb-1a86_USB_Single_Serial_SO101-if00",
		filepath.Join(dir, "arm"), 1)
	file := filepath.Join(dir, "so101.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	for range 5 { // on a busy machine an answer may come too late
		out.Reset()
		said.Reset()
		a := &app{in: strings.NewReader("\n"), out: &out, err: &said}
		if a.Run(t.Context(), []string{"setup", file + ":arm", "--baud", "1000000", "-o", "jsonl"}) == 0 {
			break
		}
	}
	if strings.Count(out.String(), `"state":"unchanged"`) != 6 ||
		!strings.Contains(said.String(), "6 unchanged. Connect all of them, then: halyard doctor "+file) {
		t.Errorf("got %s\n%s", &out, &said)
	}
}
