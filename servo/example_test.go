package servo_test

import (
	"fmt"
	"log"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/kondo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// survey prints the positions of the joints of any vendor's chain, from their centres. It moves nothing and switches no
// torque on.
func survey(chain servo.Chain, joints ...string) error {
	if err := chain.Open(); err != nil {
		return err
	}
	if err := chain.Receive(); err != nil {
		return err
	}
	for i, joint := range joints {
		u, s := chain.Units(i), chain.State(i)
		if s.Err != nil {
			return s.Err // for example servo.ErrNoReply: an error of only this servo
		}
		fmt.Printf("%s: %s at %.1f°\n", joint, u.Name, (s.Position-u.CentreTicks)*360/u.TicksPerTurn)
	}
	return nil
}

// Code for a Chain works with every vendor: here a Kondo KRS-2552, whose two replies are played.
func ExampleChain() {
	line := servotest.Play(1_250_000, `
> A1 01
< 21 01 3C
> 81 00 00
< 01 3F 69
`)
	arm := kondo.NewChain(servo.ChainConfig{Name: "arm", Line: line, Servos: []servo.ServoConfig{
		{ID: 1, Model: kondo.ModelByName("krs-2552"), Joint: "elbow"},
	}})
	if err := survey(arm, "elbow"); err != nil {
		log.Fatal(err)
	}
	fmt.Println("closed:", arm.Close())
	// Output:
	// elbow: krs-2552 at 22.6°
	// closed: <nil>
}
