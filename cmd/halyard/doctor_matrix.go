package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
)

// doctorMatrix runs the whole matrix and prints it. The error is hal.Differs where a line is not ok.
func (a *app) doctorMatrix(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "halyard-doctor")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var rows []doctor.MatrixRow
	planted, failed := 0, 0
	for i, one := range doctor.FaultCases() {
		row, err := one.Row(ctx, filepath.Join(dir, fmt.Sprint(i)))
		if errors.Is(err, doctor.ErrNothingEmulated) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", one.Name, err)
		}
		if rows = append(rows, row); one.Check != "" {
			planted++
		}
		if !row.OK {
			failed++
		}
	}
	if err := show(a, rows); err != nil {
		return err
	}
	if failed > 0 {
		return &hal.Error{Kind: hal.Differs, Op: "doctor --matrix", Err: fmt.Errorf("%d of %d lines are not as they should be", failed, len(rows))}
	}
	a.note("%d faults injected, each the only finding, with its fix; %d robots without a fault, no finding", planted, len(rows)-planted)
	return nil
}
