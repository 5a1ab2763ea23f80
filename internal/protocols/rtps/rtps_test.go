package rtps

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// air is a network in memory that drops a share of all datagrams.
type air struct {
	mu    sync.Mutex
	loss  float64
	rand  *rand.Rand
	boxes map[netip.AddrPort]*radio
	taped [][]byte
}

type radio struct {
	air     *air
	at      netip.AddrPort
	box     chan []byte
	once    sync.Once
	ended   chan struct{}
	longest int
}

func newAir(loss float64) *air {
	return &air{loss: loss, rand: rand.New(rand.NewPCG(1, 2)), boxes: map[netip.AddrPort]*radio{}}
}

func (a *air) radio() *radio {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := &radio{air: a, at: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(7410+2*len(a.boxes))),
		box: make(chan []byte, 1024), ended: make(chan struct{}), longest: 4000}
	a.boxes[r.at] = r
	return r
}

func (r *radio) Serve(handle func([]byte, netip.AddrPort)) {
	for {
		select {
		case b := <-r.box:
			handle(b, r.at)
		case <-r.ended:
			return
		}
	}
}

func (r *radio) Send(b []byte, to netip.AddrPort) {
	a := r.air
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(b) > r.longest {
		panic(fmt.Sprintf("a datagram of %d bytes", len(b)))
	}
	if len(a.taped) < 2000 {
		a.taped = append(a.taped, append([]byte(nil), b...))
	}
	at := a.boxes[to]
	if at == nil || a.rand.Float64() < a.loss {
		return
	}
	select {
	case at.box <- append([]byte(nil), b...):
	default:
	}
}

func (r *radio) Addresses() []netip.AddrPort { return []netip.AddrPort{r.at} }
func (r *radio) Announce() (all []netip.AddrPort) {
	r.air.mu.Lock()
	defer r.air.mu.Unlock()
	for at := range r.air.boxes {
		all = append(all, at)
	}
	return all
}
func (r *radio) Reachable(netip.AddrPort) bool { return true }
func (r *radio) Sizes() (int, int)             { return r.longest, 1344 }
func (r *radio) Close() error                  { r.once.Do(func() { close(r.ended) }); return nil }

// start runs a participant until the test, or end, ends it.
func start(t *testing.T, a *air, id byte, o Options) (p *Participant, end func()) {
	t.Helper()
	o.Prefix = Prefix{vendor[0], vendor[1], id}
	p, err := New(a.radio(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	end = func() { cancel(); running.Wait() }
	t.Cleanup(end)
	return p, end
}

var chatter = Endpoint{Topic: "rt/chatter", Type: "std_msgs::msg::dds_::String_", Reliable: true, Depth: 64}

// inbox is what a reader has received.
type inbox struct {
	mu      sync.Mutex
	numbers []int
	last    Sample
}

func (i *inbox) take(s *Sample) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.numbers = append(i.numbers, int(binary.LittleEndian.Uint32(s.Payload[4:])))
	i.last = *s
	i.last.Payload = bytes.Clone(s.Payload)
}

func (i *inbox) all() []int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]int(nil), i.numbers...)
}

// message is a payload of a number and size bytes that follow from it.
func message(n, size int) []byte {
	b := appendUint32s([]byte{0, 1, 0, 0}, uint32(n))
	for i := range size {
		b = append(b, byte(n+i*i))
	}
	return b
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestReliable: nothing within the history is lost, in order and once, at 20 % loss, small and in fragments.
func TestReliable(t *testing.T) {
	for _, size := range []int{12, 3000, 100_000} {
		synctest.Test(t, func(t *testing.T) {
			a := newAir(0.2)
			one, _ := start(t, a, 1, Options{})
			two, _ := start(t, a, 2, Options{})
			var got inbox
			must(two.NewReader(chatter, got.take))
			w := must(one.NewWriter(chatter))
			time.Sleep(20 * time.Second) // discovery, at that loss
			if !w.Matched() {
				t.Fatal("not matched")
			}
			for n := range 200 {
				w.Write(message(n, size))
				time.Sleep(50 * time.Millisecond)
			}
			time.Sleep(20 * time.Second)
			all := got.all()
			if len(all) != 200 || !bytes.Equal(got.last.Payload, message(199, size)) {
				t.Fatalf("%d bytes: got %d samples, want 200", size, len(all))
			}
			for i, n := range all {
				if n != i {
					t.Fatalf("%d bytes: got number %d at %d", size, n, i)
				}
			}
		})
	}
}

// TestLate: a late reader gets the history of a transient local writer, and none of a volatile one.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAir(0)
		one, _ := start(t, a, 1, Options{})
		kept, plain := chatter, chatter
		kept.Topic, kept.Transient, kept.Depth = "rt/kept", true, 3
		w, v := must(one.NewWriter(kept)), must(one.NewWriter(plain))
		for n := range 10 {
			w.Write(message(n, 1))
			v.Write(message(n, 1))
		}
		time.Sleep(time.Second)
		two, end := start(t, a, 2, Options{})
		var late, none inbox
		must(two.NewReader(kept, late.take))
		must(two.NewReader(plain, none.take))
		time.Sleep(5 * time.Second)
		v.Write(message(77, 1))
		time.Sleep(time.Second)
		if got := late.all(); fmt.Sprint(got) != "[7 8 9]" {
			t.Errorf("transient local: got %v, want [7 8 9]", got)
		}
		if got := none.all(); fmt.Sprint(got) != "[77]" {
			t.Errorf("volatile: got %v, want [77]", got)
		}
		end() // it says so
		time.Sleep(100 * time.Millisecond)
		if w.Matched() || one.Alive(two.Prefix()) || one.Stats().Endpoints != 0 {
			t.Error("after it has left: still known")
		}
	})
}

// TestLease: a peer that falls silent is forgotten after its lease, and found again when it returns.
func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAir(0)
		one, _ := start(t, a, 1, Options{})
		two, _ := start(t, a, 2, Options{Lease: 10 * time.Second})
		var got inbox
		must(two.NewReader(chatter, got.take))
		w := must(one.NewWriter(chatter))
		time.Sleep(time.Minute)
		if !w.Matched() {
			t.Fatal("a minute of silence but for leases: not matched")
		}
		a.mu.Lock()
		a.loss = 1
		a.mu.Unlock()
		time.Sleep(5 * time.Second)
		w.Write(message(1, 1)) // a stuck reader
		if !one.Alive(two.Prefix()) {
			t.Error("after 5 s: forgotten")
		}
		time.Sleep(10 * time.Second)
		if one.Alive(two.Prefix()) || w.Matched() {
			t.Error("after 15 s: still known")
		}
		time.Sleep(20 * time.Second)
		a.mu.Lock()
		a.loss = 0
		a.mu.Unlock()
		time.Sleep(20 * time.Second)
		w.Write(message(2, 1))
		time.Sleep(time.Second)
		if all := got.all(); len(all) == 0 || all[len(all)-1] != 2 {
			t.Errorf("after its return: got %v, want 2", all)
		}
	})
}

// TestReply: a reply reaches one reader, with its request; the others go on without it.
func TestReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAir(0)
		one, _ := start(t, a, 1, Options{})
		two, _ := start(t, a, 2, Options{})
		three, _ := start(t, a, 3, Options{})
		var second, third inbox
		r := must(two.NewReader(chatter, second.take))
		must(three.NewReader(chatter, third.take))
		w := must(one.NewWriter(chatter))
		time.Sleep(5 * time.Second)
		request := Identity{GUID{two.Prefix(), 7}, 9}
		w.Reply(message(1, 1), r.GUID(), request)
		w.Write(message(2, 1))
		time.Sleep(time.Second)
		if fmt.Sprint(second.all(), third.all()) != "[1 2] [2]" {
			t.Errorf("got %v and %v, want [1 2] and [2]", second.all(), third.all())
		}
	})
}

func TestMatching(t *testing.T) {
	for _, c := range []struct {
		name           string
		writer, reader Endpoint
		want           string
	}{
		{"same", Endpoint{Reliable: true}, Endpoint{Reliable: true}, ""},
		{"offers more", Endpoint{Reliable: true, Transient: true}, Endpoint{}, ""},
		{"best effort", Endpoint{}, Endpoint{Reliable: true}, "reliability"},
		{"volatile", Endpoint{Reliable: true}, Endpoint{Transient: true}, "durability"},
		{"deadline", Endpoint{deadline: 2}, Endpoint{deadline: 1}, "deadline"},
		{"liveliness", Endpoint{}, Endpoint{liveliness: 1}, "liveliness"},
		{"lease", Endpoint{alive: 2}, Endpoint{alive: 1}, "liveliness"},
		{"partition", Endpoint{}, Endpoint{unmatched: "partition"}, "partition"},
	} {
		if got := incompatible(&c.writer, &c.reader); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	ours := chatter
	ours.GUID = GUID{Prefix{1}, 0x103}
	back, err := parseEndpoint(ours.describe(), true)
	if err != nil || back.Topic != ours.Topic || back.Type != ours.Type || back.GUID != ours.GUID || !back.Reliable ||
		back.Transient {
		t.Errorf("described and read again: got %+v, %v", back, err)
	}
}

// TestBounds: a flood of participants and endpoints is counted and refused; the first stay.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAir(0)
		one, _ := start(t, a, 1, Options{MaxPeers: 4, MaxEndpoints: 3})
		liar := must(New(a.radio(), Options{Prefix: Prefix{9}}))
		for i := range 100 {
			liar.prefix[5] = byte(i)
			c := change{sequence: 1, payload: liar.announcement()}
			one.handle(appendData(appendHeader(nil, liar.prefix), 0, spdpWriter, &c), netip.AddrPort{})
		}
		liar.prefix[5] = 0
		for i := range 10 {
			e := chatter
			e.GUID = GUID{liar.prefix, EntityID(i<<8 | 4)}
			c := change{sequence: int64(i + 1), payload: e.describe()}
			one.handle(appendData(appendHeader(nil, liar.prefix), 0, subscriptionWriter, &c), netip.AddrPort{})
		}
		s := one.Stats()
		if s.Peers != 4 || s.Endpoints != 3 || s.Refused != 96+7 {
			t.Errorf("got %+v, want 4 peers, 3 endpoints, 103 refused", s)
		}
		// one that speaks for another is not believed
		other := liar.prefix
		other[5] = 1
		c := change{sequence: 2, payload: liar.announcement(), disposed: true, key: GUID{liar.prefix, participantID}}
		one.handle(appendData(appendHeader(nil, other), 0, spdpWriter, &c), netip.AddrPort{})
		if !one.Alive(liar.prefix) {
			t.Error("a stranger ended a peer")
		}
	})
}

// TestMemory: fragments that never become a sample hold a bounded memory, which is freed with their writer.
func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAir(0)
		one, _ := start(t, a, 1, Options{MaxMemory: 1 << 20})
		two, end := start(t, a, 2, Options{})
		var got inbox
		must(one.NewReader(chatter, got.take))
		w := must(two.NewWriter(chatter))
		time.Sleep(5 * time.Second)
		for n := range 50 {
			c := change{sequence: int64(n + 2), payload: make([]byte, 300_000)}
			b := appendFragments(appendHeader(nil, two.prefix), 0, w.GUID().Entity, &c, 0, 1, 1344)
			one.handle(b, netip.AddrPort{})
		}
		one.mu.Lock()
		memory := one.memory
		one.mu.Unlock()
		if memory > 1<<20 || one.Stats().Dropped == 0 {
			t.Errorf("got %d bytes, %+v, want at most 1 MiB, and some dropped", memory, one.Stats())
		}
		end()
		time.Sleep(time.Second)
		one.mu.Lock()
		defer one.mu.Unlock()
		if one.memory != 0 {
			t.Errorf("after its writer has left: %d bytes", one.memory)
		}
	})
}

func TestNoAllocation(t *testing.T) {
	p := must(New(newAir(0).radio(), Options{}))
	p.transport = silent{p.transport}
	p.mu.Lock()
	p.peers[Prefix{7}] = &peer{prefix: Prefix{7}}
	p.mu.Unlock()
	w := must(p.NewWriter(chatter))
	p.mu.Lock()
	w.admit(&Endpoint{GUID: GUID{Prefix{7}, 0x104}, Reliable: true}, netip.AddrPort{}, time.Now())
	p.mu.Unlock()
	for _, size := range []int{64, 100_000} {
		b := message(1, size)
		for range chatter.Depth + 1 {
			w.Write(b)
		}
		if n := testing.AllocsPerRun(100, func() { w.Write(b) }); n != 0 {
			t.Errorf("%d bytes: got %g allocations, want 0", size, n)
		}
	}
}

type silent struct{ Transport }

func (silent) Send([]byte, netip.AddrPort) {}

// seeds are all datagrams of a session with losses and fragments.
func seeds(t testing.TB) (all [][]byte) {
	a := newAir(0.1)
	one := must(New(a.radio(), Options{Prefix: Prefix{1}}))
	two := must(New(a.radio(), Options{Prefix: Prefix{2}}))
	must(two.NewReader(chatter, func(*Sample) {}))
	w := must(one.NewWriter(chatter))
	for i := range 40 {
		one.mu.Lock()
		one.tick(time.Now().Add(time.Duration(i) * time.Second))
		one.mu.Unlock()
		two.mu.Lock()
		two.tick(time.Now().Add(time.Duration(i) * time.Second))
		two.mu.Unlock()
		w.Write(message(i, 50+i%2*5000))
		for _, p := range []*Participant{one, two} {
			for r := p.transport.(*radio); len(r.box) > 0; {
				p.handle(<-r.box, r.at)
			}
		}
	}
	return a.taped
}

// FuzzMessage: any datagram is taken without a panic, and what it costs stays within the bounds.
func FuzzMessage(f *testing.F) {
	for i, b := range seeds(f) {
		if i%7 == 0 && len(b) < 1000 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a := newAir(0)
		one := must(New(a.radio(), Options{Prefix: Prefix{2}, MaxMemory: 1 << 20}))
		must(one.NewReader(chatter, func(*Sample) {}))
		must(one.NewWriter(chatter)).Write(message(1, 5000))
		other := must(New(a.radio(), Options{Prefix: Prefix{1}}))
		c := change{sequence: 1, payload: other.announcement()}
		one.handle(appendData(appendHeader(nil, other.prefix), 0, spdpWriter, &c), netip.AddrPort{})
		for n, id := range []EntityID{0x103, 0x204} {
			e := chatter
			e.GUID = GUID{other.prefix, id}
			c := change{sequence: 1, payload: e.describe()}
			one.handle(appendData(appendHeader(nil, other.prefix), 0, []EntityID{publicationWriter,
				subscriptionWriter}[n], &c), netip.AddrPort{})
		}
		one.handle(b, netip.AddrPort{})
		one.handle(b, netip.AddrPort{})
		one.mu.Lock()
		one.tick(time.Now().Add(time.Second))
		one.mu.Unlock()
		if one.memory > 1<<20 || one.memory < 0 {
			t.Errorf("got %d bytes", one.memory)
		}
	})
}

// FuzzParameters reads discovery data.
func FuzzParameters(f *testing.F) {
	p := must(New(newAir(0).radio(), Options{UserData: "enclave=/;"}))
	f.Add(p.announcement())
	e := chatter
	e.UserData = "typehash=RIHS01_0;"
	f.Add(e.describe())
	f.Fuzz(func(t *testing.T, b []byte) {
		parseAnnouncement(b)
		if e, err := parseEndpoint(b, true); err == nil {
			again, err := parseEndpoint(e.describe(), true)
			if err != nil || again.Topic != e.Topic || again.Reliable != e.Reliable || again.Transient != e.Transient {
				t.Errorf("got %+v, %v, want %+v", again, err, e)
			}
		}
	})
}
