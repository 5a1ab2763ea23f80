package lab

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"time"

	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/internal/bench"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
	"github.com/halyard-robotics/halyard/internal/wire/v4l2"
)

// decoder is a device's stream and the function that decodes it.
type decoder struct {
	name   string
	stream []byte
	bytes  int // counted bytes of one run: of the stream, or of the decoded pictures
	scans  int // in it, at least
	points int // in all of them: ranges, pixels
	piece  int // bytes passed at once
	decode func(p []byte) (scans int)
}

// benchDecoders measures how fast telegrams and pictures are found, checked and taken apart. Memory is the bound: every
// byte is copied once at the least.
func benchDecoders(ctx context.Context, size bench.Size, emit func(bench.Result)) error {
	bound := copyRate()
	pictures, err := pictureDecoders()
	if err != nil {
		return fmt.Errorf("bench: drivers: %w", err)
	}
	for _, d := range append(append(laserDecoders(), reportDecoder()), pictures...) {
		var best time.Duration
		for range min(size.StepsOr(200), 200) {
			began := time.Now()
			scans := 0
			for rest := d.stream; len(rest) > 0; rest = rest[min(len(rest), d.piece):] {
				scans += d.decode(rest[:min(len(rest), d.piece)])
			}
			if took := time.Since(began); best == 0 || took < best {
				best = took
			}
			if scans < d.scans {
				return fmt.Errorf("bench: drivers: %s: got %d scans, want %d", d.name, scans, d.scans)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		rate := float64(d.bytes) / best.Seconds()
		emit(bench.Result{Bench: "drivers", Case: d.name, Figures: bench.Figures{
			{Name: "decode_mb_s", Value: report.Number(rate / 1e6)},
			{Name: "copy_mb_s", Value: report.Number(bound / 1e6)}, {Name: "ratio", Value: report.Number(rate / bound)},
			{Name: "ns_point", Value: report.Number(float64(best) / float64(d.points))},
			{Name: "scans_s", Value: report.Number(float64(d.scans) / best.Seconds())},
		}})
	}
	return nil
}

// copyRate is how fast memory is copied, bytes a second, in pieces that no cache holds.
func copyRate() float64 {
	const size = 64 << 20
	from, to, best := make([]byte, size), make([]byte, size), time.Hour
	for i := range from {
		from[i] = byte(i) // the kernel maps unwritten pages to one zero page
	}
	for range 5 {
		began := time.Now()
		copy(to, from)
		best = min(best, time.Since(began))
	}
	return size / best.Seconds()
}

const (
	benchScans  = 40  // of each stream
	serialPiece = 512 // bytes of one read of a serial port
)

// stream returns a decoder of a parser: feed consumes a part of its argument; next decodes one packet and reports
// whether there was one, and whether it ended a scan.
func stream(name string, b []byte, points int, feed func([]byte) int, next func() (ok, ended bool)) decoder {
	return decoder{name, b, len(b), benchScans - 1, points * benchScans, serialPiece, func(p []byte) (scans int) {
		for {
			p = p[feed(p):]
			for ok, ended := next(); ok; ok, ended = next() {
				if ended {
					scans++
				}
			}
			if len(p) == 0 {
				return scans
			}
		}
	}}
}

// laserDecoders are every laser in each of its modes.
func laserDecoders() []decoder {
	var all []decoder
	ranges := make([]float64, 1081)
	for _, mode := range []struct {
		name string
		n    int
	}{{"180° by 1", 181}, {"180° by 0.5", 361}, {"100° by 1", 101}, {"100° by 0.5", 201}, {"100° by 0.25", 401}} {
		words, b := make([]uint16, mode.n), []byte(nil)
		for i := range words {
			words[i] = uint16(500 + 7*i)
		}
		for range benchScans {
			b = lidarwire.AppendSICK(b, 0x80, lidarwire.AppendSICKScan(nil, words, 1, 0x10))
		}
		parser := lidarwire.NewSICKParser(0x80)
		all = append(all, stream(fmt.Sprintf("sick, %s, %d ranges", mode.name, mode.n), b, mode.n, parser.Feed,
			func() (ok, ended bool) {
				body := parser.Body()
				if body == nil {
					return false, false
				}
				_, err := lidarwire.DecodeSICKScan(body, 13, ranges[:mode.n])
				return true, err == nil
			}))
	}
	for _, mode := range []struct {
		model string
		size  int // characters of a range
	}{{"UTM-30LX", 3}, {"URG-04LX", 3}, {"URG-04LX", 2}} {
		model, err := lidar.HokuyoModelOf(mode.model)
		if err != nil {
			continue
		}
		n := model.Last - model.First + 1
		numbers, b := make([]int, n), []byte(nil)
		for i := range numbers {
			numbers[i] = 500 + 3*i
		}
		for range benchScans {
			b = lidarwire.AppendSCIPScan(b, "MD0000108001000", lidarwire.SCIPData, 1234, numbers, mode.size)
		}
		parser, block := lidar.NewSCIPParser(), lidar.SCIPBlock{}
		all = append(all, stream(fmt.Sprintf("hokuyo %s, %d ranges of %d characters", mode.model, n, mode.size), b, n,
			parser.Feed, func() (ok, ended bool) {
				if !parser.Next(&block) {
					return false, false
				}
				_, err := block.Scan(mode.size, &model, ranges[:n])
				return true, err == nil
			}))
	}
	var nodes, capsules []byte
	for k := range benchScans {
		for i := range 360 {
			nodes = (&lidarwire.RPNode{Start: i == 0, Quality: 15, Angle: uint16(i << 6), Range: 1234}).Append(nodes)
		}
		for i := range 18 {
			c := lidar.RPCapsule{Encoding: lidar.RPLidarExpressed, First: k == 0 && i == 0, Start: uint16(i * 20 << 6)}
			for j := range c.Ranges {
				c.Ranges[j] = 1234
			}
			capsules = c.Append(capsules)
		}
	}
	node, n := lidarwire.NewRPNodeParser(), lidarwire.RPNode{}
	capsule, c := lidar.NewRPCapsuleParser(lidar.RPLidarExpressed), lidar.RPCapsule{}
	return append(all,
		stream("rplidar standard, 360 nodes", nodes, 360, node.Feed, func() (ok, ended bool) {
			if ok = node.Next(&n); ok {
				ranges[int(n.Angle>>6)%360] = float64(n.Range) / 4000
			}
			return ok, n.Start
		}),
		stream("rplidar express, 18 capsules", capsules, 18*32, capsule.Feed, func() (ok, ended bool) {
			if ok = capsule.Next(&c); ok {
				for i := range c.Samples() {
					_, mm := c.Sample(i)
					ranges[i] = float64(mm) / 1000
				}
			}
			return ok, c.Start == 0
		}))
}

// reportDecoder is the standard report of a Pioneer with 16 sonars.
func reportDecoder() decoder {
	report := p2oswire.Report{Moving: true, X: 1, Y: 2, Heading: 3, Left: 300, Right: 310, Battery: 125, Count: 16}
	for i := range report.Count {
		report.Echoes[i] = p2oswire.EchoReading{Index: byte(i), Range: uint16(1000 + i)}
	}
	var b []byte
	for range benchScans {
		b = p2oswire.AppendPacket(b, report.Append(nil))
	}
	parser, got := p2oswire.NewParser(), p2oswire.Report{}
	return stream("p2os, report of 16 sonars", b, report.Count, parser.Feed, func() (ok, ended bool) {
		data := parser.Data()
		return data != nil, data != nil && got.Decode(data) == nil
	})
}

// pictureDecoders returns the decoders of camera pictures, 640x480, and a copy of memory of their size for comparison.
func pictureDecoders() (_ []decoder, err error) {
	defer must.Catch(&err)
	const w, h = 640, 480
	rgb := make([]byte, 3*w*h)
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		x, y := i%w, i/w
		p := [3]byte{byte(40 + 150*x/w), byte(60 + 120*y/h), byte(200 - 100*x/w + x*y%16)}
		copy(rgb[3*i:], p[:])
		copy(m.Pix[4*i:], append(p[:], 255))
	}
	var compressed bytes.Buffer
	must.Be(jpeg.Encode(&compressed, m, nil))
	var all []decoder
	for _, c := range []struct {
		name  string
		shape camera.Shape
	}{
		{"yuyv", camera.Shape{Pixel: v4l2.YUYV, Width: w, Height: h, Stride: 2 * w}},
		{"grey", camera.Shape{Pixel: v4l2.GREY, Width: w, Height: h, Stride: w}},
		{"mjpeg", camera.Shape{Pixel: v4l2.MJPG, Width: w, Height: h}},
	} {
		d := must.Get(camera.NewDecoder(c.shape))
		frame := compressed.Bytes()
		if c.shape.Pixel != v4l2.MJPG {
			frame = camera.AppendRaw(nil, c.shape, rgb)
		}
		to := make([]byte, len(rgb))
		all = append(all, decoder{fmt.Sprintf("camera %s, %dx%d", c.name, w, h), frame, len(to), 1, w * h, len(frame),
			func(p []byte) int {
				if d.Decode(to, p) != nil {
					return 0
				}
				return 1
			}})
	}
	return all, nil
}
