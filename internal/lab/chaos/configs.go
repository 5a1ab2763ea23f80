package chaos

import (
	"errors"

	"github.com/halyard-robotics/halyard/configs"
)

// Configs are the embedded configs that have servos to be judged.
func Configs() (names []string, err error) {
	for _, name := range configs.Names() {
		switch r, e := open(name, 1); {
		case errors.Is(e, ErrNoServos):
		case e != nil:
			return nil, e
		default:
			names = append(names, name)
			r.sys.Close()
		}
	}
	return names, nil
}
