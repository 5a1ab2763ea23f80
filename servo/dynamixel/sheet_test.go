package dynamixel

import (
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/servo/servotest"
)

// hardware.md, sections 1.3 to 1.6, register by register. Positions are in rad a count, speeds in rad/s, currents in A.

const sheetAX = `
0 2 model_number r 12
2 1 firmware r -
3 1 id eeprom 1 0..253
4 1 baud_rate eeprom 1
5 1 return_delay eeprom 250 0..254 2e-6 s
6 2 cw_angle_limit eeprom 0 0..1023 0.00511826 rad
8 2 ccw_angle_limit eeprom 1023 0..1023 0.00511826 rad
11 1 temperature_limit eeprom 70 - 1 °C
12 1 min_voltage eeprom 60 - 0.1 V
13 1 max_voltage eeprom 140 - 0.1 V
14 2 max_torque eeprom 1023 0..1023
16 1 status_return eeprom 2 0..2
17 1 alarm_led eeprom 36
18 1 shutdown eeprom 36
24 1 torque_enable ram 0 0..1
25 1 led ram 0 0..1
26 1 cw_compliance_margin ram 1 0..255
27 1 ccw_compliance_margin ram 1 0..255
28 1 cw_compliance_slope ram 32
29 1 ccw_compliance_slope ram 32
30 2 goal_position ram - 0..1023 0.00511826 rad
32 2 moving_speed ram 0 -1023..1023 0.01162389 rad/s
34 2 torque_limit ram 1023 0..1023
36 2 present_position r - 0..1023 0.00511826 rad
38 2 present_velocity r - -1023..1023 0.01162389 rad/s
40 2 present_load r - -1023..1023 0.000977517 1
42 1 present_voltage r - - 0.1 V
43 1 present_temperature r - - 1 °C
44 1 registered r 0 0..1
46 1 moving r 0 0..1
47 1 lock ram 0 0..1
48 2 punch ram 32 32..1023
`

// What an MX-28 has otherwise, or beside; a PID takes the place of compliance.
const sheetMX28 = `
0 2 model_number r 29
4 1 baud_rate eeprom 34
6 2 cw_angle_limit eeprom 0 0..4095 0.00153398 rad
8 2 ccw_angle_limit eeprom 4095 0..4095 0.00153398 rad
11 1 temperature_limit eeprom 80 - 1 °C
13 1 max_voltage eeprom 160 - 0.1 V
20 2 multi_turn_offset eeprom 0 -24576..24576 0.00153398 rad
22 1 resolution_divider eeprom 1 1..4
26 1 position_d_gain ram 0
27 1 position_i_gain ram 0
28 1 position_p_gain ram 32
30 2 goal_position ram - -28672..28672 0.00153398 rad
32 2 moving_speed ram 0 -1023..1023 0.01193805 rad/s
36 2 present_position r - -28672..28672 0.00153398 rad
38 2 present_velocity r - -1023..1023 0.01193805 rad/s
48 2 punch ram 0
50 2 realtime_tick r - - 1e-3 s
73 1 goal_acceleration ram 0 0..254 0.149801 rad/s²
`

const sheetMXCurrent = `
68 2 present_current r 2048 0..4095 4.5e-3 A
70 1 torque_mode ram 0 0..1
71 2 goal_torque ram 0 -1023..1023 4.5e-3 A
`

// The XM430-W350, which stands for all X.
const sheetX = `
0 2 model_number r 1020
2 4 model_information r -
6 1 firmware r -
7 1 id eeprom 1 0..252
8 1 baud_rate eeprom 1 0..7
9 1 return_delay eeprom 250 0..254 2e-6 s
10 1 drive_mode eeprom 0
11 1 operating_mode eeprom 3 0..16
12 1 shadow_id eeprom 255
13 1 protocol_type eeprom 2
20 4 homing_offset eeprom 0 -1044479..1044479 0.00153398 rad
24 4 moving_threshold eeprom 10 0..1023 0.0239808 rad/s
31 1 temperature_limit eeprom 80 0..100 1 °C
32 2 max_voltage eeprom 160 95..160 0.1 V
34 2 min_voltage eeprom 95 95..160 0.1 V
36 2 pwm_limit eeprom 885 0..885 0.00113 1
38 2 current_limit eeprom 1193 0..1193 2.69e-3 A
44 4 velocity_limit eeprom 350 0..1023 0.0239808 rad/s
48 4 max_position eeprom 4095 0..4095 0.00153398 rad
52 4 min_position eeprom 0 0..4095 0.00153398 rad
60 1 startup eeprom 0 0..3
63 1 shutdown eeprom 52
64 1 torque_enable ram 0 0..1
65 1 led ram 0 0..1
68 1 status_return ram 2 0..2
69 1 registered r 0 0..1
70 1 hardware_error r 0
76 2 velocity_i_gain ram 1920 0..16383
78 2 velocity_p_gain ram 100 0..16383
80 2 position_d_gain ram 0 0..16383
82 2 position_i_gain ram 0 0..16383
84 2 position_p_gain ram 800 0..16383
88 2 feedforward_2nd_gain ram 0 0..16383
90 2 feedforward_1st_gain ram 0 0..16383
98 1 bus_watchdog ram 0 -1..127 20e-3 s
100 2 goal_pwm ram - -885..885 0.00113 1
102 2 goal_current ram - -1193..1193 2.69e-3 A
104 4 goal_velocity ram - -1023..1023 0.0239808 rad/s
108 4 profile_acceleration ram 0 0..32767 0.37451 rad/s²
112 4 profile_velocity ram 0 0..32767 0.0239808 rad/s
116 4 goal_position ram - -1048575..1048575 0.00153398 rad
120 2 realtime_tick r - 0..32767 1e-3 s
122 1 moving r 0 0..1
123 1 moving_status r -
124 2 present_pwm r - - 0.00113 1
126 2 present_current r - - 2.69e-3 A
128 4 present_velocity r - - 0.0239808 rad/s
132 4 present_position r - - 0.00153398 rad
136 4 velocity_trajectory r - - 0.0239808 rad/s
140 4 position_trajectory r - - 0.00153398 rad
144 2 present_voltage r - - 0.1 V
146 1 present_temperature r - - 1 °C
147 1 backup_ready r - 0..1
`

// What an XL330-M288 has otherwise.
const sheetXL330 = `
0 2 model_number r 1200
8 1 baud_rate eeprom 1 0..6
31 1 temperature_limit eeprom 70 0..100 1 °C
32 2 max_voltage eeprom 70 31..70 0.1 V
34 2 min_voltage eeprom 35 31..70 0.1 V
38 2 current_limit eeprom 1750 0..1750 1e-3 A
44 4 velocity_limit eeprom 445 0..2047 0.0239808 rad/s
62 1 pwm_slope eeprom 140 1..255 1.977 V/s
63 1 shutdown eeprom 53
76 2 velocity_i_gain ram 1600 0..16383
78 2 velocity_p_gain ram 180 0..16383
84 2 position_p_gain ram 400 0..16383
102 2 goal_current ram - -1750..1750 1e-3 A
104 4 goal_velocity ram - -2047..2047 0.0239808 rad/s
126 2 present_current r - - 1e-3 A
`

// An XL430 has a load in place of a current and its goal.
const sheetXL430 = `
0 2 model_number r 1060
31 1 temperature_limit eeprom 72 0..100 1 °C
32 2 max_voltage eeprom 140 60..140 0.1 V
34 2 min_voltage eeprom 60 60..140 0.1 V
44 4 velocity_limit eeprom 265 0..1023 0.0239808 rad/s
76 2 velocity_i_gain ram 1000 0..16383
80 2 position_d_gain ram 4000 0..16383
84 2 position_p_gain ram 640 0..16383
126 2 present_load r - -1000..1000 1e-3 1
`

const sheetXL320 = `
0 2 model_number r 350
2 1 firmware r -
3 1 id eeprom 1 0..252
4 1 baud_rate eeprom 3 0..3
5 1 return_delay eeprom 250 0..254 2e-6 s
6 2 cw_angle_limit eeprom 0 0..1023 0.00511826 rad
8 2 ccw_angle_limit eeprom 1023 0..1023 0.00511826 rad
11 1 operating_mode eeprom 2 1..2
12 1 temperature_limit eeprom 65 - 1 °C
13 1 min_voltage eeprom 60 - 0.1 V
14 1 max_voltage eeprom 90 - 0.1 V
15 2 max_torque eeprom - 0..1023
17 1 status_return eeprom 2 0..2
18 1 shutdown eeprom 3 0..7
24 1 torque_enable ram 0 0..1
25 1 led ram 0 0..7
27 1 position_d_gain ram 0
28 1 position_i_gain ram 0
29 1 position_p_gain ram 32
30 2 goal_position ram - 0..1023 0.00511826 rad
32 2 moving_speed ram - -1023..1023 0.01162389 rad/s
35 2 torque_limit ram - 0..1023
37 2 present_position r - 0..1023 0.00511826 rad
39 2 present_velocity r - -1023..1023 0.01162389 rad/s
41 2 present_load r - -1023..1023 0.000977517 1
45 1 present_voltage r - - 0.1 V
46 1 present_temperature r - - 1 °C
47 1 registered r 0 0..1
49 1 moving r 0 0..1
50 1 hardware_error r 0
51 2 punch ram -
`

// over is base with the rows of more in place of those of the same name, and without some.
func over(base, more string, without ...string) string {
	name := func(line string) string { return strings.Fields(line)[2] }
	gone := map[string]bool{}
	for _, n := range without {
		gone[n] = true
	}
	rows := strings.Split(strings.TrimSpace(more), "\n")
	for _, line := range rows {
		gone[name(line)] = true
	}
	for _, line := range strings.Split(strings.TrimSpace(base), "\n") {
		if !gone[name(line)] {
			rows = append(rows, line)
		}
	}
	return strings.Join(rows, "\n")
}

func TestControlTables(t *testing.T) {
	mx := over(sheetAX, sheetMX28, "cw_compliance_margin", "ccw_compliance_margin", "cw_compliance_slope",
		"ccw_compliance_slope")
	for model, sheet := range map[string]string{
		"ax-12a": sheetAX, "mx-28": mx, "xm430-w350": sheetX, "xl330-m288": over(sheetX, sheetXL330),
		"xl430-w250": over(sheetX, sheetXL430, "current_limit", "goal_current", "present_current", "velocity_p_gain") +
			"\n78 2 velocity_p_gain ram 100 0..16383",
		"xl-320": sheetXL320,
		"mx-64":  over(over(mx, sheetMXCurrent), "0 2 model_number r 310\n13 1 max_voltage eeprom 240 - 0.1 V"),
		"mx-28-2": over(sheetX, "0 2 model_number r 30\n40 4 acceleration_limit eeprom 32767 - 0.37451 rad/s²\n126 "+
			"2 present_load r - -1000..1000 1e-3 1\n"+
			"44 4 velocity_limit eeprom - 0..1023 0.0239808 rad/s\n84 2 position_p_gain ram 850", "current_limit",
			"goal_current", "present_current", "backup_ready"),
		"xm540-w270": over(sheetX, `0 2 model_number r 1120
38 2 current_limit eeprom 2047 0..2047 2.69e-3 A
44 4 velocity_limit eeprom - 0..1023 0.0239808 rad/s
56 1 external_port_mode_1 eeprom -
57 1 external_port_mode_2 eeprom -
58 1 external_port_mode_3 eeprom -
102 2 goal_current ram - -2047..2047 2.69e-3 A
152 2 external_port_data_1 ram -
154 2 external_port_data_2 ram -
156 2 external_port_data_3 ram -`),
	} {
		m := ModelByName(model)
		table := m.Registers
		for i := range table { // the indirect area has a test of its own
			if table[i].Name == "indirect_address_1" {
				table = table[:i]
				break
			}
		}
		for _, err := range servotest.Compare(table, sheet) {
			t.Errorf("%s: %v", model, err)
		}
	}
}

// The indirect area: 1..28 at 168 and 224, 29..56 at 578 and 634; on the XL330 1..20 at 168 and 208.
func TestIndirectArea(t *testing.T) {
	for _, c := range []struct {
		model, register string
		addr            uint16
		most            int64
	}{
		{"xm430-w350", "indirect_address_1", 168, 661}, {"xm430-w350", "indirect_address_28", 222, 661},
		{"xm430-w350", "indirect_data_1", 224, 255},
		{"xm430-w350", "indirect_data_28", 251, 255}, {"xm430-w350", "indirect_address_29", 578, 661},
		{"xm430-w350", "indirect_address_56", 632, 661},
		{"xm430-w350", "indirect_data_29", 634, 255}, {"xm430-w350", "indirect_data_56", 661, 255},
		{"xl330-m288", "indirect_address_1", 168, 227}, {"xl330-m288", "indirect_address_20", 206, 227},
		{"xl330-m077", "indirect_data_1", 208, 255},
		{"xl330-m288", "indirect_data_20", 227, 255},
	} {
		if r := ModelByName(c.model).Register(c.register); r == nil || r.Addr != c.addr || r.Max != c.most {
			t.Errorf("%s: %s: got %+v, want it at %d", c.model, c.register, r, c.addr)
		}
	}
	for _, name := range []string{"indirect_address_21", "indirect_data_21", "indirect_address_29"} {
		if ModelByName("xl330-m288").Register(name) != nil {
			t.Errorf("xl330-m288: %s: got one", name)
		}
	}
}

// The codes of baud_rate, by section: 1.3 and 1.4 divide 2 Mbit/s, 1.5 and 1.6 have tables.
func TestBaudCodes(t *testing.T) {
	for model, codes := range map[string]map[byte]int{
		"ax-12a": {1: 1000000, 3: 500000, 4: 400000, 7: 250000, 9: 200000, 16: 115200, 34: 57600, 103: 19200,
			207: 9600},
		"mx-28":      {0: 2000000, 1: 1000000, 34: 57600, 250: 2250000, 251: 2500000, 252: 3000000},
		"xm430-w350": {0: 9600, 1: 57600, 2: 115200, 3: 1000000, 4: 2000000, 5: 3000000, 6: 4000000, 7: 4500000},
		"xl330-m288": {0: 9600, 1: 57600, 2: 115200, 3: 1000000, 4: 2000000, 5: 3000000, 6: 4000000, 7: 0},
		"xl-320":     {0: 9600, 1: 57600, 2: 115200, 3: 1000000},
	} {
		for code, rate := range codes {
			if got := ModelByName(model).Rate(code); got != rate {
				t.Errorf("%s: code %d: got %d, want %d", model, code, got, rate)
			}
		}
	}
}
