package dynamixel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// The YM070-210-R099-RH, register by register: e-Manual, y/ym070-210-r099-rh, "Control Table Configuration". Where the
// manual has a size that the next address leaves no room for (min_voltage), the size is that of ROBOTIS' model files
// for ros2_control (dynamixel_hardware_interface, param/dxl_model/ym070_210_r099.model), which agree with it in all
// other rows, as Dynamixel2Arduino's y_control_table does. The ranges of present values and of registers with a sign
// are their sizes'.
const sheetY = `
0 2 model_number r 4030
2 4 model_information r -
6 1 firmware r -
7 1 id eeprom 1 0..252
8 2 bus_watchdog ram 0 -1..127 20e-3 s
10 1 shadow_id eeprom 255
11 1 protocol_type eeprom 2 2..2
12 1 baud_rate eeprom 1 0..9
13 1 return_delay eeprom 250 0..254 2e-6 s
15 1 status_return ram 2 0..2
16 1 registered r 0 0..1
32 1 drive_mode eeprom 0 0..77
33 1 operating_mode eeprom 3 0..3
34 1 startup eeprom 0 0..1
38 2 position_limit_threshold eeprom 0 0..32767 1.1984225e-5 rad
40 4 in_position_threshold eeprom 10 0..2147483647 1.1984225e-5 rad
44 4 following_error_threshold eeprom 0 0..2147483647 1.1984225e-5 rad
48 4 moving_threshold eeprom 10 0..2147483647 0.059921124 rad/s
52 4 homing_offset eeprom 0 -2147483648..2147483647 1.1984225e-5 rad
56 1 inverter_temperature_limit eeprom 80 0..100 1 °C
57 1 temperature_limit eeprom 60 0..100 1 °C
60 2 max_voltage eeprom 320 240..400 0.1 V
62 2 min_voltage eeprom 160 160..400 0.1 V
64 2 pwm_limit eeprom 1000 0..1000 1e-3 1
66 2 current_limit eeprom 2080 0..2080 0.01 A
68 4 acceleration_limit eeprom 161 0..389090 0.017453293 rad/s²
72 4 velocity_limit eeprom 2020 0..6486 0.0010471976 rad/s
76 4 max_position eeprom 262144 -2147483648..2147483647 1.1984225e-5 rad
84 4 min_position eeprom -262144 -2147483648..2147483647 1.1984225e-5 rad
96 4 gear_numerator eeprom 99 1..1045576
100 4 gear_denominator eeprom 1 1..1045576
104 2 safe_stop_time eeprom 200 0..32767 1e-3 s
106 2 brake_delay eeprom 0 0..32767 1e-3 s
108 2 goal_update_delay eeprom 0 0..32767 1e-3 s
110 1 overexcitation_voltage eeprom 100 0..100 0.01 1
111 1 normal_excitation_voltage eeprom 0 0..100 0.01 1
112 2 overexcitation_time eeprom 0 0..32767 1e-3 s
132 2 present_velocity_lpf_frequency eeprom 0 0..32767 0.1 Hz
134 2 goal_current_lpf_frequency eeprom 0 0..32767 0.1 Hz
136 2 position_ff_lpf_time eeprom 0 0..512 0.2e-3 s
138 2 velocity_ff_lpf_time eeprom 0 0..512 0.2e-3 s
152 1 controller_state r -
153 1 error_code r -
154 1 error_code_history_1 r -
155 1 error_code_history_2 r -
156 1 error_code_history_3 r -
157 1 error_code_history_4 r -
158 1 error_code_history_5 r -
159 1 error_code_history_6 r -
160 1 error_code_history_7 r -
161 1 error_code_history_8 r -
162 1 error_code_history_9 r -
163 1 error_code_history_10 r -
164 1 error_code_history_11 r -
165 1 error_code_history_12 r -
166 1 error_code_history_13 r -
167 1 error_code_history_14 r -
168 1 error_code_history_15 r -
169 1 error_code_history_16 r -
170 1 hybrid_save ram 0 0..2
212 4 velocity_i_gain ram 2446559 0..2147483647
216 4 velocity_p_gain ram 24778 0..2147483647
220 4 velocity_ff_gain ram 0 0..2147483647
224 4 position_d_gain ram 9090 0..2147483647
228 4 position_i_gain ram 0 0..2147483647
232 4 position_p_gain ram 6283185 0..2147483647
236 4 position_ff_gain ram 0 0..2147483647
240 4 profile_acceleration ram 161 0..389090 0.017453293 rad/s²
244 4 profile_velocity ram 2020 0..6486 0.0010471976 rad/s
248 4 profile_acceleration_time ram 400 0..262144 0.2e-3 s
252 4 profile_time ram 800 0..524288 0.2e-3 s
512 1 torque_enable ram 0 0..1
513 1 led ram 0 0..1
516 2 pwm_offset ram 0 -1000..1000 1e-3 1
518 2 current_offset ram 0 -2080..2080 0.01 A
520 4 velocity_offset ram 0 -6486..6486 0.0010471976 rad/s
524 2 goal_pwm ram 0 -1000..1000 1e-3 1
526 2 goal_current ram 0 -2080..2080 0.01 A
528 4 goal_velocity ram 0 -6486..6486 0.0010471976 rad/s
532 4 goal_position ram 0 -2147483648..2147483647 1.1984225e-5 rad
541 1 moving_status r -
542 2 realtime_tick r - - 1e-3 s
544 2 present_pwm r - - 1e-3 1
546 2 present_current r - - 0.01 A
548 4 present_velocity r - - 0.0010471976 rad/s
552 4 present_position r - - 1.1984225e-5 rad
560 4 position_trajectory r - - 1.1984225e-5 rad
564 4 velocity_trajectory r - - 1.1984225e-5 rad/s
568 2 present_voltage r - - 0.1 V
570 1 present_inverter_temperature r - - 1 °C
571 1 present_temperature r - - 1 °C
919 1 backup_ready r - 0..1
`

// What the other models have otherwise: number, gear, thresholds, motor temperature, default and greatest velocity and
// acceleration, greatest current, and of those with a brake its delays and voltage (e-Manual, y/<model>-rh).
func TestControlTablesY(t *testing.T) {
	for model, v := range map[string]struct {
		number, gear, threshold, temperature, velocity, mostVelocity, acceleration, mostAcceleration, current int
		brake                                                                                                 bool
	}{
		"ym070-210-m001": {4000, 1, 1000, 80, 550000, 642200, 44000, 38520000, 2080, false},
		"ym070-210-b001": {4010, 1, 1000, 80, 550000, 642200, 44000, 38520000, 2080, true},
		"ym070-210-r051": {4020, 51, 19, 60, 3921, 12592, 313, 755294, 2080, false},
		"ym070-210-r099": {4030, 99, 10, 60, 2020, 6486, 161, 389090, 2080, false},
		"ym070-210-a051": {4040, 51, 19, 60, 3921, 12592, 313, 755294, 2080, true},
		"ym070-210-a099": {4050, 99, 10, 60, 2020, 6486, 161, 389090, 2080, true},
		"ym080-230-m001": {4120, 1, 1000, 80, 310000, 355600, 24800, 21336000, 2240, false},
		"ym080-230-b001": {4130, 1, 1000, 80, 310000, 355600, 24800, 21336000, 2240, true},
		"ym080-230-r051": {4140, 51, 19, 60, 3921, 6972, 313, 418352, 2240, false},
		"ym080-230-r099": {4150, 99, 10, 60, 2020, 3591, 161, 215515, 2240, false},
		"ym080-230-a051": {4160, 51, 19, 60, 3921, 6972, 313, 418352, 2240, true},
		"ym080-230-a099": {4170, 99, 10, 60, 2020, 3591, 161, 215515, 2240, true},
	} {
		const rpm, accel = "0.0010471976 rad/s", "0.017453293 rad/s²"
		other := fmt.Sprintf(`0 2 model_number r %[1]d
96 4 gear_numerator eeprom %[2]d 1..1045576
40 4 in_position_threshold eeprom %[3]d 0..2147483647 1.1984225e-5 rad
48 4 moving_threshold eeprom %[3]d 0..2147483647 0.059921124 rad/s
57 1 temperature_limit eeprom %[4]d 0..100 1 °C
72 4 velocity_limit eeprom %[5]d 0..%[6]d %[10]s
244 4 profile_velocity ram %[5]d 0..%[6]d %[10]s
520 4 velocity_offset ram 0 -%[6]d..%[6]d %[10]s
528 4 goal_velocity ram 0 -%[6]d..%[6]d %[10]s
68 4 acceleration_limit eeprom %[7]d 0..%[8]d %[11]s
240 4 profile_acceleration ram %[7]d 0..%[8]d %[11]s
66 2 current_limit eeprom 2080 0..%[9]d 0.01 A
518 2 current_offset ram 0 -%[9]d..%[9]d 0.01 A
526 2 goal_current ram 0 -%[9]d..%[9]d 0.01 A`, v.number, v.gear, v.threshold, v.temperature, v.velocity, v.mostVelocity, v.acceleration, v.mostAcceleration, v.current, rpm, accel)
		if v.brake {
			other += "\n106 2 brake_delay eeprom 20 0..32767 1e-3 s\n108 2 goal_update_delay eeprom 200 0..32767 " +
				"1e-3 s\n" +
				"111 1 normal_excitation_voltage eeprom 30 0..100 0.01 1\n112 2 overexcitation_time eeprom 200 " +
				"0..32767 1e-3 s"
		}
		m := ModelByName(model)
		if m == nil {
			t.Errorf("%s: got no model", model)
			continue
		}
		var table []servo.Register
		for _, r := range m.Registers { // the indirect area follows
			if !strings.HasPrefix(r.Name, "indirect_") {
				table = append(table, r)
			}
		}
		for _, err := range servotest.Compare(table, over(sheetY, other)) {
			t.Errorf("%s: %v", model, err)
		}
		for name, addr := range map[string]uint16{"indirect_address_1": 256, "indirect_address_128": 510,
			"indirect_data_1": 634, "indirect_data_128": 761} {
			if r := m.Register(name); r == nil || r.Addr != addr {
				t.Errorf("%s: %s: got %+v, want it at %d", model, name, r, addr)
			}
		}
		for code, rate := range map[byte]int{9: 10500000, 8: 6000000, 7: 4500000, 6: 4000000, 5: 3000000, 4: 2000000,
			3: 1000000, 2: 115200, 1: 57600, 0: 9600, 10: 0} {
			if got := m.Rate(code); got != rate {
				t.Errorf("%s: code %d: got %d, want %d", model, code, got, rate)
			}
		}
	}
}

// The e-Manual's list under "Error Code(153)": label, torque on, hold, error clear.
func TestErrorCodesY(t *testing.T) {
	m := ModelByName("ym080-230-r051")
	for code, want := range map[byte]string{
		1: "over voltage NNY", 2: "low voltage NNY", 3: "inverter overheating NNY", 4: "motor overheating NNY",
		5: "overload NNY", 7: "inverter NNN",
		9: "battery warning YNN", 10: "battery NNN", 11: "magnet: multi-turn position lost NNN", 12: "multi-turn NNN",
		13: "encoder NNN",
		14: "hall sensor NNN", 15: "calibration data NNN", 17: "following YYY", 18: "bus watchdog YYY",
		19: "over speed YYY",
		20: "position limit reached YYY", 6: "unknown NNN", 21: "unknown NNN",
	} {
		e := m.ErrorCode(code)
		yes := func(b bool) string {
			if b {
				return "Y"
			}
			return "N"
		}
		if got := e.Name + " " + yes(e.Torque) + yes(e.Hold) + yes(e.Clears); got != want || e.Code != code {
			t.Errorf("code %d: got %d %s, want %s", code, e.Code, got, want)
		}
		if code != 9 && m.Alarms(code) == 0 {
			t.Errorf("code %d: got no alarm", code)
		}
		if got := m.Meaning(m.Register("error_code"), int64(code)); got != e.Name {
			t.Errorf("meaning of %d: got %q, want %q", code, got, e.Name)
		}
	}
	if m.ErrorCode(0) != nil || m.Alarms(0) != 0 || ModelByName("xm430-w350").ErrorCode(5) != nil {
		t.Error("code 0, or a code of another table: got an error")
	}
	if got := m.Meaning(m.Register("controller_state"), 5); got != "running" {
		t.Errorf("state 5: got %q, want running", got)
	}
}
