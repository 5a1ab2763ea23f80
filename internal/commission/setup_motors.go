package commission

import (
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/internal/catalog"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// ofMotor turns what is wanted of a motor controller into what it can be told: an ODrive's axis has its place on a serial
// line, and an id on the CAN bus alone.
func (s *Setup) ofMotor(protocol int) error {
	switch {
	case protocol == catalog.AsODrive && s.NewID >= 0:
		s.Writes = append(s.Writes, servo.Setting{Register: "can_node_id", Value: int64(s.NewID)})
		s.NewID = -1
	case protocol == catalog.AsODriveCAN && s.NewID >= 0:
		return &hal.Error{Kind: hal.Invalid, Bus: s.Port, ID: s.Id, Op: "setup",
			Err: errors.New("which endpoint of an ODrive is its node id depends on its firmware"),
			Try: fmt.Sprintf("odrivetool: odrv0.axis0.config.can.node_id = %d, odrv0.save_configuration(); or its serial line: halyard setup PORT --protocol odrive --id 0 --new-id %d",
				s.NewID, s.NewID)}
	}
	return nil
}
