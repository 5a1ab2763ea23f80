package plan_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/rigtest"
)

// What a config may say wrongly of a port of SPI, and a sensor on one that measures.
func TestSPIConfig(t *testing.T) {
	onPort := func(bus, device string) string {
		return rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder, "  main: {type: i2c", "  head: {type: spi"+bus+
			"}\n  main: {type: i2c",
			"{bus: main, device: bno055, rate: 100}", "{bus: head, device: "+device+", rate: 100}")
	}
	for _, c := range []struct{ bus, device, want string }{
		{"", "bno055", "got head, which is spi, want a bus of type i2c or serial, for bno055"},
		{"", "mpu-6050", "which is spi, want a bus of type i2c, for mpu-6050"},
		{"", "lsm6dsox, address: 0x6A", "address: got 0x6A, want none, on spi"},
		{", frequency: 2000000", "mpu-9250", "frequency: got 2000000, want at most 1000000, for mpu-9250"},
		{", port: /dev/spidev0", "lsm6dsox", "want a bus and a select, such as /dev/spidev0.0"},
		{"", "lsm6dsox}\n      monitors:\n        air: {bus: head, device: bmp280", "got head, want a line of its own"},
	} {
		config, err := configs.Load(onPort(c.bus, c.device), configs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Resolve(config, builtin.Catalog()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.device, err, c.want)
		}
	}
	s := rigtest.Step(t, rigtest.PlanOf(t, onPort("", "lsm6dsox"), configs.Options{}))
	s.Run(time.Second)
	v := s.Agent.Measured(nil)[rigtest.SensorOf(t, s.Agent.Layout(), "imu").First:]
	if d := s.Device("imu"); d.Err != nil || math.Abs(v[9]-9.81) > 0.05 {
		t.Errorf("gravity by the chip: got %v, %v; want 9.81", v[9], d.Err)
	}
}
