package lidar

import (
	"fmt"

	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
)

// HokuyoModel describes a model's measurement, as in its reply to PP.
type HokuyoModel struct {
	Name               string
	MinRange, MaxRange int // DMIN, DMAX, mm
	Turn               int // ARES: steps of a whole turn
	First, Last        int // AMIN, AMAX: the steps it measures
	Front              int // AFRT: the one straight ahead
	RPM                int // SCAN
	// Void is the code for no echo within range; 0 = the model has no such code. UST models report more than MaxRange
	// instead.
	Void int
}

// HokuyoModels are the models known, from their data sheets. The UST ones are on TCP, 192.168.0.10:10940 as shipped.
func HokuyoModels() []HokuyoModel {
	return []HokuyoModel{
		{"URG-04LX", 20, 5600, 1024, 44, 725, 384, 600, 0},
		{"URG-04LX-UG01", 20, 5600, 1024, 44, 725, 384, 600, 0},
		{"UBG-04LX-F01", 20, 5600, 1024, 44, 725, 384, 2142, 0},
		{"UTM-30LX", 23, 60000, 1440, 0, 1080, 540, 2400, 1},
		{"UST-10LX", 20, 30000, 1440, 0, 1080, 540, 2400, 0},
		{"UST-20LX", 20, 60000, 1440, 0, 1080, 540, 2400, 0},
	}
}

// HokuyoModelOf is the model called name.
func HokuyoModelOf(name string) (HokuyoModel, error) {
	for _, m := range HokuyoModels() {
		if m.Name == name {
			return m, nil
		}
	}
	return HokuyoModel{}, fmt.Errorf("lidar: model: got %q, want one of lidar.HokuyoModels", name)
}

// scipMeaning is the meaning of a status (C-42-03320B, sections 8 and 9); "" if unknown.
func scipMeaning(command, status string) string {
	names := func(list ...string) string {
		if n := int(status[1] - '1'); status[0] == '0' && n >= 0 && n < len(list) {
			return list[n]
		}
		return ""
	}
	switch {
	case len(status) != 2 || len(command) < 2:
		return ""
	case status[0] == '0' && status[1] >= 'A' && status[1] <= 'I':
		return [...]string{"no answer could be made", "no room, or done already", "parameters are missing",
			"undefined command", "undefined command", "parameters are missing", "more than 16 characters",
			"invalid characters", "it is being updated"}[status[1]-'A']
	}
	switch command[:2] {
	case lidarwire.SCIPStream, lidarwire.SCIPStreamTwo, lidarwire.SCIPOnce, lidarwire.SCIPOnceShort:
		switch {
		case status == "10":
			return "the laser is off"
		case status >= "21" && status <= "49":
			return "it stopped to verify an error"
		case status >= "50" && status <= "97":
			return "its laser or motor is in trouble"
		}
		return names("first step: no number", "last step: no number", "cluster: no number", "last step: out of range",
			"last step: before the first", "interval: no number", "count of scans: no number")
	case lidarwire.SCIPLaserOn:
		return names("the laser is defective", "the laser is on already")
	case lidarwire.SCIPRate:
		return names("rate: no number", "rate: out of range", "it has this rate already", "this model has no such rate")
	case lidarwire.SCIPTime:
		return names("no such code", "its clock is being set already", "its clock is not being set",
			"its clock is not being set")
	}
	return ""
}

// scipMaxShort is the greatest value of two characters.
const scipMaxShort = 1<<12 - 1

// scipMaxLine bounds a block: a scan of 1081 values with its lines, and bytes in front of it.
const scipMaxLine = 8192

// SCIPBauds are the rates that SS accepts.
func SCIPBauds() []int { return []int{19200, 38400, 57600, 115200, 250000, 500000, 750000} }
