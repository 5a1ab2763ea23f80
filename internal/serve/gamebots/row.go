// Package gamebots serves USARSim's commands and pictures for the robots of a system.
package gamebots

import (
	"github.com/halyard-robotics/halyard/internal/catalog"
)

// Protocols are the rows of USARSim's commands and of its image server.
func Protocols() map[string]*catalog.Protocol {
	return map[string]*catalog.Protocol{
		"gamebots":    {All: true, Listen: openGamebots},
		"imageserver": {All: true, Listen: openImageServer},
	}
}
