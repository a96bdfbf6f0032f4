package web

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/sequent-dev/sequent/internal/needtest"
)

// A browser is a running Chromium.
type browser struct{ ctx context.Context }

// chromium is the browser of all tests, whose pages have windows and storages of their own.
var chromium struct {
	start   sync.Once
	browser *browser
	err     error
	stop    func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if chromium.stop != nil {
		chromium.stop()
	}
	os.Exit(code)
}

// newBrowser returns the browser. The first test that needs it starts it.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	path := needtest.Program(t, "chromium", "install Chromium: apt-get install chromium")
	chromium.start.Do(func() { chromium.browser, chromium.stop, chromium.err = startBrowser(path) })
	if chromium.err != nil {
		t.Fatal(chromium.err)
	}
	return chromium.browser
}

// startBrowser starts a browser, which ends with stop, or by itself after browserTime.
func startBrowser(path string) (b *browser, stop func(), err error) {
	const browserTime = 20 * time.Minute
	dir, err := os.MkdirTemp("", "sequent-chromium")
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(dir),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("no-first-run", true), chromedp.Flag("disable-dev-shm-usage", true),
		// Frames of other sites, such as an MCP App in a chat, are reached in the process of their page.
		chromedp.Flag("disable-features", "site-per-process,Translate,IsolateSandboxedIframes"),
		chromedp.Flag("enable-precise-memory-info", true), chromedp.WSURLReadTimeout(2*time.Minute))
	base, cancelAll := context.WithTimeout(context.Background(), browserTime)
	allocator, cancelAllocator := chromedp.NewExecAllocator(base, options...)
	ctx, cancel := chromedp.NewContext(allocator)
	stop = func() {
		cancel()
		cancelAllocator()
		cancelAll()
		_ = os.RemoveAll(dir) // helper processes of the browser may still write to it
	}
	if err := chromedp.Do(ctx); err != nil {
		stop()
		return nil, nil, err
	}
	return &browser{ctx}, stop, nil
}

// A tab is a page of a browser with a storage of its own. It records what must not happen.
type tab struct {
	t   *testing.T
	ctx context.Context

	emulated emulation.SetEmulatedMediaParams

	mu       sync.Mutex
	requests []string                   // URLs that the page has asked for
	frame    runtime.ExecutionContextID // of the newest frame in a frame
	problems []string                   // exceptions, errors of the console, violations of the policy
}

// open opens a page in a window and a storage of its own.
func (b *browser) open(t *testing.T, url string) *tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Minute)
	t.Cleanup(cancel)
	return openTab(t, ctx, url, chromedp.WithNewBrowserContext())
}

// beside opens a page in another tab of the window, which hides this one.
func (p *tab) beside(url string) *tab {
	p.t.Helper()
	return openTab(p.t, p.ctx, url, chromedp.WithNewWindow(false))
}

// show brings the tab to the front of its window.
func (p *tab) show() {
	p.t.Helper()
	call(p, page.BringToFront, cdp.Empty{})
}

func openTab(t *testing.T, from context.Context, url string, option chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(from, option)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	err := chromedp.Listen(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			p.requests = append(p.requests, e.Request.URL)
		case *runtime.EventExecutionContextCreated:
			if e.Context.Origin == "://" || e.Context.Origin == "null" || e.Context.Origin == "" { // of a sandbox
				p.frame = e.Context.ID
			}
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text
			if e.ExceptionDetails.Exception != nil {
				text += " " + e.ExceptionDetails.Exception.Description
			}
			p.problems = append(p.problems, text)
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == "error" {
				p.problems = append(p.problems, e.Entry.Text+" "+e.Entry.URL)
			}
		case *page.EventJavascriptDialogOpening:
			p.problems = append(p.problems, "dialog: "+e.Message)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	p.size(1400, 900)
	p.run(chromedp.Navigate(url))
	return p
}

// call sends a command to the browser.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) {
	p.t.Helper()
	p.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	}))
}

// size sets the size of the window.
func (p *tab) size(width, height int64) {
	p.t.Helper()
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
}

func (p *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.fatal(err)
	}
}

// fatal ends the test with an error and what the page has reported.
func (p *tab) fatal(err any) {
	p.t.Helper()
	state, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`location.href + "\n" + document.activeElement.outerHTML.slice(0, 200) + "\n" + document.body.innerText.slice(0, 2000)`))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.t.Logf("the page:\n%s", state)
	p.t.Fatalf("%v\nproblems: %s", err, strings.Join(p.problems, "\n"))
}

// eval returns the value of an expression; promises are awaited.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.fatal(fmt.Sprintf("%s: %v", expression, err))
	}
	return value
}

// wait waits until an expression is true, also over changes of the page.
func (p *tab) wait(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 30*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")", chromedp.EvalAwaitPromise))
		if is {
			return
		}
		if err != nil && ctx.Err() == nil && !leaving(err) {
			p.fatal(fmt.Sprintf("%s: %v", expression, err))
		}
		time.Sleep(20 * time.Millisecond)
	}
	p.fatal("not within 30 s: " + expression)
}

// leaving reports whether an expression has no value because the page was left meanwhile.
func leaving(err error) bool {
	return slices.ContainsFunc([]string{"navigated or closed", "context was destroyed", "Cannot find context"}, func(text string) bool {
		return strings.Contains(err.Error(), text)
	})
}

// keys presses keys, one after the other: characters, "\t" for Tab, "\r" for Enter, "\x1b" for Escape and "↓".
func (p *tab) keys(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		down := input.DispatchKeyEventParams{Type: "keyDown", Key: k, Text: k}
		switch k {
		case "\r":
			down.Key, down.Code, down.WindowsVirtualKeyCode = "Enter", "Enter", 13
		case "↓":
			down.Key, down.Code, down.WindowsVirtualKeyCode, down.Text = "ArrowDown", "ArrowDown", 40, ""
		case "\t":
			down.Key, down.Code, down.WindowsVirtualKeyCode, down.Text = "Tab", "Tab", 9, ""
		case "\x1b":
			down.Key, down.Code, down.WindowsVirtualKeyCode, down.Text = "Escape", "Escape", 27, ""
		}
		call(p, input.DispatchKeyEvent, down)
		call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: "keyUp", Key: down.Key, Code: down.Code, WindowsVirtualKeyCode: down.WindowsVirtualKeyCode})
	}
}

// write types a text.
func (p *tab) write(text string) {
	p.t.Helper()
	call(p, input.InsertText, input.InsertTextParams{Text: text})
}

// clean fails the test if something has happened that must not. Problems that contain one of
// the exceptions belong to the test.
func (p *tab) clean(exceptions ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, problem := range p.problems {
		if !slices.ContainsFunc(exceptions, func(e string) bool { return strings.Contains(problem, e) }) {
			p.t.Error(problem)
		}
	}
}

// forDocs saves what can be seen for the documentation, in the 256 colours that are used most:
// a smaller file with the same look.
func (p *tab) forDocs(name string) {
	p.t.Helper()
	if *docs == "" {
		return
	}
	p.run(chromedp.Sleep(300 * time.Millisecond))
	data, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.fatal(err)
	}
	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		p.t.Fatal(err)
	}
	uses := make(map[color.Color]int)
	for y := full.Bounds().Min.Y; y < full.Bounds().Max.Y; y++ {
		for x := full.Bounds().Min.X; x < full.Bounds().Max.X; x++ {
			uses[full.At(x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(uses), func(a, b color.Color) int {
		return cmp.Or(uses[b]-uses[a], cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	small := image.NewPaletted(full.Bounds(), colors[:min(len(colors), 256)])
	draw.Draw(small, small.Bounds(), full, full.Bounds().Min, draw.Src)
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, small); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*docs, name+".png"), b.Bytes(), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// theme sets whether the person prefers light or dark.
func (p *tab) theme(name string) {
	p.t.Helper()
	p.emulated.Features = []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}
	call(p, emulation.SetEmulatedMedia, p.emulated)
}

// media sets the medium for which the page is laid out; empty means the screen.
func (p *tab) media(name string) {
	p.t.Helper()
	p.emulated.Media = name
	call(p, emulation.SetEmulatedMedia, p.emulated)
}

// startView runs sequent view and returns the URL that it prints. It is stopped at the end
// of the test.
func startView(t *testing.T, program, store string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute)
	cmd := exec.CommandContext(ctx, program, append([]string{"view", "--print", "--store", store}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was interrupted
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(url)
}

func clickOn(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS(selector))
}

// navigate goes to another page.
func navigate(url string) chromedp.Action[chromedp.Void] { return chromedp.Navigate(url) }

func reload() chromedp.Action[chromedp.Void] { return chromedp.Reload() }

// A target is what actions of a test are done to.
type target = chromedp.Target
