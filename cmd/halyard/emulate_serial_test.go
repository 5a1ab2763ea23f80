package main

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/drivers/serial"
)

// Every serial line of a config is served at once, over one world: the real driver of the sensor on its line feels what
// the pulses of the board on another one do. What cannot be a terminal says why.
func TestEmulateSerialDevices(t *testing.T) {
	path := rigOf(t, nodderRig, nodder, append(onSerial(), "agents:\n", "  main: {type: i2c, port: /dev/i2c-nobody}\nagents:\n")...)
	dir := t.TempDir()
	line, stop := emulated(t, path, "--dir", dir)
	defer stop()
	got := map[string]string{}
	for _, p := range line.Ports {
		got[p.Bus] = p.Type + " " + p.Reason
		if (p.Path == "") != (p.Reason != "") {
			t.Errorf("%+v: want a path or a reason", p)
		}
	}
	if len(got) != 4 || got["line"] != "dynamixel2 " || got["head"] != "serial " || got["board"] != "serial " || !strings.Contains(got["main"], "I2C cannot") {
		t.Fatalf("got %q", got)
	}
	sensor := imu.NewBNO055Serial("head", serial.Reopener(filepath.Join(dir, "head"), 115200, ""), imu.BNO055Config{})
	board, err := pwm.NewMaestro(serial.Reopener(filepath.Join(dir, "board"), 115200, ""), pwm.MaestroConfig{Name: "board", Channels: 6, Device: -1})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err = errors.Join(board.Open(), sensor.Open()); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	defer board.Close()
	defer sensor.Close()
	// A pulse to one side, and the head nods.
	widths := make([]time.Duration, 6)
	widths[3] = 1800 * time.Microsecond
	v := make([]float64, 10)
	nod := 0.0
	for begin := time.Now(); math.Abs(nod) < 0.2 && time.Since(begin) < 10*time.Second; {
		// A busy machine lets an answer be late now and then.
		if errors.Join(board.Write(widths), sensor.Read(v)) == nil {
			nod = 2 * math.Atan2(v[2], v[0])
		}
	}
	if math.Abs(nod) < 0.2 {
		t.Errorf("1.8 ms: the head nods by %.3f rad, want more than 0.2", nod)
	}
}

func TestUnserved(t *testing.T) {
	for kind, want := range map[string]string{i2cBus: "I2C cannot", serialBus: "no emulated device", "dynamixel2": "no joint", "kernel-pwm": "kernel-pwm cannot be", "": "no line"} {
		if got := unserved(kind); !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", kind, got, want)
		}
	}
}
