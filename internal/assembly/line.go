package assembly

import (
	"fmt"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
)

// UsualBauds are the rates at which servos are found, the likeliest first: X servos come with 57600, AX and STS with 1M,
// LX-16A with 115200.
func UsualBauds() []int {
	return []int{57600, 1000000, 115200, 2000000, 3000000, 4000000, 4500000, 9600, 400000, 500000, 250000, 200000,
		1250000, 625000, 38400, 128000, 76800, 19200}
}

// ProtocolsOf reads --protocol, the cheaper protocol to ask first.
func ProtocolsOf(word string) ([]int, error) {
	switch word {
	case "all":
		return AllProtocols(), nil
	case "both":
		return []int{2, 1}, nil
	}
	if p, ok := busProtocols[word]; ok {
		return []int{p}, nil
	}
	if p := slices.Index(BrandWords, word); p >= AsFeetech {
		return []int{p}, nil
	}
	return nil, &hal.Error{Kind: hal.Invalid, Op: "--protocol", Err: fmt.Errorf("got %q, want all, both or one of %s", word, servoTypeNames())}
}
