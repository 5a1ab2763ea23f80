package feetech

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// Feetech's memory table of the HLS series, register by register, with what an HLS3930M of firmware 3.45 was read as.
const sheetHLS = `
0 1 firmware r 3
1 1 firmware_minor r 45
2 1 byte_order r 0
3 2 model_number r 4106
5 1 id eeprom 1 0..253
6 1 baud_rate eeprom 0 0..7
7 1 shadow_id eeprom 253 0..253
8 1 response_level eeprom 1 0..1
9 2 min_position eeprom 0 0..4094 0.00153398 rad
11 2 max_position eeprom 4095 - 0.00153398 rad
13 1 temperature_limit eeprom 80 0..100 1 °C
14 1 max_voltage eeprom 160 0..254 0.1 V
15 1 min_voltage eeprom 40 0..254 0.1 V
16 2 max_torque eeprom - 0..1000 1e-3 1
18 1 phase eeprom - 0..254
19 1 unload_condition eeprom 13 0..254
20 1 alarm_led eeprom 13 0..254
21 1 position_p_gain eeprom 32 0..254
22 1 position_d_gain eeprom 32 0..254
23 1 position_i_gain eeprom 0 0..254
24 1 punch eeprom 16 0..254 1e-3 1
25 1 integral_limit eeprom 0 0..254
26 1 cw_dead_band eeprom 1 0..16
27 1 ccw_dead_band eeprom 1 0..16
28 2 protection_current eeprom 1000 0..2047 6.5e-3 A
30 1 angular_resolution eeprom 1 1..128
31 2 homing_offset eeprom 0 -4095..4095 0.00153398 rad
33 1 operating_mode eeprom 0 0..3
34 1 current_p_gain eeprom 20 0..254
35 1 current_i_gain eeprom 10 0..254
37 1 velocity_p_gain eeprom 20 0..254
38 1 overcurrent_time eeprom 200 0..254 0.01 s
39 1 velocity_i_gain eeprom 2 0..254
40 1 torque_enable ram 0 0..2
41 1 goal_acceleration ram - 0..254 0.153398 rad/s²
42 2 goal_position ram 0 -32767..32767 0.00153398 rad
44 2 goal_current ram 1000 -2047..2047 6.5e-3 A
46 2 goal_velocity ram 100 -32767..32767 0.0766990 rad/s
48 2 torque_limit ram - 0..1000 1e-3 1
55 1 lock ram 1 0..1
56 2 present_position r - - 0.00153398 rad
58 2 present_velocity r - - 0.0766990 rad/s
60 2 present_load r - - 1e-3 1
62 1 present_voltage r - - 0.1 V
63 1 present_temperature r - - 1 °C
64 1 registered r 0
65 1 hardware_error r 0
66 1 moving r 0
67 2 target_position r - - 0.00153398 rad
69 2 present_current r - - 6.5e-3 A
`

func TestMemoryTableHLS(t *testing.T) {
	small := strings.NewReplacer("protection_current eeprom 1000", "protection_current eeprom 450",
		"goal_current ram 1000", "goal_current ram 450", "goal_velocity ram 100", "goal_velocity ram 250")
	for model, sheet := range map[string]string{
		"hls3930": sheetHLS, "hls3950": strings.Replace(sheetHLS, " r 4106", " r 4618", 1),
		"hls2915": small.Replace(strings.Replace(sheetHLS, " r 4106", " r 6922", 1)),
		"hls3915": small.Replace(strings.Replace(sheetHLS, " r 4106", " r 5130", 1)),
	} {
		for _, err := range servotest.Compare(ModelByName(model).Registers, sheet) {
			t.Errorf("%s: %v", model, err)
		}
	}
	if u := ModelByName("hls3915").Units(); !u.Current || u.MaxEffort != 1.5 || !u.Modes[hal.TorqueMode] ||
		u.Modes[hal.DutyMode] {
		t.Errorf("units: got %+v, want a current up to 1.5 A, torque and no duty", u)
	}
}

// bytesHLS are what an HLS3930M was read as: its firmware to its model, its EEPROM to the torque switch, its state.
const (
	firmwareBytesHLS = "03 2D 00 0A 10"
	setupBytesHLS    = "FD 01 00 00 00 00 50 A0 28 D4 03 10 0D 0D 20 20 00 10 00 01 01 E8 03 01 18 01 00 14 0A FF " +
		"14 C8 02 00"
	stateBytesHLS = "61 07 00 00 00 00 79 1E 00 00 00 61 07 02 00"
)

// What the chain says to an HLS3930M, byte for byte: at address 44 there is a current, and never the zero of an STS.
func TestChainSessionHLS(t *testing.T) {
	line := play(t, `
> FF FF 01 04 02 00 05 ??
< FF FF 01 07 00 `+firmwareBytesHLS+` ??
> FF FF 01 04 02 07 22 ??
< FF FF 01 24 00 `+setupBytesHLS+` ??
# the state as far as the current
> FF FF FE 05 82 38 0F 01 ??
< FF FF 01 11 00 `+stateBytesHLS+` ??
> FF FF 01 04 02 21 01 ??
< FF FF 01 03 00 00 ??
# the lock alone, the goal with 2.8 A and 88 rpm, the switch
> FF FF FE 06 83 37 01 01 01 ??
+ FF FF FE 0C 83 29 07 01 00 61 07 AF 01 78 00 ??
> FF FF 01 04 02 2A 02 ??
< FF FF 01 04 00 61 07 ??
> FF FF FE 06 83 28 01 01 01 ??
> FF FF FE 05 82 38 0F 01 ??
< FF FF 01 11 00 `+strings.Replace(stateBytesHLS, "02 00", "9A 80", 1)+` ??
# the look: mode, .., torque, goal and its current
> FF FF 01 04 02 21 21 ??
< FF FF 01 23 00 00 14 0A FF 14 C8 02 01 00 61 07 AF 01 78 00 D4 03 20 20 00 00 00 01 61 07 00 00 00 00 79 1E 00 00 ??
# half of the limit is half of the current
> FF FF FE 0C 83 29 07 01 00 E8 03 D8 00 78 00 ??
`)
	c := NewChain(servo.ChainConfig{Name: "arm", Line: line, Health: -1,
		Servos: []servo.ServoConfig{{ID: 1, Model: ModelByName("hls3930")}}})
	if err := errors.Join(c.Open(), c.Receive()); err != nil {
		t.Fatal(err)
	}
	if s := c.State(0); s.Position != 1889 || s.Velocity != 0 || math.Abs(s.Effort-0.013) > 1e-9 ||
		math.Abs(s.Voltage-12.1) > 1e-9 || s.Temperature != 30 {
		t.Errorf("state: got %+v", s)
	}
	c.SetGoal(0, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
	if err := errors.Join(c.Send(), c.Receive()); err != nil {
		t.Fatal(err)
	}
	if got := c.State(0).Effort; math.Abs(got+1.001) > 1e-9 {
		t.Errorf("effort: got %g A, want -1.001", got)
	}
	c.SetGoal(0, servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 1000, Limit: 0.5})
	if err := errors.Join(c.Send(), line.Close()); err != nil {
		t.Error(err)
	}
}

// An HLS is not driven as an STS, whose zero at address 44 leaves it limp, nor the other way round, also where the
// model's number is not published; a tool knows it.
func TestSeriesAreToldApart(t *testing.T) {
	for _, c := range []struct{ model, firmware, want string }{
		{"sts3032", firmwareBytesHLS, "got hls3930, want sts3032"},
		{"sts3032", "03 2D 00 0A 0F", "got model 3850, want sts3032"},
		{"hls3930", "03 0A 00 09 03", "got sts3215, want hls3930"},
		{"hls3930", "03 0A 00 0A 10", "got hls3930, want hls3930"}, // of an STS's firmware
	} {
		line := play(t, "> FF FF 01 04 02 00 05 ??\n< FF FF 01 07 00 "+c.firmware+" ??\n")
		err := NewChain(servo.ChainConfig{Line: line,
			Servos: []servo.ServoConfig{{ID: 1, Model: ModelByName(c.model)}}}).Open()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.model, err, c.want)
		}
	}
	line := play(t, "> FF FF 01 02 01 FB\n< FF FF 01 02 00 FC\n> FF FF 01 04 02 00 05 ??\n< FF FF 01 07 00 "+
		firmwareBytesHLS+" ??\n")
	f, err := Driver().Tool(line, servo.ToolConfig{Bus: "bench"}).Identify(1)
	if err != nil || f.Model != ModelByName("hls3930") || f.Firmware != "3.45" {
		t.Errorf("tool: got %+v, %v", f, err)
	}
}
