package laser_test

import (
	"fmt"
	"log"

	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/sim/emulator/laser"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// A program that finds its way by a laser is tried in a room of 6 m by 4 m, with an emulated LMS200 in it.
func Example() {
	room := laser.Room{Length: 6, Width: 4, X: 1.5, Y: 2.5}
	line := wire.NewLine("laser", 9600, 1, laser.NewSICK("LMS200;30106;V02.30", room))
	lms, err := lidar.NewSICK(lidar.SICKSettings{Name: "laser", Line: line.Open, Resolution: 100})
	if err != nil {
		log.Fatal(err)
	}
	if err := lms.Open(); err != nil {
		log.Fatal(err)
	}
	metres := make([]float64, lms.Geometry().Count)
	if err := lms.Read(metres); err != nil { // a scan's time passes, of the line's clock
		log.Fatal(err)
	}
	fmt.Printf("right %.2f m, ahead %.2f m, left %.2f m\n", metres[0], metres[90], metres[180])
	fmt.Println("closed:", lms.Close())
	// Output:
	// right 2.50 m, ahead 4.50 m, left 1.50 m
	// closed: <nil>
}
