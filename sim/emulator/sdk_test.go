package emulator_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// sdk is a host that knows nothing of servo/dynamixel: it sends and receives by the rules that DynamixelSDK documents
// and its source shows, with its own checksum, stuffing and framing, so that a fault that codec and emulator share
// does not pass unseen.
type sdk struct {
	port servo.Port
	id   byte          // the greatest ID that an answer may have: FC, or FE for a fast read
	wait time.Duration // the packet timeout
}

// sdkTimeout is DynamixelSDK's: twice the latency timer it believes in, and 2 ms. On a pty of a busy machine that is
// no time at all.
const (
	sdkTimeout = 34 * time.Millisecond
	ptyTimeout = 2 * time.Second
)

var errCorrupt, errTimeout = errors.New("incorrect status packet"), errors.New("no status packet")

// crc is computed bit by bit, with the polynomial 8005.
func crc(p []byte) (c uint16) {
	for _, b := range p {
		c ^= uint16(b) << 8
		for range 8 {
			if c&0x8000 != 0 {
				c = c<<1 ^ 0x8005
			} else {
				c <<= 1
			}
		}
	}
	return c
}

// send stuffs and sends an instruction of 2.0 after clearing the port.
func (s *sdk) send(id, inst byte, params ...byte) {
	body := []byte{inst}
	for _, b := range params {
		body = append(body, b)
		if n := len(body); n >= 3 && body[n-3] == 0xFF && body[n-2] == 0xFF && b == 0xFD {
			body = append(body, 0xFD)
		}
	}
	n := len(body) + 2
	p := append([]byte{0xFF, 0xFF, 0xFD, 0, id, byte(n), byte(n >> 8)}, body...)
	c := crc(p)
	s.port.Discard()
	s.port.Write(append(p, byte(c), byte(c>>8)))
}

// receive follows rxPacket: it reads no more than it waits for, drops what cannot be a header, and gives up after the
// packet timeout.
func (s *sdk) receive() ([]byte, error) {
	var rx []byte
	wait := 11
	deadline := s.port.Now() + s.wait
	for {
		if len(rx) < wait {
			b := make([]byte, wait-len(rx))
			n, err := s.port.Read(b, max(0, deadline-s.port.Now()))
			rx = append(rx, b[:n]...)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				if len(rx) == 0 {
					return nil, errTimeout
				}
				return rx, errCorrupt
			}
			continue
		}
		i := bytes.Index(rx, []byte{0xFF, 0xFF, 0xFD})
		switch {
		case i < 0:
			rx = rx[len(rx)-2:]
			continue
		case i > 0:
			rx = rx[i:]
			continue
		}
		length := int(rx[5]) | int(rx[6])<<8
		if rx[3] != 0 || rx[4] > s.id || length > 1024 || rx[7] != 0x55 {
			rx = rx[1:]
			continue
		}
		if wait != length+7 {
			wait = length + 7
			continue
		}
		if crc(rx[:wait-2]) != uint16(rx[wait-2])|uint16(rx[wait-1])<<8 {
			return rx, errCorrupt
		}
		if s.id == 0xFE {
			return rx, nil
		}
		return append(rx[:8:8], bytes.ReplaceAll(rx[8:wait-2], []byte{0xFF, 0xFF, 0xFD, 0xFD},
			[]byte{0xFF, 0xFF, 0xFD})...), nil
	}
}

// ask sends and receives the answer of the same ID: error byte and data.
func (s *sdk) ask(id, inst byte, params ...byte) (byte, []byte, error) {
	s.send(id, inst, params...)
	for {
		rx, err := s.receive()
		if err != nil {
			return 0, nil, err
		}
		if rx[4] == id {
			return rx[8], rx[9:], nil
		}
	}
}

// session is what a stock SDK does in its examples, on any port.
func session(t *testing.T, port servo.Port, wait time.Duration) {
	t.Helper()
	s := &sdk{port, 0xFC, wait}
	for id := byte(1); id <= 3; id++ {
		if e, data, err := s.ask(id, 1); err != nil || e != 0 || !bytes.Equal(data, []byte{0xFC, 0x03, 52}) {
			t.Fatalf("ping %d: got %d % X, %v", id, e, data, err)
		}
		if e, _, err := s.ask(id, 3, 64, 0, 1); err != nil || e != 0 {
			t.Errorf("torque on %d: got %d, %v", id, e, err)
		}
		if e, _, err := s.ask(id, 3, 116, 0, 0x34, 0x0A, 0, 0); err != nil || e != 0 {
			t.Errorf("goal %d: got %d, %v", id, e, err)
		}
	}
	s.wait = sdkTimeout
	if _, _, err := s.ask(9, 1); !errors.Is(err, errTimeout) {
		t.Errorf("ping 9: got %v, want silence", err)
	}
	s.wait = wait
	// Data that look like headers, stuffed both ways, through the indirect window.
	tricky := []byte{0xFF, 0xFF, 0xFD, 0xFF, 0xFF, 0xFD, 0xFD, 0, 0xFF, 0xFF, 0xFF, 0xFD, 0x55}
	if e, _, err := s.ask(2, 3, append([]byte{224, 0}, tricky...)...); err != nil || e != 0 {
		t.Errorf("write headers: got %d, %v", e, err)
	}
	if e, data, err := s.ask(2, 2, 224, 0, byte(len(tricky)), 0); err != nil || e != 0 || !bytes.Equal(data, tricky) {
		t.Errorf("read headers: got %d % X, %v", e, data, err)
	}
	// GroupSyncRead of the goals, three answers in the order of the list.
	s.send(0xFE, 0x82, 116, 0, 4, 0, 3, 1, 2)
	for _, id := range []byte{3, 1, 2} {
		if rx, err := s.receive(); err != nil || rx[4] != id || !bytes.Equal(rx[8:13], []byte{0, 0x34, 0x0A, 0, 0}) {
			t.Errorf("sync read %d: got % X, %v", id, rx, err)
		}
	}
	// GroupFastSyncRead: one answer; each part is error, ID, data and a CRC over all that stands before it.
	s.id = 0xFE
	s.send(0xFE, 0x8A, 116, 0, 4, 0, 1, 2, 3)
	rx, err := s.receive()
	if err != nil || len(rx) != 8+3*8 {
		t.Fatalf("fast sync read: got % X, %v", rx, err)
	}
	for i := range 3 {
		p := rx[8+8*i:]
		sum := crc(rx[:8+8*i+6])
		if !bytes.Equal(p[:6], []byte{0, byte(i + 1), 0x34, 0x0A, 0, 0}) || p[6] != byte(sum) || p[7] != byte(sum>>8) {
			t.Errorf("fast sync read, part %d: got % X, want CRC %04X", i, p[:8], sum)
		}
	}
}

func three(t *testing.T) []*emulator.Servo {
	return []*emulator.Servo{newServo(t, "xm430-w350", 1), newServo(t, "xm430-w350", 2), newServo(t, "xm430-w350", 3)}
}

func TestStockSDKCannotTell(t *testing.T) {
	for name, timing := range map[string]emulator.Timing{
		"bare":           {Reply: emulator.DefaultReply},
		"FTDI at 16 ms":  emulator.FTDI(16 * time.Millisecond),
		"FTDI at 1 ms":   emulator.FTDI(time.Millisecond),
		"1 ms USB frame": {Reply: emulator.DefaultReply, Frame: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) { session(t, newRig(t, timing, three(t)...).line, sdkTimeout) })
	}
}

// Every register of every model, read by address, is what it is by name.
func TestEveryRegisterIsReadable(t *testing.T) {
	for _, name := range []string{"xm430-w350", "xl330-m288", "xl430-w250", "mx-64-2", "xh540-w270", "xl-320",
		"ym070-210-r099"} {
		r := newRig(t, emulator.Timing{}, newServo(t, name, 1))
		s := &sdk{r.line, 0xFC, sdkTimeout}
		dice := rand.New(rand.NewPCG(1, 2))
		place(r.servos[0], 100+800*dice.Float64())
		for _, reg := range dynamixel.ModelByName(r.servos[0].Name()).Registers {
			e, data, err := s.ask(1, 2, byte(reg.Addr), byte(reg.Addr>>8), byte(reg.Size), 0)
			if err != nil || e != 0 || len(data) != int(reg.Size) {
				t.Errorf("%s: %s: got %d % X, %v", name, reg.Name, e, data, err)
			} else if got := reg.Decode(data); reg.Name != "realtime_tick" && got != r.register(0, reg.Name) {
				t.Errorf("%s: %s: got %d, want %d", name, reg.Name, got, r.register(0, reg.Name))
			}
		}
	}
}
