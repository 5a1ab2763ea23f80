package rigtest

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// PioneerRig is a P2AT in the hall: its base, its laser and its IMU are devices, the camera's head is simulated.
const PioneerRig = `
name: pioneer
world: {scene: hall}
buses:
  base: {type: serial, port: /dev/serial/by-id/nobody}
  laser: {type: serial, port: /dev/serial/by-id/nobody-else}
  main: {type: i2c, port: /dev/i2c-nobody}
agents:
  - name: pioneer
    model: usarsim-p2at
    pose: {position: [5, -6, -1.82], rotation: [0, 0, 0.5]}
    body: emulated
    parts: {camera_pan: sim, camera_tilt: sim}
    hardware:
      base: {bus: base, device: p2os, robot: p2at}
      sensors:
        scanner1: {bus: laser, device: sick-lms200}
        inu: {bus: main, device: bno055}
servers: []
`

const RovRig = `
name: rov
clock: {period: 10ms}
world: {scene: pool}
buses:
  main: {type: i2c, port: /dev/i2c-nobody}
  thrusters: {type: serial, port: /dev/serial/by-id/nobody}
agents:
  - name: rov
    model: okon
    pose: {position: [0, 0, -1]}
    body: emulated
    hardware:
      joints:
        flh: {bus: main, device: pca9685, channel: 0, frequency: 200}
        frh: {bus: main, device: pca9685, channel: 1}
        blh: {bus: main, device: pca9685, channel: 2}
        brh: {bus: main, device: pca9685, channel: 3}
        flv: {bus: main, device: pca9685, channel: 4}
        frv: {bus: main, device: pca9685, channel: 5}
        blv: {bus: main, device: pca9685, channel: 6}
        brv: {bus: main, device: pca9685, channel: 7}
      sensors:
        imu: {bus: main, device: bno055, rate: 100}
        pressure: {bus: main, device: ms5837-30ba}
        battery: {bus: main, device: ina219, address: 0x41, below: 13}
servers: []
`

func RovOn(t *testing.T, board string) string {
	if board == "maestro" {
		return RigOf(t, RovRig, "", "{bus: main, device: pca9685,", "{bus: thrusters, device: maestro,",
			", frequency: 200", "")
	}
	return RigOf(t, RovRig, "")
}

// Seeker is a rescue robot whose readers are devices.
const Seeker = `
name: seeker
clock: {mode: lockstep, period: 10ms}
world: {scene: yellow, seed: 1}
buses:
  tags: {type: serial, port: /dev/serial/by-id/nobody-1, baud: 9600}
  nfc: {type: serial, port: /dev/serial/by-id/nobody-2, baud: 115200}
  main: {type: i2c, port: /dev/i2c-nobody}
agents:
  - name: seeker
    model: usarsim-p2at
    parts: {rfid: emulated, victrfid: emulated}
    hardware:
      sensors:
        rfid: {bus: tags, device: rdm6300}
        victrfid: {bus: main, device: pn532, rate: 20}
servers: []
`

// Listeners are what the readers of a robot tell.
func Listeners(t *testing.T, s *Stepped) map[string]*[]int {
	t.Helper()
	told := map[string]*[]int{}
	for _, name := range []string{"rfid", "victrfid"} {
		source, ok := s.Sys.Sources[plan.JointRef{Agent: 0, Joint: catalog.SensorIndex(s.Agent.Layout(), name)}].(catalog.Tagged)
		if list := (&[]int{}); ok && source.Listen(func(tag int) { *list = append(*list, tag) }) {
			told[name] = list
		} else {
			t.Fatalf("%s reads no tags", name)
		}
	}
	return told
}
