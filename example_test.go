package halyard_test

import (
	"context"
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard"
)

// Step the simulated SO-101 a thousand cycles and read a joint.
func Example_step() {
	cfg, err := halyard.Load("so101", halyard.Set("clock.mode", "lockstep"))
	if err != nil {
		fmt.Println(err)
		return
	}
	sys, err := halyard.Open(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sys.Close()
	arm := sys.Agent("so101")
	for range 1000 {
		if err := arm.Command("elbow_flex", halyard.Position(0.5)); err != nil {
			fmt.Println(err)
			return
		}
		if err := sys.Step(); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("%.1f rad\n", arm.State("elbow_flex").Position)
	// Output: 0.5 rad
}

// Serve a config, and stop it by its context.
func Example_serve() {
	cfg, err := halyard.Load("so101", halyard.Set("name", "example-serve"), halyard.Listen("osp", "127.0.0.1:0"),
		halyard.Listen("odcp", "127.0.0.1:0"))
	if err != nil {
		fmt.Println(err)
		return
	}
	sys, err := halyard.Open(cfg, halyard.WithBody("emulated"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sys.Close()
	servers, err := sys.Listen()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range servers {
		fmt.Printf("%s %q\n", s.Protocol, s.Agent)
	}
	ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	fmt.Println(sys.Run(ctx))
	// Output:
	// osp ""
	// odcp "so101"
	// <nil>
}

// Command a real arm with a deadline: without a new command within 100 ms it holds. Here the devices are emulated; for
// the real arm only the body changes to "real".
func Example_deadline() {
	cfg, err := halyard.Load("so101", halyard.Set("agents[0].body", "emulated"), halyard.Set("clock.mode", "lockstep"),
		halyard.Set("agents[0].guard.command_timeout", 100*time.Millisecond))
	if err != nil {
		fmt.Println(err)
		return
	}
	sys, err := halyard.Open(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sys.Close()
	arm := sys.Agent("so101")
	if err := arm.Command("shoulder_pan", halyard.Position(1)); err != nil {
		fmt.Println(err)
		return
	}
	for range 100 { // one command, then silence for a second
		if err := sys.Step(); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println("arrived:", arm.State("shoulder_pan").Position > 0.9)
	// Output: arrived: false
}
