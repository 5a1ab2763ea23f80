// Package builtin is the catalog of what Halyard comes with: its hardware, and one row for each of its protocols.
package builtin

import (
	"maps"

	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/serve/batch"
	"github.com/halyard-robotics/halyard/internal/serve/bridges"
	"github.com/halyard-robotics/halyard/internal/serve/gamebots"
	"github.com/halyard-robotics/halyard/internal/serve/moast"
	"github.com/halyard-robotics/halyard/internal/serve/okon"
	"github.com/halyard-robotics/halyard/internal/serve/orcs"
	"github.com/halyard-robotics/halyard/internal/serve/player"
	"github.com/halyard-robotics/halyard/internal/serve/simloid"
)

// Catalog is the built-in hardware and protocols. It is the caller's.
func Catalog() *catalog.Catalog {
	c := catalog.Hardware()
	maps.Copy(c.Protocols, orcs.Protocols())
	maps.Copy(c.Protocols, batch.Protocols())
	maps.Copy(c.Protocols, okon.Protocols())
	maps.Copy(c.Protocols, simloid.Protocols())
	maps.Copy(c.Protocols, gamebots.Protocols())
	maps.Copy(c.Protocols, player.Protocols())
	maps.Copy(c.Protocols, moast.Protocols())
	maps.Copy(c.Protocols, bridges.Protocols())
	return c
}
