package doctor

import (
	"errors"
	"os"

	"github.com/halyard-robotics/halyard/hal"
)

// hostFaultCases are what can be wrong on the machine's side of a line.
func hostFaultCases() []FaultCase {
	type files = map[string]string
	denied := &hal.Error{Kind: hal.Busy, Op: "open",
		Err: errors.New(`permission denied: you are not in group "dialout"`), Try: "sudo usermod -aG dialout $USER"}
	// A UART of a Raspberry Pi, and a slow adapter in addition to the U2D2.
	uart := files{"sys/class/tty/ttyAMA0/device/driver": "-> ../../../../bus/amba/drivers/uart-pl011",
		"dev/ttyAMA0": "", "proc/cmdline": "root=/dev/mmcblk0p2 console=ttyAMA0,115200 console=tty1\n"}
	const cp2105 = "sys/devices/usb1/1-2/1-2:1.0/ttyUSB1/tty/ttyUSB1/"
	slow := files{"sys/devices/usb1/1-2/idVendor": "10c4\n", "sys/devices/usb1/1-2/idProduct": "ea70\n",
		cp2105 + "dev": "", cp2105 + "device": "-> ../../../ttyUSB1",
		"sys/class/tty/ttyUSB1": "-> ../../devices/usb1/1-2/1-2:1.0/ttyUSB1/tty/ttyUSB1", "dev/ttyUSB1": "",
		"dev/serial/by-path/usb-0:2": "-> ../../ttyUSB1"}
	return []FaultCase{
		{"none, and a machine", arm, "", nil, OnMachine(nil), "", "", noID, 0, "", ""},
		{"adapter missing", arm, "", nil, onPort("/dev/serial/by-id/usb-other", 0, nil),
			"port", StateFail, noID, hal.Absent, "plugged in: " + AdapterName + " (FT232H)", "halyard ports"},
		{"no adapter at all", arm, "", nil,
			OnMachine(files{"dev/serial/by-id/usb-FTDI_U2D2": "gone", "sys/class/tty/ttyUSB0": "gone",
				"sys/class/tty/none": ""}),
			"port", StateFail, noID, hal.Absent, "no adapter is plugged in", "plug"},
		{"adapter refused by the system", arm, "", nil,
			refuse(&hal.Error{Kind: hal.Absent, Op: "open", Err: os.ErrNotExist}),
			"port", StateFail, noID, hal.Absent, "not exist", "halyard ports"},
		{"adapter unplugged", arm, "", nil, fault("unplug bus"), "port", StateFail, noID, hal.Absent, "gone", "plug"},
		{"adapter unplugged in the middle", arm, "", nil, fault("unplug bus from=100ms"), "port", StateFail, noID,
			hal.Absent, "vanished", "cable"},
		{"no permission", arm, "", nil, refuse(denied), "access", StateFail, noID, hal.Busy, "dialout", "usermod"},
		{"node without an adapter", arm, "", nil, OnMachine(files{"dev/ttyUSB0": "gone"}), "access", StateFail, noID,
			hal.Busy, "no such file", "udev"},
		{"port held", arm, "", nil, OnMachine(files{"proc/812/fd/7": "-> /dev/ttyUSB0",
			"proc/812/cmdline": "lerobot\x00"}),
			"holder", StateFail, noID, hal.Busy, "pid 812 (lerobot)", "kill 812"},
		{"kernel's console", arm, "", nil, onPort("/dev/ttyAMA0", 0, uart), "holder", StateFail, noID, hal.Busy,
			"console", "raspi-config"},
		{"ModemManager runs", arm, "", nil, OnMachine(files{"proc/99/comm": "ModemManager\n"}),
			"conflict", StateWarn, noID, 0, "ModemManager", "systemctl"},
		{"brltty runs", arm, "", nil, OnMachine(files{"proc/99/comm": "brltty\n"}), "conflict", StateWarn, noID, 0,
			"brltty", "systemctl"},
		{"name that changes", arm, "", nil, onPort("/dev/ttyUSB0", 0, nil), "name", StateWarn, noID, 0,
			"another adapter", AdapterName},
		{"adapter too slow", arm, "", nil, onPort("/dev/serial/by-path/usb-0:2", 3000000, slow),
			"rate", StateFail, noID, hal.Invalid, "a CP2105 at 2000000", "FT232H"},
		{"latency timer", arm, "", nil, slowAdapter, "latency", StateWarn, noID, 0, "16ms", "udev"},
		{"latency timer, emulated", arm, "buses.arm.timing.latency_timer=2ms", nil, nil, "latency", StateWarn, noID, 0,
			"2ms", "1ms"},
	}
}
