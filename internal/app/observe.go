package app

import (
	"context"
	"time"

	"github.com/sequent-dev/sequent/mcpserver"
)

// observer returns what is told of requests; nil if nothing is.
func (a *App) observer() mcpserver.Observer {
	var all observers
	if a.telemetry != nil { // first, so that others see its span in the context
		all = append(all, a.telemetry.Observer())
	}
	if a.audit != nil {
		all = append(all, a.audit)
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}

// observers are told of requests one after the other.
type observers []mcpserver.Observer

func (o observers) Begin(ctx context.Context, x *mcpserver.Exchange) (context.Context, func()) {
	ends := make([]func(), len(o))
	for i, each := range o {
		ctx, ends[i] = each.Begin(ctx, x)
	}
	return ctx, func() {
		for i := len(ends) - 1; i >= 0; i-- {
			ends[i]()
		}
	}
}

func (o observers) Closed(x *mcpserver.Exchange, lasted time.Duration) {
	for _, each := range o {
		each.Closed(x, lasted)
	}
}

func (o observers) Other(x *mcpserver.Exchange) {
	for _, each := range o {
		each.Other(x)
	}
}
