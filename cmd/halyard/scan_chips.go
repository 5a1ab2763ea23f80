package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/drivers/spi"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission"
)

// scanSPI prints the chip that answers on the SPI port.
func (a *app) scanSPI(port string) error {
	bus, err := spi.Open(port, spi.DefaultClock)
	if err != nil {
		return err
	}
	defer bus.Close()
	rows, err := commission.SurveySPI(port, bus)
	if err = cmp.Or(err, show(a, rows)); err == nil && len(rows) == 0 {
		return &hal.Error{Kind: hal.BusFault, Bus: port, Op: "scan",
			Err: errors.New("no reply: check the chip's power, MISO, MOSI, SCLK and CS"), Try: "halyard ports"}
	}
	return err
}

// scanI2C lists the devices that answer on the I2C bus at port.
func (a *app) scanI2C(ctx context.Context, port string) error {
	bus, err := i2c.Open(port)
	if err != nil {
		return err
	}
	defer bus.Close()
	rows, err := commission.SurveyI2C(ctx, port, bus)
	if err = cmp.Or(err, show(a, rows)); err == nil && len(rows) == 0 {
		return &hal.Error{Kind: hal.BusFault, Bus: port, Op: "scan",
			Err: fmt.Errorf("no device replies at 0x%02X..0x%02X: check the devices' power, SDA and SCL, and the "+
				"pull-ups", commission.FirstAddress, commission.LastAddress), Try: "halyard ports"}
	}
	return err
}
