package batch

import "github.com/halyard-robotics/halyard/hal"

// Rig is that of copy i.
func (b *Batch) Rig(i int) *hal.Rig { return b.copies[i].sys.Rig }
