package lidar

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
	"github.com/halyard-robotics/halyard/servo"
)

// SICKState is the state that a scanner reports.
type SICKState struct {
	Version             string // of its program
	Boot                string // of the one that starts it
	Mode                byte   // SICKStream, SICKRequest ..
	Defect              bool   // it reports that it needs repair
	Variant             byte   // which kind of LMS
	Angle, Resolution   int    // °, 1/100 °
	Baud                uint16 // its divider
	KeepsBaud           bool   // over power-off
	Address             byte
	MeasuringMode, Unit byte // see SICKReach; 0 = cm, 1 = mm
	Laser               bool // on
}

// decodeSICKStatus takes the body of an answer to SICKStatus.
func decodeSICKStatus(p []byte) (SICKState, error) {
	if len(p) < lidarwire.SICKStatusLen || p[0] != byte(lidarwire.SICKStatus)|lidarwire.SICKReplyBit {
		return SICKState{}, fmt.Errorf("status: got %d bytes, want %d", len(p), lidarwire.SICKStatusLen)
	}
	le := binary.LittleEndian
	return SICKState{
		Version: string(bytes.Trim(p[1:8], " \x00")), Mode: p[8], Defect: p[9] != 0, Variant: p[18],
		MeasuringMode: p[102], Angle: int(le.Uint16(p[107:])), Resolution: int(le.Uint16(p[109:])),
		Baud: le.Uint16(p[116:]), KeepsBaud: p[119] != 0, Address: p[120], Unit: p[122], Laser: p[123] != 0,
		Boot: string(bytes.Trim(p[124:131], " \x00")),
	}, nil
}

// State reads the state of an open scanner. It stops the stream and starts it again.
func (d *SICK) State() (SICKState, error) {
	if d.port.Line == nil {
		return SICKState{}, d.fault(hal.Absent, servo.ErrDisconnected)
	}
	if err := d.mode(sickAck, lidarwire.SICKRequest); err != nil {
		return SICKState{}, err
	}
	p, err := d.ask(sickAck, 0, byte(lidarwire.SICKStatus))
	if err != nil {
		return SICKState{}, err
	}
	s, err := decodeSICKStatus(p)
	if err != nil {
		return s, d.fault(hal.BusFault, err)
	}
	return s, d.begin()
}

// SICKBauds are the modes that set the rate until power-off, by their rates. After power-on it is 9600.
func SICKBauds() []struct {
	Mode byte
	Rate int
} {
	return []struct {
		Mode byte
		Rate int
	}{{0x42, 9600}, {0x40, 38400}, {0x41, 19200}, {0x48, 500000}}
}
