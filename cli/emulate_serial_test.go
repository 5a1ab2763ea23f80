package cli

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/rigtest"
)

// Every serial line of a config is served at once, over one world: the real driver of the sensor on its line feels what
// the pulses of the board on another one do. What cannot be a terminal says why.
func TestEmulateSerialDevices(t *testing.T) {
	path := rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder,
		append(doctor.OnSerial(), "agents:\n", "  main: {type: i2c, port: /dev/i2c-nobody}\nagents:\n")...)
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
	if len(got) != 4 || got["line"] != "dynamixel2 " || got["head"] != "serial " || got["board"] != "serial " ||
		!strings.Contains(got["main"], "I2C cannot") {
		t.Fatalf("got %q", got)
	}
	sensor := imu.NewBNO055Serial("head", serial.Reopener(filepath.Join(dir, "head"), 115200, ""), imu.BNO055Config{})
	board, err := pwm.NewMaestro(serial.Reopener(filepath.Join(dir, "board"), 115200, ""),
		pwm.MaestroConfig{Name: "board", Channels: 6, Device: -1})
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
	for begin := time.Now(); math.Abs(nod) < 0.2 && time.Since(begin) < time.Minute; {
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
	for kind, want := range map[string]string{catalog.I2CBus: "I2C cannot", catalog.SPIBus: "SPI cannot",
		catalog.SerialBus: "no emulated device", "dynamixel2": "no joint", "kernel-pwm": "kernel-pwm cannot be",
		"": "no line"} {
		if got := assembly.Unserved(catalog.BuiltinBuses(), kind); !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", kind, got, want)
		}
	}
}

// Devices of every kind are served: a base and its laser on pseudo-terminals, a network scanner on a loopback port, all
// in one world.
func TestEmulateBasesAndScanners(t *testing.T) {
	dir := t.TempDir()
	path := rigtest.RigOf(t, rigtest.PioneerRig, "", "buses:\n", "buses:\n  bay: {type: spi, port: /dev/spidev0.0}\n")
	line, stop := emulated(t, path, "--dir", dir)
	var kinds []string
	for _, p := range line.Ports {
		kinds = append(kinds, p.Bus+" "+p.Type+" "+p.Reason)
		if rated := p.Type == catalog.SerialBus; rated != (p.Baud > 0) {
			t.Errorf("%s, of type %s: got %d Bd", p.Bus, p.Type, p.Baud)
		}
	}
	if want := "base serial |laser serial |bay spi " + assembly.Unserved(catalog.BuiltinBuses(), catalog.SPIBus) +
		"|main i2c " + assembly.Unserved(catalog.BuiltinBuses(), catalog.I2CBus); strings.Join(kinds, "|") != want {
		t.Fatalf("got %q, want %q", strings.Join(kinds, "|"), want)
	}
	laser, err := lidar.NewSICK(lidar.SICKSettings{Name: "laser",
		Line: serial.Reopener(filepath.Join(dir, "laser"), 38400, "")})
	if err != nil {
		t.Fatal(err)
	}
	scan := make([]float64, laser.Geometry().Count)
	for range 3 { // a busy machine lets an answer be late now and then
		if err = errors.Join(laser.Open(), laser.Read(scan)); err == nil {
			break
		}
	}
	near := slices.Min(scan)
	if err != nil || !(near > 0.1 && near < 20) {
		t.Errorf("laser: the nearest wall at %.2f m, %v", near, err)
	}
	laser.Close()
	// A base identifies itself to a client that greets it, as ARIA and Player do.
	port, err := serial.Open(filepath.Join(dir, "base"), 9600, "")
	if err != nil {
		t.Fatal(err)
	}
	heard := ""
	for i, greeting := range []string{"\xFA\xFB\x03\x00\x00\x00", "\xFA\xFB\x03\x01\x00\x01",
		"\xFA\xFB\x03\x02\x00\x02"} {
		got, _, err := catalog.Listen(port, []byte(greeting), []int{6, 6, 27}[i], time.Second)
		if err != nil {
			t.Fatal(err)
		}
		heard += string(got)
	}
	if !strings.Contains(heard, "Pioneer") || !strings.Contains(strings.ToLower(heard), "p2at") {
		t.Errorf("base: greeted, it says %q", heard)
	}
	port.Close()
	stop()

	path = rigtest.RigOf(t, rigtest.PioneerRig, "", "laser: {type: serial, port: /dev/serial/by-id/nobody-else}",
		"laser: {type: serial, port: \"tcp://192.168.0.10:10940\"}",
		"device: sick-lms200", "device: hokuyo, model: ust-10lx, resolution: 0.5")
	line, _ = emulated(t, path)
	at := line.Ports[1].Path
	if line.Ports[1].Bus != "laser" || !strings.HasPrefix(at, "tcp://127.0.0.1:") {
		t.Fatalf("got %+v, want the scanner on the loopback", line.Ports)
	}
	ust, err := lidar.NewHokuyo(lidar.HokuyoSettings{Name: "laser",
		Line: lidar.DialTCP(strings.TrimPrefix(at, catalog.TCPPrefix)), Model: hokuyoModel(t, "ust-10lx")})
	if err != nil {
		t.Fatal(err)
	}
	scan = make([]float64, ust.Geometry().Count)
	for range 3 {
		if err = errors.Join(ust.Open(), ust.Read(scan)); err == nil {
			break
		}
	}
	if near := slices.Min(scan); err != nil || !(near > 0.05 && near < 20) {
		t.Errorf("scanner on the network: the nearest wall at %.2f m, %v", near, err)
	}
	ust.Close()
}

func hokuyoModel(t *testing.T, name string) lidar.HokuyoModel {
	t.Helper()
	for _, m := range lidar.HokuyoModels() {
		if strings.EqualFold(m.Name, name) {
			return m
		}
	}
	t.Fatalf("no model %s", name)
	return lidar.HokuyoModel{}
}
