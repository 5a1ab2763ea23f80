package can_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/drivers/can"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/cybergear"
)

// A frame is sent, and what comes for a second is printed as candump would. vcan0 does for a try:
//
//	ip link add vcan0 type vcan && ip link set vcan0 up
func ExampleOpen() {
	line, err := can.Open("can0", 1_000_000, can.Filter{ID: 0x200, Mask: 0x700}) // 0x200 to 0x2FF come up
	if err != nil {
		// hal.Absent: none of that name, down or bus-off; hal.Invalid: another rate. Each says what to type
		log.Fatal(err)
	}
	defer line.Close()
	out := servo.CANFrame{ID: 0x123, Len: 2, Data: [8]byte{1, 2}}
	if _, err := line.Write(servo.AppendCAN(nil, &out)); err != nil {
		log.Fatal(err)
	}
	raw := make([]byte, 16*servo.CANSize)
	for until := line.Now() + time.Second; line.Now() < until; {
		n, err := line.Read(raw, 100*time.Millisecond)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			log.Fatal(err)
		}
		for p := raw[:n]; len(p) > 0; p = p[servo.CANSize:] {
			var in servo.CANFrame
			if err := servo.ParseCAN(p[:servo.CANSize], &in); err == nil {
				fmt.Println(in.String())
			}
		}
	}
}

// Motors on a bus, whose adapter may be unplugged: the chain finds it again.
func ExampleReopener() {
	line, err := can.Open("can0", cybergear.Bitrate)
	if err != nil {
		log.Fatal(err)
	}
	leg := cybergear.NewChain(servo.ChainConfig{Name: "leg", Line: line,
		Reopen: can.Reopener("can0", cybergear.Bitrate),
		Servos: []servo.ServoConfig{{ID: 1, Model: cybergear.ModelByName("cybergear"), Joint: "knee"}}})
	defer leg.Close() // and line with it
	if err := leg.Open(); err != nil {
		log.Fatal(err)
	}
}
