package serial_test

import (
	"fmt"
	"log"

	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/feetech"
)

// All drivers of devices on a serial line take a Line. Use a path below /dev/serial/by-id, which stays the same when
// the kernel gives the adapter another number.
func ExampleOpen() {
	line, err := serial.Open("/dev/serial/by-id/usb-1a86_USB_Single_Serial_5A46-if00", 1_000_000, "")
	if err != nil {
		log.Fatal(err) // hal.KindOf: hal.Absent, hal.Busy (another program's, or no access), hal.Invalid
	}
	defer line.Close()
	if _, note := line.LatencyTimer(); note != "" {
		log.Print(note) // an adapter that holds answers back makes every cycle slow
	}
	found, err := feetech.Driver().Tool(line, servo.ToolConfig{}).Identify(1)
	fmt.Printf("%+v, %v\n", found, err)
}

// A chain, a laser or a base gets an opener, with which it finds its adapter again after it was unplugged.
func ExampleReopener() {
	path := "/dev/serial/by-id/usb-1a86_USB_Single_Serial_5A46-if00"
	line, err := serial.Open(path, 1_000_000, serial.Bugst)
	if err != nil {
		log.Fatal(err)
	}
	arm := feetech.NewChain(servo.ChainConfig{Name: "arm", Line: line,
		Reopen: serial.Reopener(path, 1_000_000, serial.Bugst),
		Servos: []servo.ServoConfig{{ID: 1, Model: feetech.ModelByName("sts3215")}}})
	defer arm.Close() // and line with it
}

// The adapters of this machine, USB first. No port is opened for it.
func ExampleList() {
	ports, err := serial.List("/")
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range ports {
		fmt.Println(p.Stable, p.Chip.Name, p.Denied, p.Held())
	}
}
