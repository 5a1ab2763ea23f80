package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/command"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
)

func newMatrix(p *command.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "matrix",
		Short: "test the doctor with each known fault",
		Long: "Injects each known fault into emulated robots, one at a time, and prints the findings of halyard " +
			"doctor.",
		Args: command.Arguments("", "halyard-lab matrix"),
		RunE: func(cmd *cobra.Command, _ []string) error { return runMatrix(cmd.Context(), p) },
	}
}

// runMatrix runs the whole matrix and prints it. The error is hal.Differs where a line is not ok.
func runMatrix(ctx context.Context, p *command.Program) error {
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
	if err := command.Show(&p.Host, rows); err != nil {
		return err
	}
	if failed > 0 {
		return &hal.Error{Kind: hal.Differs, Op: "matrix", Err: fmt.Errorf("%d of %d lines are not as they should be",
			failed, len(rows))}
	}
	p.Note("%d faults injected, each the only finding, with its fix; %d robots without a fault, no finding", planted,
		len(rows)-planted)
	return nil
}
