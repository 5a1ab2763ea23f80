package main

import (
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// ofMotor turns what is wanted of a motor controller into what it can be told: an ODrive's axis has its place on a serial
// line, and an id on the CAN bus alone.
func (s *setup) ofMotor(protocol int) error {
	switch {
	case protocol == asODrive && s.newID >= 0:
		s.writes = append(s.writes, servo.Setting{Register: "can_node_id", Value: int64(s.newID)})
		s.newID = -1
	case protocol == asODriveCAN && s.newID >= 0:
		return &hal.Error{Kind: hal.Invalid, Bus: s.port, ID: s.id, Op: "setup",
			Err: errors.New("which endpoint of an ODrive is its node id depends on its firmware"),
			Try: fmt.Sprintf("odrivetool: odrv0.axis0.config.can.node_id = %d, odrv0.save_configuration(); or its serial line: halyard setup PORT --protocol odrive --id 0 --new-id %d",
				s.newID, s.newID)}
	}
	return nil
}
