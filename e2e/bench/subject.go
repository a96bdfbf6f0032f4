package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// A subject is a server that is measured, with its figures so far.
type subject struct {
	name    string
	command []string
	stores  string // a directory; if not empty, the command ends with a file in it
	begun   int    // processes

	start    float64 // seconds to the first reply
	serial   phase
	windowed phase
	fresh    float64 // bytes of memory after the handshake
	full     float64 // and with many thoughts
}

// A phase is what a number of calls cost.
type phase struct {
	rate   float64 // calls a second
	cpu    float64 // seconds of the server a call; 0 if not known
	median float64 // seconds a call
	late   float64 // 99 of 100 calls are quicker
}

// open starts a server with a store of its own.
func (s *subject) open(ctx context.Context) (*server, error) {
	s.begun++
	command := slices.Clone(s.command)
	if s.stores != "" {
		command = append(command, filepath.Join(s.stores, fmt.Sprintf("%p-%d.db", s, s.begun)))
	}
	return start(ctx, command)
}

// round measures once.
func (s *subject) round(ctx context.Context, p plan) error {
	for range 3 {
		begun := time.Now()
		v, err := s.open(ctx)
		if err != nil {
			return err
		}
		best(&s.start, time.Since(begun).Seconds(), less)
		if err := v.close(); err != nil {
			return err
		}
	}
	v, err := s.open(ctx)
	if err != nil {
		return err
	}
	for _, ph := range []struct {
		window int
		best   *phase
	}{{1, &s.serial}, {p.window, &s.windowed}} {
		if _, err := v.think(p.warm, p.size, ph.window); err != nil {
			return err
		}
		got, err := v.think(p.calls, p.size, ph.window)
		if err != nil {
			return err
		}
		best(&ph.best.rate, got.rate, more)
		best(&ph.best.cpu, got.cpu, less)
		best(&ph.best.median, got.median, less)
		best(&ph.best.late, got.late, less)
	}
	return v.close()
}

// memory measures how much of it a server uses.
func (s *subject) memory(ctx context.Context, p plan) error {
	v, err := s.open(ctx)
	if err != nil {
		return err
	}
	s.fresh = v.resident()
	if _, err := v.think(p.kept, p.size, p.window); err != nil {
		return err
	}
	s.full = v.resident()
	return v.close()
}
