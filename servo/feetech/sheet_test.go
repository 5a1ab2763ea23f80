package feetech

import (
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/servo/servotest"
)

// hardware.md, section 2, register by register.
const sheetSTS = `
0 1 firmware r -
1 1 firmware_minor r -
2 1 byte_order r 0
3 2 model_number r 777
5 1 id eeprom 1 0..253
6 1 baud_rate eeprom 0 0..7
7 1 return_delay eeprom - 0..254 2e-6 s
8 1 response_level eeprom 1 0..1
9 2 min_position eeprom - - 0.00153398 rad
11 2 max_position eeprom - - 0.00153398 rad
13 1 temperature_limit eeprom - - 1 °C
14 1 max_voltage eeprom - - 0.1 V
15 1 min_voltage eeprom - - 0.1 V
16 2 max_torque eeprom - 0..1000 1e-3 1
18 1 phase eeprom -
19 1 unload_condition eeprom -
20 1 alarm_led eeprom -
21 1 position_p_gain eeprom -
22 1 position_d_gain eeprom -
23 1 position_i_gain eeprom -
24 2 punch eeprom - - 1e-3 1
26 1 cw_dead_band eeprom -
27 1 ccw_dead_band eeprom -
28 2 protection_current eeprom - - 6.5e-3 A
30 1 angular_resolution eeprom -
31 2 homing_offset eeprom 0 -2047..2047 0.00153398 rad
33 1 operating_mode eeprom 0 0..3
34 1 protective_torque eeprom - 0..100 0.01 1
35 1 protection_time eeprom - - 0.01 s
36 1 overload_torque eeprom - 0..100 0.01 1
37 1 velocity_p_gain eeprom -
38 1 overcurrent_time eeprom - - 0.01 s
39 1 velocity_i_gain eeprom -
40 1 torque_enable ram 0 0..128
41 1 goal_acceleration ram 0 0..254 0.153398 rad/s²
42 2 goal_position ram - -32767..32767 0.00153398 rad
44 2 goal_time ram 0 -1000..1000 1e-3 1
46 2 goal_velocity ram 0 -32767..32767 0.00153398 rad/s
48 2 torque_limit ram 1000 0..1000 1e-3 1
55 1 lock ram 1 0..1
56 2 present_position r - - 0.00153398 rad
58 2 present_velocity r - - 0.00153398 rad/s
60 2 present_load r - - 1e-3 1
62 1 present_voltage r - - 0.1 V
63 1 present_temperature r - - 1 °C
64 1 registered r 0
65 1 hardware_error r 0
66 1 moving r 0
69 2 present_current r - - 6.5e-3 A
80 1 moving_threshold r -
81 1 dts r -
82 1 speed_unit r -
84 1 max_speed r -
85 1 max_acceleration r -
86 1 acceleration_multiplier r -
`

// The SCS has no offset and no mode, its protection at other addresses, and its lock at 48.
const sheetSCS = `
0 1 firmware r -
1 1 firmware_minor r -
2 1 byte_order r 1
3 2 model_number r 1284
5 1 id eeprom 1 0..253
6 1 baud_rate eeprom 0 0..7
7 1 return_delay eeprom - 0..254 2e-6 s
8 1 response_level eeprom 1 0..1
9 2 min_position eeprom - 0..1023 0.00511826 rad
11 2 max_position eeprom - 0..1023 0.00511826 rad
13 1 temperature_limit eeprom - - 1 °C
14 1 max_voltage eeprom - - 0.1 V
15 1 min_voltage eeprom - - 0.1 V
16 2 max_torque eeprom - 0..1000 1e-3 1
19 1 unload_condition eeprom -
20 1 alarm_led eeprom -
21 1 position_p_gain eeprom -
22 1 position_d_gain eeprom -
23 1 position_i_gain eeprom -
24 2 punch eeprom - - 1e-3 1
26 1 cw_dead_band eeprom -
27 1 ccw_dead_band eeprom -
37 1 protective_torque eeprom - 0..100 0.01 1
38 1 protection_time eeprom - - 0.01 s
40 1 torque_enable ram 0 0..1
42 2 goal_position ram - 0..1023 0.00511826 rad
44 2 goal_time ram 0 - 1e-3 s
46 2 goal_velocity ram 0 - 0.00511826 rad/s
48 1 lock ram 1 0..1
56 2 present_position r - - 0.00511826 rad
58 2 present_velocity r - - 0.00511826 rad/s
60 2 present_load r - - 1e-3 1
62 1 present_voltage r - - 0.1 V
63 1 present_temperature r - - 1 °C
64 1 registered r 0
65 1 hardware_error r 0
66 1 moving r 0
`

func TestMemoryTables(t *testing.T) {
	for model, sheet := range map[string]string{
		"sts3215": sheetSTS, "sts3250": strings.Replace(sheetSTS, " r 777", " r 2825", 1),
		"sts3032": strings.Replace(sheetSTS, " r 777", " r 0", 1),
		"scs0009": sheetSCS,
	} {
		for _, err := range servotest.Compare(ModelByName(model).Registers, sheet) {
			t.Errorf("%s: %v", model, err)
		}
	}
	// The vendor's codes; LeRobot's 5 to 7 are each a step too slow.
	for code, rate := range []int{1000000, 500000, 250000, 128000, 115200, 76800, 57600, 38400} {
		if got := ModelByName("sts3215").Rate(byte(code)); got != rate {
			t.Errorf("baud code %d: got %d, want %d", code, got, rate)
		}
	}
}

// What a sign's bit leaves for the magnitude, and what is beyond it: LeRobot's "Magnitude 2114 exceeds 2047".
func TestMagnitudes(t *testing.T) {
	m := ModelByName("sts3215")
	for _, c := range []struct {
		register string
		most     int64
		bytes    string // of -most
	}{{"homing_offset", 2047, "FF 0F"}, {"goal_position", 32767, "FF FF"}, {"goal_velocity", 32767, "FF FF"},
		{"goal_time", 1000, "E8 07"}} {
		r := m.Register(c.register)
		if got := string(r.Append(nil, -c.most)); got != string(servotest.Hex(t, c.bytes)) ||
			r.Decode([]byte(got)) != -c.most {
			t.Errorf("%s: -%d: got % X, want %s", c.register, c.most, got, c.bytes)
		}
		for _, v := range []int64{c.most + 1, -c.most - 1} {
			if r.CheckWrite(m.Name, v) == nil {
				t.Errorf("%s: %d: taken", c.register, v)
			}
		}
	}
	if err := m.Register("homing_offset").CheckWrite(m.Name, 2114); err == nil ||
		err.Error() != "got 2114, want -2047..2047" {
		t.Errorf("2114: got %v", err)
	}
}
