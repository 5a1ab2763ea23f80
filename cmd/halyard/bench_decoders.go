package main

import (
	"context"
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/drivers/rays"
)

// decoder is a laser's stream and what makes ranges of it.
type decoder struct {
	name   string
	stream []byte
	scans  int // in it, at least
	decode func(p []byte) (scans int)
}

// benchDecoders measures how fast the telegrams of each laser are found, checked and taken apart.
func benchDecoders(ctx context.Context, size benchSize, emit func(result)) error {
	bound := copyRate()
	for _, d := range decoders() {
		var best time.Duration
		for range size.stepsOr(200) {
			began := time.Now()
			scans := 0
			for rest := d.stream; len(rest) > 0; rest = rest[min(len(rest), 512):] { // as a serial port hands it on
				scans += d.decode(rest[:min(len(rest), 512)])
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
		rate := float64(len(d.stream)) / best.Seconds()
		emit(result{"drivers", d.name, figures{
			{"decode_mb_s", number(rate / 1e6)}, {"copy_mb_s", number(bound / 1e6)}, {"ratio", number(rate / bound)},
			{"scans_s", number(float64(d.scans) / best.Seconds())},
		}})
	}
	return nil
}

// copyRate is how fast memory is copied, bytes a second, in pieces that no cache holds.
func copyRate() float64 {
	const size = 64 << 20
	from, to, best := make([]byte, size), make([]byte, size), time.Hour
	for i := range from {
		from[i] = byte(i) // pages that nobody wrote are all the same one
	}
	for range 5 {
		began := time.Now()
		copy(to, from)
		best = min(best, time.Since(began))
	}
	return size / best.Seconds()
}

// decoders are forty scans or so of each laser.
func decoders() []decoder {
	const scans = 40
	words, numbers := make([]uint16, 361), make([]int, 1081)
	for i := range words {
		words[i] = uint16(500 + 7*i)
	}
	for i := range numbers {
		numbers[i] = 500 + 20*i
	}
	var lms, urg, nodes, capsules []byte
	for k := range scans {
		lms = rays.AppendSICK(lms, 0x80, rays.AppendSICKScan(nil, words, 1, 0x10))
		urg = rays.AppendSCIPScan(urg, "MD0000108001000", rays.SCIPData, 1234, numbers, 3)
		for i := range 360 {
			nodes = (&rays.RPNode{Start: i == 0, Quality: 15, Angle: uint16(i << 6), Range: 1234}).Append(nodes)
		}
		for i := range 18 {
			c := rays.RPCapsule{First: k == 0 && i == 0, Start: uint16(i * 20 << 6)}
			for j := range c.Ranges {
				c.Ranges[j] = 1234
			}
			capsules = c.Append(capsules)
		}
	}
	ranges := make([]float64, len(numbers))
	sick, scip := rays.NewSICKParser(0x80), rays.NewSCIPParser()
	node, capsule := rays.NewRPNodeParser(), rays.NewRPCapsuleParser()
	var block rays.SCIPBlock
	utm := rays.HokuyoModel{Least: 23, Most: 60000, Void: 1}
	var n rays.RPNode
	var c rays.RPCapsule
	return []decoder{
		{"sick, 361 ranges", lms, scans, func(p []byte) (got int) {
			for p = p[sick.Feed(p):]; ; p = p[sick.Feed(p):] {
				for body := sick.Body(); body != nil; body = sick.Body() {
					if _, err := rays.DecodeSICKScan(body, 13, ranges[:len(words)]); err == nil {
						got++
					}
				}
				if len(p) == 0 {
					return got
				}
			}
		}},
		{"hokuyo, 1081 ranges", urg, scans, func(p []byte) (got int) {
			for p = p[scip.Feed(p):]; ; p = p[scip.Feed(p):] {
				for scip.Next(&block) {
					if _, err := block.Scan(3, &utm, ranges); err == nil {
						got++
					}
				}
				if len(p) == 0 {
					return got
				}
			}
		}},
		{"rplidar standard, 360 nodes", nodes, scans - 1, func(p []byte) (got int) {
			for p = p[node.Feed(p):]; ; p = p[node.Feed(p):] {
				for node.Next(&n) {
					if ranges[int(n.Angle>>6)%360] = float64(n.Range) / 4000; n.Start {
						got++
					}
				}
				if len(p) == 0 {
					return got
				}
			}
		}},
		{"rplidar express, 18 capsules", capsules, scans - 1, func(p []byte) (got int) {
			for p = p[capsule.Feed(p):]; ; p = p[capsule.Feed(p):] {
				for _, ok := capsule.Next(&c); ok; _, ok = capsule.Next(&c) {
					for i, mm := range c.Ranges {
						ranges[i] = float64(mm) / 1000
					}
					if c.Start == 0 {
						got++
					}
				}
				if len(p) == 0 {
					return got
				}
			}
		}},
	}
}
