package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/drivers/spi"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// Who answers on an I2C bus, and what says so.
func TestSurveyI2C(t *testing.T) {
	bus := chip.NewBus("main", 400_000, 1, chip.NewBNO055(0x28), chip.NewMPU("mpu-9250", 0x68), chip.NewLSM6(0x6A),
		chip.NewPCA9685(0x41, 25e6),
		chip.NewINA219(0x40, 0.1), chip.NewBMX280(0x77, true), chip.NewMS5837(pressure.MS5837_30BA()),
		chip.NewADS1115(0x48))
	rows, err := commission.SurveyI2C(t.Context(), "PORT", bus.Host())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, strings.Join(report.Texts(r.Cells()), " "))
	}
	want := []string{"0x28 bno055 its identity", "0x40 ina219 or pca9685 its address",
		"0x41 ina219 or pca9685 its address", "0x48 ads1115 or ina219 or pca9685 its address",
		"0x68 mpu-9250 its identity", "0x6A lsm6dso32 or lsm6dsox its identity",
		"0x76 ms5837-02ba or ms5837-30ba or pca9685 its address", "0x77 bme280 its identity"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if rows, err := commission.SurveyI2C(t.Context(), "PORT", chip.NewBus("empty", 400_000, 1).Host()); err != nil ||
		len(rows) != 0 {
		t.Errorf("no chip: got %v, %v", rows, err)
	}
	file := filepath.Join(t.TempDir(), "rov.yaml")
	text, _ := configs.Embedded("rov")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]bool{"/dev/i2c-1": true, file + ":main": true, "/dev/ttyUSB0": false,
		"okon:main": true, "okon:other": false, "xm430-arm:arm": false, "nothing": false} {
		if _, kind := catalog.ChipPort(target); (kind == catalog.I2CBus) != want {
			t.Errorf("%s: got %q, want i2c: %v", target, kind, want)
		}
	}
	link := filepath.Join(t.TempDir(), "imu")
	if err := os.Symlink("/dev/null", link); err != nil {
		t.Fatal(err)
	}
	if _, kind := catalog.ChipPort(link); kind != "" {
		t.Error("a link to something else is taken for a bus")
	}
	if code, _, errText := runApp(t, "scan", "/dev/i2c-99"); code != 3 || !strings.Contains(errText, "no such bus") {
		t.Errorf("a bus that is not there: exit %d, %s", code, errText)
	}
}

// A chip on an SPI port identifies itself; an idle line means no chip.
func TestSurveySPI(t *testing.T) {
	for _, c := range []struct {
		name, want string
		chip       []chip.Device
	}{
		{"imu", "[{PORT -1 [mpu-9250] true 0}]", []chip.Device{chip.NewMPU("mpu-9250", 0x68)}},
		{"barometer", "[{PORT -1 [bmp280] true 0}]", []chip.Device{chip.NewBMX280(0x76, false)}},
		{"a chip of I2C alone", "[{PORT -1 [] false 0}]", []chip.Device{chip.NewMPU("mpu-6050", 0x68)}},
		{"no chip", "[]", nil},
	} {
		rows, err := commission.SurveySPI("PORT",
			spi.NewPort("PORT", chip.NewBus("main", 1_000_000, 1, c.chip...).SPI()))
		if err != nil || fmt.Sprint(rows) != c.want {
			t.Errorf("%s: got %v, %v; want %s", c.name, rows, err, c.want)
		}
	}
	if port, kind := catalog.ChipPort("/dev/spidev0.1"); port != "/dev/spidev0.1" || kind != catalog.SPIBus {
		t.Errorf("got %q, %q", port, kind)
	}
	if code, _, errText := runApp(t, "scan", "/dev/spidev99.0"); code != 3 ||
		!strings.Contains(errText, "is SPI switched on") {
		t.Errorf("a port that is not there: exit %d, %s", code, errText)
	}
}
