package base

import (
	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
	"github.com/halyard-robotics/halyard/servo"
)

// TorqueOffTelegrams returns the bytes for the strongest braking, for a process that supervises this one. It is empty
// if the line is lost or has no descriptor. The motors stay on: without power they would not brake.
func (b *Base) TorqueOffTelegrams() ([]servo.Telegram, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.line == nil {
		return nil, nil
	}
	stop := p2oswire.Command{Op: p2oswire.OpEStop}
	return servo.Telegrams(b.line, stop.Append(nil))
}
