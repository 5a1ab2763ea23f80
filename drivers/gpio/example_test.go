package gpio_test

import (
	"fmt"
	"log"
	"time"

	"github.com/halyard-robotics/halyard/drivers/gpio"
)

// A bumper between line 17 and ground: touched is low, against the chip's own resistor.
func ExampleNewBumper() {
	bumper := gpio.NewBumper(gpio.Pins{Bus: "io", Open: gpio.Find("/dev/gpiochip0"), Lines: []string{"17"},
		ActiveLow: true,
		Bias:      gpio.Up, User: "front bumper"},
		gpio.BumperConfig{Debounce: 20 * time.Millisecond, Wait: 50 * time.Millisecond})
	if err := bumper.Open(); err != nil {
		log.Fatal(err)
	}
	defer bumper.Close()
	touched := []float64{0}
	for bumper.Read(touched) == nil {
		fmt.Println(touched[0])
	}
}

// The circuit of a normally closed stop button, to ground: any word but 1 is a stop, and so is no word.
func ExampleNewEStopInput() {
	circuit := gpio.NewEStopInput(gpio.Pins{Bus: "io", Open: gpio.Find("pinctrl-rp1"), Lines: []string{"GPIO4"},
		ActiveLow: true,
		User:      "stop button"}, 10*time.Millisecond)
	whole := []float64{0}
	if err := circuit.Open(); err != nil || circuit.Read(whole) != nil || whole[0] != 1 {
		fmt.Println("stop")
	}
}

// An encoder turns its count back where its lines are swapped; its second value is its rate, steps a second.
func ExampleNewEncoder() {
	wheel := gpio.NewEncoder(gpio.Pins{Bus: "io", Open: gpio.Find("gpiochip0"), Lines: []string{"6", "5"},
		Bias: gpio.Up, User: "left wheel"})
	if err := wheel.Open(); err != nil {
		log.Fatal(err)
	}
	defer wheel.Close()
	turned := []float64{0, 0}
	if err := wheel.Read(turned); err != nil {
		log.Fatal(err) // steps were missed: the count is off
	}
	fmt.Printf("%.0f steps, %.0f a second\n", turned[0], turned[1])
}

// A sonar whose echo comes through a divider: 5 V to 3.3 V.
func ExampleNewHCSR04() {
	sonar := gpio.NewHCSR04(gpio.Pins{Bus: "io", Open: gpio.Find("/dev/gpiochip0"), Lines: []string{"23", "24"},
		User: "sonar"},
		gpio.HCSR04Config{Celsius: 15})
	if err := sonar.Open(); err != nil {
		log.Fatal(err)
	}
	defer sonar.Close()
	metres := []float64{0}
	if err := sonar.Read(metres); err == nil {
		fmt.Printf("%.3f m\n", metres[0])
	}
}

// A PIR that has been on for a minute already.
func ExampleNewPIR() {
	pir := gpio.NewPIR(gpio.Pins{Bus: "io", Open: gpio.Find("/dev/gpiochip0"), Lines: []string{"22"}, User: "pir"},
		gpio.PIRConfig{Wait: time.Second})
	if err := pir.Open(); err != nil {
		log.Fatal(err)
	}
	defer pir.Close()
	moves := []float64{0}
	if err := pir.Read(moves); err == nil && moves[0] == 1 {
		fmt.Println("motion detected")
	}
}

// A headlight, on for as long as the program holds its line.
func ExampleNewSwitch() {
	light := gpio.NewSwitch(gpio.Pins{Bus: "io", Open: gpio.Find("/dev/gpiochip0"), Lines: []string{"5"},
		User: "headlight"})
	if err := light.Open(); err != nil {
		log.Fatal(err)
	}
	defer light.Close()
	if err := light.Switch(true); err != nil {
		log.Fatal(err)
	}
}
