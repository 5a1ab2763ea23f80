package dashboard_test

import (
	"context"
	"sync"

	"github.com/chromedp/chromedp"
)

// watch collects the faults that the browser reports.
func watch(ctx context.Context) (faults func() []string) {
	var mu sync.Mutex
	var list []string
	messages := chromedp.Console(ctx)
	go func() { // until the browser ends
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == chromedp.ConsoleError {
				mu.Lock()
				list = append(list, m.String()+" "+m.URL)
				mu.Unlock()
			}
		}
	}()
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), list...)
	}
}
