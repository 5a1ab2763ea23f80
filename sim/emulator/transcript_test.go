package emulator_test

import (
	"testing"

	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// The e-Manual's own packets of protocol 1.0, as a session with two servos in the state that its answers tell of.
func TestTranscript1(t *testing.T) {
	one := newServo(t, "mx-28", 1)
	two := newServo(t, "mx-28", 2)
	zero := newServo(t, "ax-12a", 0)
	r := newRig(t, emulator.Timing{}, one, two, zero)
	one.Actuator().Temperature = 32

	r.want("FF FF 01 02 01 FB", "FF FF 01 02 00 FC")             // ping 1
	r.want("FF FF 01 04 02 2B 01 CC", "FF FF 01 03 00 20 DB")    // read 1: temperature 32 °C
	r.want("FF FF 01 05 04 1E F4 01 E2", "FF FF 01 02 00 FC")    // reg write 1: goal 500
	r.want("FF FF 01 04 02 2C 01 CB", "FF FF 01 03 00 01 FA")    // registered
	r.want("FF FF FE 02 05 FA", "")                              // action, all
	r.want("FF FF 01 04 02 2C 01 CB", "FF FF 01 03 00 00 FB")    // no longer
	r.want("FF FF 01 04 02 1E 02 D8", "FF FF 01 04 00 F4 01 05") // the goal is 500
	r.want("FF FF 00 02 06 F7", "FF FF 00 02 00 FD")             // factory reset 0 ...
	if id := r.register(2, "id"); id != 1 {
		t.Errorf("after a factory reset: id: got %d, want 1", id)
	}
}

func TestTranscript1Many(t *testing.T) {
	one, two := newServo(t, "mx-28", 1), newServo(t, "mx-28", 2)
	r := newRig(t, emulator.Timing{}, one, two)
	// Sync write: goal 16, speed 336 to 1; goal 544, speed 864 to 2.
	r.want("FF FF FE 0E 83 1E 04 01 10 00 50 01 02 20 02 60 03 65", "")
	for i, want := range [][2]int64{{0x10, 0x150}, {0x220, 0x360}} {
		if got := [2]int64{r.register(i, "goal_position"), r.register(i, "moving_speed")}; got != want {
			t.Errorf("servo %d: got %v, want %v", i+1, got, want)
		}
	}
	// Bulk read: goal of 1 (2 bytes from 30), position of 2 (2 bytes from 36).
	r.want("FF FF FE 09 92 00 02 01 1E 02 02 24 1D", "FF FF 01 04 00 10 00 EA FF FF 02 04 00 00 08 F1")
	// An AX-12A knows no bulk read, and keeps those after it waiting for good.
	mixed := newRig(t, emulator.Timing{}, newServo(t, "ax-12a", 1), two)
	mixed.want("FF FF FE 09 92 00 02 01 1E 02 02 24 1D", "")
	// Write an ID to all; both are 1 from now on, and both answer, bit by bit the same.
	r.want("FF FF FE 04 03 03 01 F6", "")
	r.want("FF FF 01 02 01 FB", "FF FF 01 02 00 FC")
}

// hardware.md's further packets of protocol 1.0, asked of servos that can answer them.
func TestTranscript1More(t *testing.T) {
	zero, one := newServo(t, "mx-28", 0), newServo(t, "mx-28", 1)
	r := newRig(t, emulator.Timing{}, zero, one)
	r.want("FF FF FE 0E 83 1E 04 00 10 00 50 01 01 20 02 60 03 67", "") // sync write to 0 and 1
	for i, want := range [][2]int64{{0x10, 0x150}, {0x220, 0x360}} {
		if got := [2]int64{r.register(i, "goal_position"), r.register(i, "moving_speed")}; got != want {
			t.Errorf("servo %d: got %v, want %v", i, got, want)
		}
	}
	r.want("FF FF 01 05 03 0C 64 AA DC", "FF FF 01 02 00 FC") // 10.0 V and 17.0 V
	if got := [2]int64{r.register(1, "min_voltage"), r.register(1, "max_voltage")}; got != [2]int64{100, 170} {
		t.Errorf("voltages: got %v", got)
	}
	// Overload and heat together.
	one.Actuator().Alarm |= actuator.AlarmOverload
	one.Actuator().Temperature = 90
	r.want("FF FF 01 02 01 FB", "FF FF 01 02 24 D8")

	ax := newRig(t, emulator.Timing{}, newServo(t, "ax-12a", 1))
	ax.want("FF FF FE 02 01 FE", "FF FF 01 02 00 FC")                               // ping all
	ax.want("FF FF 01 04 02 24 08 CC", "FF FF 01 0A 00 00 02 00 00 00 00 78 19 61") // eight from 36
	ax.want("FF FF 01 07 03 1E 00 02 00 01 D3", "FF FF 01 02 00 FC")                // goal 512 at 256
	ax.want("FF FF 01 04 02 1E 04 D6", "FF FF 01 06 00 00 02 00 01 F5")             // as it stands there
	// a bad checksum costs no more than itself
	ax.want("FF FF 01 07 03 1E 00 02 00 01 D4 FF FF 01 02 01 FB", "FF FF 01 02 00 FC")
}

// The same of protocol 2.0.
func TestTranscript2(t *testing.T) {
	one := newServo(t, "xm430-w210", 1)
	two := newServo(t, "xm430-w210", 2)
	r := newRig(t, emulator.Timing{}, one, two)
	for _, s := range r.servos {
		s.Preset("firmware", 38)
	}
	place(one, 166)
	place(two, 2079)

	const status1, status2 = "FF FF FD 00 01 07 00 55 00 06 04 26 65 5D", "FF FF FD 00 02 07 00 55 00 06 04 26 6F 6D"
	r.want("FF FF FD 00 01 03 00 01 19 4E", status1)                                                    // ping 1
	r.want("FF FF FD 00 FE 03 00 01 31 42", status1+status2)                                            // ping all
	r.want("FF FF FD 00 01 07 00 02 84 00 04 00 1D 15", "FF FF FD 00 01 08 00 55 00 A6 00 00 00 8C C0") // position
	r.want("FF FF FD 00 01 09 00 03 74 00 00 02 00 00 CA 89", "FF FF FD 00 01 04 00 55 00 A1 0C")       // goal 512
	// reg write velocity 200
	r.want("FF FF FD 00 01 09 00 04 68 00 C8 00 00 00 AE 8E", "FF FF FD 00 01 04 00 55 00 A1 0C")
	r.want("FF FF FD 00 01 03 00 05 02 CE", "FF FF FD 00 01 04 00 55 00 A1 0C") // action
	r.want("FF FF FD 00 FE 09 00 82 84 00 04 00 01 02 CE FA",                   // sync read
		"FF FF FD 00 01 08 00 55 00 A6 00 00 00 8C C0 FF FF FD 00 02 08 00 55 00 1F 08 00 00 BA BE")
	r.want("FF FF FD 00 FE 11 00 83 74 00 04 00 01 96 00 00 00 02 AA 00 00 00 82 87", "") // sync write
	if g := [3]int64{r.register(0, "goal_position"), r.register(1, "goal_position"),
		r.register(0, "goal_velocity")}; g != [3]int64{150, 170, 200} {
		t.Errorf("goals: got %v, want [150 170 200]", g)
	}
	at(one, 11.9)
	two.Actuator().Temperature = 36
	r.want("FF FF FD 00 FE 0D 00 92 01 90 00 02 00 02 92 00 01 00 1A 05", // bulk read: 11.9 V, 36 °C
		"FF FF FD 00 01 06 00 55 00 77 00 C3 69 FF FF FD 00 02 05 00 55 00 24 8B A9")
	r.want("FF FF FD 00 FE 10 00 93 01 20 00 02 00 A0 00 02 1F 00 01 00 50 B7 68", "") // bulk write: 16.0 V, 80 °C
	if g := [2]int64{r.register(0, "max_voltage"), r.register(1, "temperature_limit")}; g != [2]int64{160, 80} {
		t.Errorf("limits: got %v, want [160 80]", g)
	}
	r.want("FF FF FD 00 01 08 00 10 01 44 58 4C 22 B1 DC", "FF FF FD 00 01 04 00 55 00 A1 0C") // clear
	r.want("FF FF FD 00 01 08 00 20 01 43 54 52 4C 16 F5", "FF FF FD 00 01 04 00 55 00 A1 0C") // backup
	r.want("FF FF FD 00 01 08 00 20 02 43 54 52 4C 9E F5", "FF FF FD 00 01 04 00 55 00 A1 0C") // restore
	r.want("FF FF FD 00 01 03 00 08 2F 4E", "FF FF FD 00 01 04 00 55 00 A1 0C")                // reboot
	r.want("FF FF FD 00 01 04 00 06 01 A1 E6", "FF FF FD 00 01 04 00 55 00 A1 0C")             // factory reset but ID
}

// Data that look like a header are byte-stuffed by the host; a goal of 16646143 is out of range. A corrupt packet is
// not answered.
func TestTranscript2More(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1, "operating_mode", 4))
	r.want("FF FF FD 00 01 0A 00 03 74 00 FF FF FD FD 00 21 E7", "FF FF FD 00 01 04 00 55 04 BA 8C")
	r.want("FF FF FD 00 01 03 00 01 19 4F", "")
	fast := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 3), newServo(t, "xm430-w350", 7),
		newServo(t, "xm430-w350", 4))
	place(fast.servos[0], 166)
	at(fast.servos[1], 11.9)
	fast.servos[2].Actuator().Temperature = 36
	fast.want("FF FF FD 00 FE 12 00 9A 03 84 00 04 00 07 90 00 02 00 04 92 00 01 00 56 63",
		"FF FF FD 00 FE 14 00 55 00 03 A6 00 00 00 67 A4 00 07 77 00 2E 98 00 04 24 7D 15")
}

// The e-Manual's fast sync read of servos 3, 7 and 4, with the cumulative CRCs.
func TestTranscriptFast(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 3), newServo(t, "xm430-w350", 7),
		newServo(t, "xm430-w350", 4))
	place(r.servos[0], 166)
	place(r.servos[1], 2079)
	place(r.servos[2], 1023)
	r.want("FF FF FD 00 FE 0A 00 8A 84 00 04 00 03 07 04 20 F2",
		"FF FF FD 00 FE 19 00 55 00 03 A6 00 00 00 84 08 00 07 1F 08 00 00 16 CA 00 04 FF 03 00 00 D1 9E")
}
