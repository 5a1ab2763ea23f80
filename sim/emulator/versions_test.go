package emulator_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	emudynamixel "github.com/halyard-robotics/halyard/internal/emulator/dynamixel"
	emufeetech "github.com/halyard-robotics/halyard/internal/emulator/feetech"
	emuodrive "github.com/halyard-robotics/halyard/internal/emulator/odrive"
	"github.com/halyard-robotics/halyard/internal/emulator/version"
	emuvesc "github.com/halyard-robotics/halyard/internal/emulator/vesc"
	"github.com/halyard-robotics/halyard/internal/wire/vescwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/servo/vesc"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// versioned is one answer of a device of some firmware: a request and what comes back, as bytes in hex, or as text of
// an ODrive. "" is silence; of an answer that ends with ".." only the beginning counts.
type versioned struct{ model, firmware, quirk, ask, answer string }

// versions are the answers, each met by another program: ODrive's by the sources of fw-v0.5.1 to 0.5.6 and the
// emulation of the field cases, VESC's by bldc and that emulation, ROBOTIS' and Feetech's by their manuals' and SDKs'
// vectors.
func versions() (list []versioned) {
	for n, end := range []string{1: "", 2: "", 3: "\r\n", 4: "\r\n", 5: "\r\n", 6: "\r\n"} {
		if n == 0 {
			continue
		}
		firmware := fmt.Sprintf("0.5.%d", n)
		list = append(list,
			versioned{"odrive-v3", firmware, "", "r fw_version_minor*78\n", "5*53" + end},
			versioned{"odrive-v3", firmware, "", "r fw_version_minor\n", "5\r\n"},
			versioned{"odrive-v3", firmware, "", "r fw_version_revision\n", fmt.Sprintf("%d\r\n", n)},
			versioned{"odrive-v3", firmware, "", "r axis0.motor.error\n", "0\r\n"},
			versioned{"odrive-v3", firmware, "", "r axis0.active_errors\n", "invalid property\r\n"})
	}
	list = append(list,
		versioned{"odrive-v3", "0.5.4", version.NoLineEnd, "r fw_version_minor*78\n", "5*53"},
		versioned{"odrive-v3", "0.4.12", "", "r fw_version_minor\n", "4\r\n"},
		versioned{"odrive-v3", "0.4.12", "", "r fw_version_revision\n", "12\r\n"},
		versioned{"odrive-s1", "0.6.8", "", "r fw_version_minor\n", "6\r\n"},
		versioned{"odrive-s1", "0.6.8", "", "r fw_version_revision\n", "8\r\n"},
		versioned{"odrive-s1", "0.6.8", "", "r axis0.active_errors\n", "0\r\n"},
		versioned{"odrive-s1", "0.6.8", "", "r axis0.disarm_reason\n", "0\r\n"},
		versioned{"odrive-s1", "0.6.8", "", "r axis0.error\n", "invalid property\r\n"},
		versioned{"odrive-s1", "0.6.8", "", "r fw_version_minor*78\n", "6*54\r\n"})
	for _, v := range []struct {
		firmware, numbers string
		values            int // bytes of payload of all values
		later             bool
	}{{"3.38", "0326", 54, false}, {"3.40", "0328", 59, false}, {"3.62", "033E", 59, true}, {"5.02", "0502", 74, true},
		{"5.03", "0503", 74, true}, {"6.05", "0605", 74, true}} {
		selective, list91 := "", ""
		if v.later {
			selective, list91 = "3200020000..", "3E"
		}
		list = append(list,
			versioned{"vesc-6", v.firmware, "", "00", "00" + v.numbers + "36305F.."},
			versioned{"vesc-6", v.firmware, "", "04", fmt.Sprintf("%d bytes", v.values)},
			versioned{"vesc-6", v.firmware, "", "3200020000", selective},
			versioned{"vesc-6", v.firmware, "", "3E", list91})
	}
	const ping, all = "FFFFFD0001030001194E", "FFFFFD00FE0300013142"
	const fast = "FFFFFD00FE08008A8400040001F78F"
	return append(list,
		versioned{"xm430-w210", "38", "", ping, "FFFFFD000107005500060426655D"},
		versioned{"xm430-w210", "38", "", all, "FFFFFD000107005500060426655D"},
		versioned{"xm430-w210", "38", version.NoBroadcastPing, all, ""},
		versioned{"xm430-w210", "38", version.NoBroadcastPing, ping, "FFFFFD000107005500060426.."},
		versioned{"xl430-w250", "41", "", ping, "FFFFFD000107005500240429.."},
		versioned{"xl430-w250", "44", "", fast, ""},
		versioned{"xl430-w250", "45", "", fast, "FFFFFD00FE0900550001.."},
		versioned{"xl430-w250", "52", "", fast, "FFFFFD00FE0900550001.."},
		versioned{"sts3215", "3.9", "", "FFFF010201FB", "FFFF010200FC"},
		versioned{"sts3215", "3.9", "", "FFFF0104020002F6", "FFFF0104000309EE"},
		versioned{"sts3215", "3.10", "", "FFFF0104020002F6", "FFFF010400030AED"},
		versioned{"sts3215", "3.10", "", "FFFF0104020302F3", "FFFF0104000903EE"},
		versioned{"sts3215", "3.10", "", "FFFFFE0201FE", "FFFF010200FC"},
		versioned{"sts3215", "3.10", version.NoBroadcastPing, "FFFFFE0201FE", ""},
		versioned{"sts3250", "3.10", "", "FFFF0104020302F3", "FFFF010400090BE6"})
}

// versionBus is an emulated bus with one device of a version, and its bus type.
func versionBus(t *testing.T, v versioned) (*emulator.Bus, servo.Driver) {
	t.Helper()
	cfg := emulator.BusConfig{Name: "v", Baud: 1000000, Firmware: v.firmware}
	if v.quirk != "" {
		cfg.Quirks = []string{v.quirk}
	}
	act := motorActuator(t, v.model)
	var s *emulator.Servo
	var d servo.Driver
	switch {
	case strings.HasPrefix(v.model, "odrive"):
		s, d = emuodrive.New(odrive.ModelByName(v.model), 0, act, emulator.GroundTruth{}), odrive.Driver()
	case strings.HasPrefix(v.model, "vesc"):
		s, d = emuvesc.New(vesc.ModelByName(v.model), 3, act, emulator.GroundTruth{}), vesc.Driver()
	case strings.HasPrefix(v.model, "sts"):
		s, d = emufeetech.New(feetech.ModelByName(v.model), 1, act, emulator.GroundTruth{}), feetech.Driver()
	default:
		s, d = emudynamixel.New(dynamixel.ModelByName(v.model), 1, act, emulator.GroundTruth{}), dynamixel.Driver2()
	}
	s.Preset("return_delay", 0)
	return emulator.NewBus(cfg, s), d
}

// Every row of the table is what the emulated device of that version answers.
func TestVersionsAnswer(t *testing.T) {
	rows := versions()
	for _, v := range rows {
		bus, _ := versionBus(t, v)
		line := bus.Line()
		ask := []byte(v.ask)
		if !strings.HasPrefix(v.model, "odrive") {
			ask = bytesOf(t, v.ask)
		}
		if strings.HasPrefix(v.model, "vesc") {
			ask = vescwire.AppendPacket(nil, ask)
		}
		if _, err := line.Write(ask); err != nil {
			t.Fatal(err)
		}
		got := string(received(t, line))
		if strings.HasPrefix(v.model, "vesc") {
			p := vescwire.NewParser()
			p.Feed([]byte(got))
			payload := p.Next()
			got = fmt.Sprintf("%X", payload)
			if strings.HasSuffix(v.answer, "bytes") {
				got = fmt.Sprintf("%d bytes", len(payload))
			}
		} else if !strings.HasPrefix(v.model, "odrive") {
			got = fmt.Sprintf("%X", got)
		}
		want, part := strings.CutSuffix(v.answer, "..")
		if got != want && !(part && strings.HasPrefix(got, want)) {
			t.Errorf("%s firmware %s %s, %q: got %q, want %q", v.model, v.firmware, v.quirk, v.ask, got, v.answer)
		}
	}
	if len(rows) < 60 {
		t.Errorf("got %d rows, want 60", len(rows))
	}
}

// The drivers take each version, or refuse it by its number.
func TestVersionsAreIdentified(t *testing.T) {
	seen := map[versioned]bool{}
	for _, v := range versions() {
		if v.ask, v.answer = "", ""; seen[v] {
			continue
		}
		seen[v] = true
		bus, d := versionBus(t, v)
		id := 1
		if strings.HasPrefix(v.model, "odrive") {
			id = 0
		} else if strings.HasPrefix(v.model, "vesc") {
			id = 3
		}
		tool := d.Tool(bus.Line(), servo.ToolConfig{Bus: "v", Latency: 5 * time.Millisecond})
		found, err := tool.Identify(id)
		switch v.firmware {
		case "0.4.12", "3.38", "3.40":
			if number := strings.TrimSuffix(v.firmware, ".12"); err == nil || !strings.Contains(err.Error(), number) {
				t.Errorf("%s firmware %s: got %v, want its firmware refused", v.model, v.firmware, err)
			}
		default:
			if v.model == "vesc-6" && found.Firmware != v.firmware { // a chain refuses 3.62 by it
				t.Errorf("%s: got firmware %s, want %s", v.model, found.Firmware, v.firmware)
			}
			if err != nil || !found.Assumed && found.Model.Units().Name != v.model {
				t.Errorf("%s firmware %s %s: got %+v, %v", v.model, v.firmware, v.quirk, found, err)
			}
		}
		var quirks []string
		if v.quirk != "" {
			quirks = append(quirks, v.quirk)
		}
		if _, _, _, ok := version.Check(d.Traits().Firmwares, d.Traits().Quirks, v.firmware, quirks); !ok {
			t.Errorf("%s: a config may not name firmware %s", v.model, v.firmware)
		}
	}
}

func bytesOf(t *testing.T, text string) []byte {
	t.Helper()
	p, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(text, err)
	}
	return p
}

// received is all that comes within 20 ms of the line's time.
func received(t *testing.T, line servo.Line) (got []byte) {
	t.Helper()
	var piece [512]byte
	for {
		n, err := line.Read(piece[:], 20*time.Millisecond)
		if got = append(got, piece[:n]...); errors.Is(err, os.ErrDeadlineExceeded) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
