package base

import "github.com/halyard-robotics/halyard/servo"

// TorqueOffTelegrams returns what stops the base as hard as it can, for a process that supervises this one; none where its line
// is lost or has no descriptor. Its motors stay on: off they would brake nothing.
func (b *Base) TorqueOffTelegrams() ([]servo.Telegram, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.line == nil {
		return nil, nil
	}
	stop := Command{Op: OpEStop}
	return servo.Telegrams(b.line, stop.Append(nil))
}
