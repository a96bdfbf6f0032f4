package oidc_test

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A person signs in at the provider's pages as a browser would, without scripts.
type person struct {
	t      *testing.T
	client *http.Client
	fields map[string]string // what the person enters
	until  string            // prefix of the URL at which the visit ends; empty for none
	answer url.Values        // query of that URL
}

func newPerson(t *testing.T, fields map[string]string) *person {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, client: &http.Client{Jar: jar, Timeout: time.Minute}, fields: fields}
	p.client.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if p.until != "" && strings.HasPrefix(r.URL.String(), p.until) {
			p.answer = r.URL.Query()
			return http.ErrUseLastResponse
		}
		return nil
	}
	return p
}

var (
	actionPattern = regexp.MustCompile(`action="([^"]+)"`)
	inputPattern  = regexp.MustCompile(`<input[^>]*>`)
	namePattern   = regexp.MustCompile(`name="([^"]+)"`)
	valuePattern  = regexp.MustCompile(`value="([^"]*)"`)
)

// visit opens a page and submits its forms until a page has none.
func (p *person) visit(page string) (last string) {
	p.t.Helper()
	reply, err := p.client.Get(page)
	for range 10 {
		if err != nil {
			p.t.Fatal(err)
		}
		text, err2 := io.ReadAll(reply.Body)
		reply.Body.Close()
		if err2 != nil {
			p.t.Fatal(err2)
		}
		if p.answer != nil {
			return ""
		}
		action := actionPattern.FindSubmatch(text)
		if action == nil {
			return string(text)
		}
		form := url.Values{}
		for _, input := range inputPattern.FindAll(text, -1) {
			if name := namePattern.FindSubmatch(input); name != nil {
				form.Set(string(name[1]), p.fields[string(name[1])])
				if value := valuePattern.FindSubmatch(input); value != nil {
					form.Set(string(name[1]), string(value[1]))
				}
			}
		}
		next, err2 := reply.Request.URL.Parse(html.UnescapeString(string(action[1])))
		if err2 != nil {
			p.t.Fatal(err2)
		}
		reply, err = p.client.PostForm(next.String(), form)
	}
	p.t.Fatal("the provider never came to an end")
	return ""
}
