// Command extension opens a robot of a servo vendor, a sensor and a protocol that Halyard does not know: one file and
// one row each, without a change in Halyard's tree. With arguments it is the command halyard that knows them too.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net"
	"os"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/cli"
	"github.com/halyard-robotics/halyard/extend"
)

func main() {
	catalog := &halyard.Catalog{
		Buses:     extend.Buses{acmeRow()},
		Sensors:   map[string]*extend.Sensor{"gauge": gaugeRow()},
		Protocols: map[string]*extend.Protocol{"lines": linesRow()},
	}
	if len(os.Args) > 1 {
		cli.Main(catalog)
	}
	if err := run(catalog); err != nil {
		log.Fatal(err)
	}
}

func run(catalog *halyard.Catalog) error {
	cfg, err := halyard.Load("rig.yaml")
	if err != nil {
		return err
	}
	if _, err := halyard.Open(cfg); err == nil {
		return fmt.Errorf("the built-in catalog knows acme")
	}
	// Scan the emulated line.
	bus, err := halyard.OpenBus(cfg, "line", halyard.WithCatalog(catalog))
	if err != nil {
		return err
	}
	found, err := bus.Scan(context.Background())
	if err != nil {
		return err
	}
	for _, f := range found {
		volts, err := bus.Read(f.ID, "present_voltage")
		fmt.Println("found id", f.ID, f.Model.Units().Name, volts, "mV", err)
	}
	if err := bus.Close(); err != nil {
		return err
	}
	// Drive it, and read the sensor.
	sys, err := halyard.Open(cfg, halyard.WithCatalog(catalog))
	if err != nil {
		return err
	}
	defer sys.Close()
	arm := sys.Agent("bench")
	for range 100 {
		if err := arm.Command("arm", halyard.Position(0.5)); err != nil {
			return err
		}
		if err := sys.Step(); err != nil {
			return err
		}
	}
	fmt.Printf("arm at %.1f rad\n", arm.State("arm").Position)
	volts, err := sys.Value("/bench/gauge")
	if err != nil {
		return err
	}
	fmt.Printf("gauge: %.1f V\n", volts.Double)
	// Ask by the protocol of our own.
	servers, err := sys.Listen()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- sys.Run(ctx) }()
	conn, err := net.Dial("tcp", servers[0].Address)
	if err != nil {
		return err
	}
	fmt.Fprintln(conn, "arm")
	answer, err := bufio.NewReader(conn).ReadString('\n')
	conn.Close()
	fmt.Print("lines: arm is somewhere: ", answer != "" && answer != "no such joint\n", "\n")
	stop()
	if err != nil {
		return err
	}
	return <-ran
}
