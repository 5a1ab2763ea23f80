package emulator_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

const (
	ping1   = "FF FF FD 00 01 03 00 01 19 4E"
	status1 = "FF FF FD 00 01 07 00 55 00 FC 03 34 42 C3" // XM430-W350, firmware 52
)

func TestLineMovesItsClockByWireTime(t *testing.T) {
	r := newRig(t, emulator.Timing{Reply: 58 * time.Microsecond}, newServo(t, "xm430-w350", 1)) // return delay 500 µs
	r.line.Write(unhex(t, ping1))
	if got := r.line.Now(); got != 100*time.Microsecond {
		t.Errorf("after 10 bytes at 1 Mbaud: got %v, want 100µs", got)
	}
	var b [64]byte
	for i := range 14 {
		if n, err := r.line.Read(b[:], time.Second); n != 1 || err != nil {
			t.Fatalf("byte %d: got %d, %v", i, n, err)
		}
	}
	if got, want := r.line.Now(), (100+500+58+140)*time.Microsecond; got != want {
		t.Errorf("after the answer: got %v, want %v", got, want)
	}
	before := r.line.Now()
	if n, err := r.line.Read(b[:], 7*time.Millisecond); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) ||
		r.line.Now() != before+7*time.Millisecond {
		t.Errorf("nothing to come: got %d, %v after %v", n, err, r.line.Now()-before)
	}
}

func TestReadStopsBeforeWhatComesLater(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1))
	r.line.Write(unhex(t, ping1))
	if n, err := r.line.Read(make([]byte, 9), 400*time.Microsecond); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("500 µs of return delay: got %d, %v after 400", n, err)
	}
	r.line.Discard() // drops received bytes, not later ones
	if got := tohex(r.listen(time.Millisecond)); got != tohex(unhex(t, status1)) {
		t.Errorf("got %s, want %s", got, status1)
	}
	r.line.Write(unhex(t, ping1))
	r.line.Read(make([]byte, 1), time.Millisecond)
	r.line.Read(nil, time.Millisecond)
	r.bus.Advance(time.Second)
	r.line.Discard()
	if got := r.listen(time.Millisecond); len(got) != 0 {
		t.Errorf("after Discard: got % X", got)
	}
}

func TestAdvanceCountsOverruns(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1))
	r.bus.Advance(time.Millisecond)
	if r.line.Now() != time.Millisecond || r.bus.Overruns() != 0 {
		t.Errorf("idle: at %v, %d overruns", r.line.Now(), r.bus.Overruns())
	}
	r.line.Read(nil, 2500*time.Microsecond)
	r.bus.Advance(time.Millisecond)
	if r.line.Now() != 3500*time.Microsecond || r.bus.Overruns() != 1 {
		t.Errorf("busy: at %v, %d overruns", r.line.Now(), r.bus.Overruns())
	}
	r.bus.Advance(time.Millisecond)
	if r.line.Now() != 4500*time.Microsecond || r.bus.Overruns() != 1 {
		t.Errorf("idle again: at %v, %d overruns", r.line.Now(), r.bus.Overruns())
	}
}

func TestEcho(t *testing.T) {
	r := newRig(t, emulator.Timing{Echo: true}, newServo(t, "xm430-w350", 1))
	r.want(ping1, ping1+status1)
}

func TestTwoWithOneID(t *testing.T) {
	// The same answer at the same time is one answer.
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1), newServo(t, "xm430-w350", 1))
	r.want(ping1, status1)
	// Different ones destroy each other: the low bits of both.
	place(r.servos[0], 0x0F0)
	place(r.servos[1], 0x3C0)
	st, ok := r.execute(2, position(1))
	if ok {
		t.Errorf("got %+v, want nothing sound", st)
	}
	// And so do equal ones at different times.
	r.servos[0].Preset("return_delay", 251)
	if got := r.ask(ping1); got == tohex(unhex(t, status1)) || got == "" {
		t.Errorf("shifted by 2 µs: got %q", got)
	}
	// All of 1.0 answer a broadcast ping at once.
	one := newRig(t, emulator.Timing{}, newServo(t, "ax-12a", 1), newServo(t, "ax-12a", 2))
	one.want("FF FF FE 02 01 FE", "FF FF 00 02 00 F8") // 01 and 02, FC and FB
}

func TestTalkingOverAnAnswer(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1, "return_delay", 0))
	r.line.Write(unhex(t, ping1))
	r.line.Write(unhex(t, ping1)) // before the first is answered
	parser := dynamixel.NewParser(2, dynamixel.FromServos)
	parser.Feed(r.listen(20 * time.Millisecond))
	var k dynamixel.Packet
	if parser.Next(&k) {
		t.Errorf("got %+v, want nothing sound", k)
	}
	r.want(ping1, status1) // the next one is received again
}

func TestInstructionsInPieces(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1))
	for _, b := range unhex(t, ping1) {
		r.line.Write([]byte{b})
	}
	if got := tohex(r.listen(time.Millisecond)); got != tohex(unhex(t, status1)) {
		t.Errorf("byte by byte: got %s", got)
	}
	// One that stops in the middle is forgotten after 100 ms.
	r.line.Write(unhex(t, "FF FF FD 00 01 80 00"))
	r.listen(150 * time.Millisecond)
	r.want(ping1, status1)
	r.want("00 FF FF FD 00 01 03 00 01 19 4F"+"FF"+ping1, status1) // noise, a bad CRC
	// Two in one write are both obeyed, the silent one first.
	lamp := dynamixel.AppendInstruction2(nil, &dynamixel.Instruction{ID: dynamixel.Broadcast, Op: dynamixel.Write,
		Addr: 65, Data: []byte{1}})
	r.want(tohex(lamp)+ping1, status1)
	if r.register(0, "led") != 1 {
		t.Error("the first of two was not obeyed")
	}
}

func TestUSBLatencyBatches(t *testing.T) {
	var servos []*emulator.Servo
	in := dynamixel.Instruction{ID: dynamixel.Broadcast, Op: dynamixel.SyncRead, Addr: 132, Size: 4}
	for id := 1; id <= 10; id++ {
		servos = append(servos, newServo(t, "xm430-w350", id, "return_delay", 0))
		in.Blocks = append(in.Blocks, dynamixel.Block{ID: byte(id)})
	}
	r := newRig(t, emulator.Timing{Latency: 16 * time.Millisecond}, servos...)
	start := r.line.Now()
	request := dynamixel.AppendInstruction2(nil, &in)
	r.line.Write(request)
	sent := r.line.Now()
	// 150 bytes: two full packets of 62 as soon as they are full, the rest when the timer runs out.
	for i, want := range []struct {
		n  int
		at time.Duration
	}{{62, sent + 620*time.Microsecond}, {62, sent + 1240*time.Microsecond},
		{26, sent + 1240*time.Microsecond + 16*time.Millisecond}} {
		var b [256]byte
		n, err := r.line.Read(b[:], time.Second)
		if n != want.n || err != nil || r.line.Now() != want.at {
			t.Errorf("packet %d: got %d, %v at %v, want %d at %v", i, n, err, r.line.Now()-start, want.n, want.at-start)
		}
	}
}

func TestNothingIsAllocatedInACycle(t *testing.T) {
	var servos []*emulator.Servo
	write := dynamixel.Instruction{ID: dynamixel.Broadcast, Op: dynamixel.SyncWrite, Addr: 116}
	read := dynamixel.Instruction{ID: dynamixel.Broadcast, Op: dynamixel.SyncRead, Addr: 126, Size: 10}
	for id := 1; id <= 20; id++ {
		servos = append(servos, newServo(t, "xm430-w350", id))
		write.Blocks = append(write.Blocks, dynamixel.Block{ID: byte(id), Data: []byte{0, 8, 0, 0}})
		read.Blocks = append(read.Blocks, dynamixel.Block{ID: byte(id)})
	}
	r := newRig(t, emulator.Timing{Reply: emulator.DefaultReply}, servos...)
	fast := read
	fast.Op = dynamixel.FastSyncRead
	var packets [][]byte
	for _, in := range []*dynamixel.Instruction{&write, &read, &fast} {
		packets = append(packets, dynamixel.AppendInstruction2(nil, in))
	}
	var b [512]byte
	got := 0
	cycle := func() {
		for _, p := range packets {
			r.line.Write(p)
			for {
				n, err := r.line.Read(b[:], time.Millisecond)
				if err != nil {
					break
				}
				got += n
			}
		}
		r.bus.Advance(10 * time.Millisecond)
	}
	for range 3 {
		cycle()
	}
	if got != 3*(20*21+8+20*14) {
		t.Fatalf("got %d bytes, want %d", got, 3*(20*21+8+20*14))
	}
	if n := testing.AllocsPerRun(100, cycle); n != 0 {
		t.Errorf("got %g allocations a cycle, want 0", n)
	}
}

func BenchmarkCycle20(b *testing.B) {
	for range b.N {
		if _, _, err := cycleRate(20, 1_000_000, false, emulator.Timing{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Anything at all from a host, at any rate and in any pieces, must be borne, and the same bytes must do the same.
func FuzzBus(f *testing.F) {
	f.Add([]byte{0xFF, 0xFF, 0xFD, 0, 0xFE, 3, 0, 1, 0x31, 0x42}, uint8(0))
	f.Add([]byte{0xFF, 0xFF, 0xFE, 2, 1, 0xFE}, uint8(3))
	f.Add(append([]byte{0xFF, 0xFF, 0xFE, 9, 0x92, 0}, 2, 1, 30, 2, 2, 36, 0x1D), uint8(1))
	for _, in := range []dynamixel.Instruction{
		{ID: 3, Op: dynamixel.Write, Addr: 168, Data: []byte{224, 0, 225, 0}},
		{ID: 3, Op: dynamixel.FactoryReset, Data: []byte{0xFF}},
		{ID: 3, Op: dynamixel.RegWrite, Addr: 100, Data: make([]byte, 20)},
		{ID: 0xFE, Op: dynamixel.Action}, {ID: 3, Op: dynamixel.Reboot},
		{ID: 3, Op: dynamixel.Backup, Data: []byte("\x01CTRL")},
		{ID: 0xFE, Op: dynamixel.FastSyncRead, Addr: 0, Size: 600,
			Blocks: []dynamixel.Block{{ID: 3}, {ID: 4}, {ID: 3}}},
		{ID: 0xFE, Op: dynamixel.FastSyncRead, Addr: 0, Size: 65535, Blocks: []dynamixel.Block{{ID: 3}, {ID: 9}}},
		{ID: 0xFE, Op: dynamixel.FastBulkRead,
			Blocks: []dynamixel.Block{{ID: 3, Addr: 132, Size: 4}, {ID: 4, Addr: 0, Size: 147}}},
		{ID: 0xFE, Op: dynamixel.BulkWrite, Blocks: []dynamixel.Block{{ID: 3, Addr: 7, Data: []byte{4}},
			{ID: 4, Addr: 8, Data: []byte{3}}}},
		{ID: 6, Op: dynamixel.Clear, Data: []byte("\x02ERCL")},
		{ID: 6, Op: dynamixel.Clear, Data: []byte("\x01DXL\x22")},
		{ID: 6, Op: dynamixel.Write, Addr: 96, Data: []byte{1, 0, 0, 0, 9, 0, 0, 0}},
		{ID: 6, Op: dynamixel.Write, Addr: 512, Data: []byte{1}},
		{ID: 6, Op: dynamixel.Write, Addr: 256, Data: []byte{0, 2, 20, 2}},
		{ID: 6, Op: dynamixel.Read, Addr: 0, Size: 920},
	} {
		f.Add(dynamixel.AppendInstruction2(nil, &in), uint8(0))
	}
	texts := []string{"off bus", "stuck servo 3", "garbage bus", "stale bus", "crc bus p=0.5", "truncate bus p=0.5",
		"duplicate_id bus", "slow servo 3", "intermittent bus", "brownout bus from=1ms for=1ms"}
	f.Fuzz(func(t *testing.T, data []byte, how uint8) {
		run := func() string {
			r := newRig(t, emulator.Timing{Echo: how&1 != 0}, newServo(t, "ax-12a", 1), newServo(t, "mx-64", 2),
				newServo(t, "xm430-w350", 3), newServo(t, "xl330-m288", 4), newServo(t, "xl-320", 5),
				newServo(t, "ym070-210-a051", 6))
			if i := int(how >> 4); i < len(texts) {
				x, err := wire.Parse(texts[i])
				if err == nil {
					err = r.bus.Fault(x)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if how&2 != 0 {
				r.line.SetBaud(1 + int(how)<<12)
			}
			size := len(data)
			if how&4 != 0 {
				size = 7
			}
			var got []byte
			for rest := data; len(rest) > 0; {
				n := min(max(size, 1), len(rest))
				r.line.Write(rest[:n])
				rest = rest[n:]
				if how&8 != 0 {
					got = append(got, r.listen(time.Millisecond)...)
				}
			}
			got = append(got, r.listen(time.Millisecond)...)
			r.pass(3 * time.Millisecond)
			if len(got) > 1<<17 {
				t.Fatalf("%d bytes were answered with %d", len(data), len(got))
			}
			return string(got)
		}
		if a, b := run(), run(); a != b {
			t.Fatalf("two runs differ:\n% X\n% X", a, b)
		}
	})
}
