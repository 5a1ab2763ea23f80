package base

import (
	"errors"
	"os"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
	"github.com/halyard-robotics/halyard/servo"
)

// stage is how far the session is.
type stage uint8

const (
	knocking stage = iota // SYNC0 was sent
	syncing1              // SYNC1 was
	syncing2              // SYNC2 was
	opening               // OPEN was; a report is awaited
	running               // reports come
)

// Times of a session. Reports come every 100 ms.
const (
	knock     = 150 * time.Millisecond // between two tries
	tolerable = 350 * time.Millisecond // age of a report up to which it counts as of now
	lostAfter = 500 * time.Millisecond // silence after which the session counts as lost
	// watchdog is the base's own: after as much silence it has stopped by itself.
	watchdog = 2 * time.Second
	pulse    = 400 * time.Millisecond // between two words, so that it does not
)

// maxTries is how often a stage is asked for before the session starts again from the beginning, and how often a rate
// is tried.
const maxTries = 3

// restart begins a session from the beginning.
func (b *Base) restart(fresh bool) {
	b.stage, b.fresh, b.tries, b.asked = knocking, fresh, 0, b.clock.Now()-knock
	b.parser.Reset()
	b.names, b.refuse = p2oswire.Names{}, nil
}

// Send sends the next commands: one step of opening a session, or the wheels' goals. It never blocks.
func (b *Base) Send() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.line == nil {
		// Reopening counts in cycles, and waits for seconds in the end; a base that is back is wanted back at once.
		if now := b.clock.Now(); b.lost != nil && now-b.asked >= knock {
			b.asked = now
			b.reopen.Lose(b.lost)
		}
		line := b.reopen.Attend()
		if line == nil {
			return b.unlined()
		}
		b.line = line
		if err := b.tune(b.rate); err != nil {
			return b.failed(err)
		}
		b.stats.Reopened++
		b.restart(false)
	}
	return b.sendDue(b.clock.Now())
}

// Inline lets a lost line be opened within the cycle, for lines in memory; see servo.Reconnector. Call it before Send.
func (b *Base) Inline() { b.reopen.Inline = true }

// Receive handles the bytes that the base has sent. It never blocks: State and the sources have the age of the values.
func (b *Base) Receive() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.line == nil {
		return b.unlined()
	}
	err := b.receive(0)
	b.updateWheels(err)
	return err
}

// sendDue sends the commands that are due at now.
func (b *Base) sendDue(now time.Duration) error {
	if b.stage == running {
		b.steer(now)
		return b.flush()
	}
	if now-b.asked < knock || b.refuse != nil {
		return nil
	}
	b.asked = now
	if b.tries++; b.stage != knocking && b.tries > maxTries {
		b.stage, b.tries = knocking, 1
	}
	if b.stage == knocking && !b.fresh {
		// After a press of its reset button the base is at another rate. Every third attempt tries that rate.
		rate := b.rate
		if b.tries%3 == 0 {
			rate += b.tries / 3
		}
		if err := b.tune(rate % len(b.cfg.Bauds)); err != nil {
			return b.failed(err)
		}
	}
	b.ask()
	return b.flush()
}

// tune gives the line a rate of the settings.
func (b *Base) tune(i int) error {
	baud := b.cfg.Bauds[i]
	if b.line.Baud() == baud {
		return nil
	}
	return b.line.SetBaud(baud)
}

// ask puts the command that leads to the next stage.
func (b *Base) ask() {
	b.put(p2oswire.Command{Op: [...]p2oswire.Op{knocking: p2oswire.OpPulse, syncing1: p2oswire.OpOpen,
		syncing2: p2oswire.OpClose, opening: p2oswire.OpOpen}[b.stage]})
}

// advance goes to the next stage and asks for the one after it.
func (b *Base) advance() {
	b.stage, b.tries, b.asked = b.stage+1, 0, b.clock.Now()
	b.rate = max(0, slices.Index(b.cfg.Bauds, b.line.Baud()))
	b.ask()
}

// maxReads bounds the reads of one receive: no serial line is as fast, but a broken connection may be, and the cycle
// waits for this.
const maxReads = 64

// receive handles received bytes; it waits up to wait for the first.
func (b *Base) receive(wait time.Duration) error {
	for range maxReads {
		n, err := b.line.Read(b.raw[:], wait)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return b.flush()
		}
		if err != nil {
			return b.failed(err)
		}
		wait = 0
		if b.names == (p2oswire.Names{}) && b.rate == 0 && len(b.heard) < maxHeard {
			b.heard = append(b.heard, b.raw[:n]...)
		}
		for piece := b.raw[:n]; len(piece) > 0; {
			piece = piece[b.parser.Feed(piece):]
			for data := b.parser.Data(); data != nil; data = b.parser.Data() {
				b.handle(data, b.clock.Now())
			}
		}
		b.stats.Garbage = b.parser.Garbage
	}
	return b.flush()
}

// maxHeard is how many bytes show whose they are.
const maxHeard = 400

// put adds commands to the output of the next flush.
func (b *Base) put(commands ...p2oswire.Command) {
	for i := range commands {
		b.out = commands[i].Append(b.out)
	}
}

// flush sends all commands added by put.
func (b *Base) flush() error {
	if len(b.out) == 0 {
		return nil
	}
	_, err := b.line.Write(b.out)
	b.out = b.out[:0]
	if err != nil {
		return b.failed(err)
	}
	return nil
}

// unlined is the error of a base without a line.
func (b *Base) unlined() error {
	if b.lost == nil {
		b.lost = b.reopen.Lost() // it was never opened
	}
	return b.lost
}

// failed names the bus in an error of the line; one that is gone is given up.
func (b *Base) failed(err error) error {
	e := &hal.Error{Kind: hal.BusFault, Bus: b.cfg.Name, Op: "line", Err: err, Try: "halyard doctor"}
	if errors.Is(err, servo.ErrDisconnected) {
		b.line.Close() // it is lost: a second error adds nothing
		b.line = nil
		b.out = b.out[:0]
		b.reopen.Lose(err)
		b.drive.release()
		e.Kind, e.Try = hal.Absent, "halyard ports"
		b.lost = e
		b.updateWheels(e)
	}
	return e
}

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
