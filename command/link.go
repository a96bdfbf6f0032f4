package command

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/sequent-dev/sequent/web"
)

// A link is a link to a session that sequent server link has made.
type link struct{ web.Link }

func runLink(p *program, ctx context.Context) (result, error) {
	if p.lifetime < time.Second || p.lifetime > web.MaxLifetime {
		return nil, invalid("expires", (*span)(&p.lifetime), "a duration such as 7d or 12h, at most 365d")
	}
	s, err := p.session(ctx, p.engine, p.args)
	if err != nil {
		return nil, err
	}
	made := new(link)
	r, err := p.links(ctx, http.MethodPost, "", nil, map[string]any{"id": s.ID(), "seconds": int64(p.lifetime / time.Second)}, made)
	if err == nil {
		made.URL = cmp.Or(made.URL, r.base.String()+made.Path)
	}
	return made, err
}

func (l *link) text(pg *page) {
	pg.say("%s", l.URL)
	pg.tell("Whoever has this link reads the session until %s. End it with: %s",
		l.Expires.Local().Format("2 Jan 2006 15:04"), pg.next("server", "link", "revoke", l.ID))
}

// links sends a request about links and decodes the reply.
func (p *program) links(ctx context.Context, method, id string, query url.Values, body, into any) (*remote, error) {
	r, err := p.connect()
	if err != nil {
		return nil, err
	}
	if err := r.call(ctx, method, "links"+id, query, body, into); err != nil {
		return nil, r.explain(err)
	}
	return r, nil
}

// A linkList is what sequent server link list has found.
type linkList struct {
	Links []web.Link `json:"links"`
}

func runLinks(p *program, ctx context.Context) (result, error) {
	query := url.Values{}
	if p.allOwners {
		query.Set("all", "true")
	}
	if len(p.args) > 0 {
		s, err := p.session(ctx, p.engine, p.args)
		if err != nil {
			return nil, err
		}
		query.Set("id", string(s.ID()))
	}
	found := new(linkList)
	_, err := p.links(ctx, http.MethodGet, "", query, nil, found)
	return found, err
}

func (l *linkList) text(pg *page) {
	if len(l.Links) == 0 {
		pg.say("No links.")
	}
	for _, s := range l.Links {
		line := s.ID + "  " + s.Expires.Local().Format("until 2006-01-02 15:04") + "  " + s.Session
		if s.Owner != "" {
			line += "  of " + s.Owner
		}
		if s.Token != "" {
			line += "  by token " + s.Token
		}
		if s.Ended {
			line += "  ended with its token"
		}
		pg.say("%s", line)
	}
}

// An endedLink is a link that sequent server link revoke has ended.
type endedLink struct{ web.Link }

func (l *endedLink) text(pg *page) { pg.say("Ended the link %s to %s.", l.ID, l.Session) }

func runUnlink(p *program, ctx context.Context) (result, error) {
	for _, id := range p.args {
		ended := new(endedLink)
		if _, err := p.links(ctx, http.MethodDelete, "/"+url.PathEscape(id), nil, nil, ended); err != nil {
			return nil, err
		}
		p.printResult(ended)
	}
	return nil, nil
}
