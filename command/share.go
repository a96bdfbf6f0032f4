package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/web"
)

func (p *program) share() *cobra.Command {
	lifetime := sequent.DefaultShare
	var mask exporting
	c := &cobra.Command{
		Use:   "share ID --server URL",
		Short: "Print a link with which others read a session",
		Long: `Print a link to a session on a server (sequent serve --http). Whoever has the link reads this session in a
browser, without a token, while it goes on, until the link expires or is revoked. The link shows nothing
else: no other session, no list and no search. The owner, the project and the names of people who wrote notes are left out.

--redact and --redact-secrets mask texts as sequent export does, on the server and in thoughts that are still to
come. A thought that a model is writing is then shown when it is recorded.

The link is printed once and cannot be shown again; the store keeps a hash of it. It ends with its
session. The ID can be shortened to its first characters.

--json prints {"id", "session", "owner", "by", "created", "expires", "masked", "path", "url"}.`,
		Example: "sequent share 7k3 --server https://think.example.com\n\nsequent share 7k3 --server https://think.example.com --expires 1h\n\n" +
			"# without keys and mail addresses\nsequent share 7k3 --server https://think.example.com --redact-secrets --redact '[\\w.]+@[\\w.]+'\n\n" +
			"# which links there are, and the end of one\nsequent share list --server https://think.example.com\nsequent share revoke 3f9a0c1d2e4b5a67 --server https://think.example.com",
		Args: arguments(1, 1, "a session, or list or revoke"),
		RunE: func(c *cobra.Command, args []string) error {
			if lifetime < time.Second || lifetime > sequent.MaxShare {
				return invalid("expires", (*span)(&lifetime), "a duration such as 7d or 12h, at most 365d")
			}
			if _, err := mask.patterns(); err != nil {
				return err
			}
			return p.withShares(c.Context(), func(r *remote, a *app.App) error {
				s, err := p.wanted(c.Context(), a.Engine, args)
				if sequent.CodeOf(err) == sequent.CodeSessionNotFound {
					if others := ownersWith(c.Context(), a.Engine, args[0]); others != "" {
						return &usageError{msg: "only the owner of a session makes links to it, here " + strings.TrimPrefix(others, "--owner "), fix: "ask the owner for a link"}
					}
				}
				if err != nil {
					return err
				}
				return p.makeLink(c.Context(), r, map[string]any{
					"id": s.ID(), "seconds": int64(lifetime / time.Second), "secrets": mask.secrets, "redact": mask.redact,
				})
			})
		},
	}
	c.Flags().Var(namedValue{(*span)(&lifetime), "DURATION"}, "expires", "lifetime of the link, such as 1h or 30d; at most 365d")
	mask.addRedactFlags(c)
	p.addShareFlags(c)
	c.AddCommand(p.shareList(), p.shareRevoke())
	return c
}

func (p *program) addShareFlags(c *cobra.Command) {
	c.Flags().StringVar(&p.server, "server", "", "URL of the server, with the token of SEQUENT_TOKEN or sequent login; required")
	p.addJSONFlag(c)
}

// withShares runs do with the server of --server.
func (p *program) withShares(ctx context.Context, do func(r *remote, a *app.App) error) error {
	if p.server == "" {
		return &usageError{msg: "a link leads to a server", fix: "pass --server URL, such as --server https://think.example.com"}
	}
	r, err := p.connect(p.server)
	if err != nil {
		return err
	}
	p.store = "" // a store in the environment is for other commands
	return p.withStore(ctx, func(a *app.App) error { return do(r, a) })
}

// call sends a request about links and decodes the reply.
func (r *remote) call(ctx context.Context, method, name string, query url.Values, body, into any) error {
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return err
		}
	}
	reply, err := r.send(ctx, method, name, query, bytes.NewReader(sent))
	if err != nil {
		return r.explain(err)
	}
	defer reply.Close()
	return json.NewDecoder(reply).Decode(into)
}

// makeLink makes a link as body says, and prints it.
func (p *program) makeLink(ctx context.Context, r *remote, body map[string]any) error {
	var made web.Share
	if err := r.call(ctx, http.MethodPost, "shares", nil, body, &made); err != nil {
		return err
	}
	if (body["secrets"] == true || len(body["redact"].([]string)) > 0) && !made.Masked { // the server ignores what it does not know
		err := r.call(ctx, http.MethodDelete, "shares/"+url.PathEscape(made.ID), nil, nil, &web.Share{})
		return errors.Join(&usageError{msg: "the server " + r.base.Host + " is too old to mask texts behind links", fix: "upgrade sequent on the server, and restart it"}, err)
	}
	made.URL = cmp.Or(made.URL, r.base.String()+made.Path)
	if p.json {
		return writeJSON(p.out, made)
	}
	fmt.Fprintln(p.out, made.URL)
	_, err := fmt.Fprintf(p.err, "Whoever has this link reads the session until %s. End it with: sequent share revoke %s\n", made.Expires.Local().Format("2 Jan 2006 15:04"), made.ID)
	return err
}

func (p *program) shareList() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "list [ID] --server URL",
		Short: "List the links to your sessions",
		Long: `List the links that work now, the latest first: the id with which a link is revoked, the session, when it
ends and who has made it. With an ID, the links to that session.

--json prints {"shares": [{"id", "session", "owner", "by", "created", "expires", "masked"}]}.`,
		Example: "sequent share list --server https://think.example.com",
		Args:    arguments(0, 1, "at most one session"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withShares(c.Context(), func(r *remote, a *app.App) error {
				query := url.Values{}
				if len(args) > 0 {
					s, err := p.wanted(c.Context(), a.Engine, args)
					if err != nil {
						return err
					}
					query.Set("id", string(s.ID()))
				}
				if all {
					query.Set("all", "true")
				}
				return p.listLinks(c.Context(), r, query)
			})
		},
	}
	c.Flags().BoolVar(&all, "all-owners", false, "links to the sessions of all owners (needs a token with the scope admin)")
	p.addShareFlags(c)
	return c
}

func (p *program) listLinks(ctx context.Context, r *remote, query url.Values) error {
	var reply struct {
		Shares []web.Share `json:"shares"`
	}
	if err := r.call(ctx, http.MethodGet, "shares", query, nil, &reply); err != nil {
		return err
	}
	if p.json {
		return writeJSON(p.out, reply)
	}
	if len(reply.Shares) == 0 {
		return p.printf("No links.")
	}
	for _, s := range reply.Shares {
		line := s.ID + "  " + s.Expires.Local().Format("until 2006-01-02 15:04") + "  " + s.Session
		if s.Owner != "" {
			line += "  of " + s.Owner
		}
		if s.By != "" && s.By != s.Owner {
			line += "  by " + s.By
		}
		if s.Masked {
			line += "  masked"
		}
		if err := p.printf("%s", line); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) shareRevoke() *cobra.Command {
	c := &cobra.Command{
		Use:   "revoke LINK-ID... --server URL",
		Short: "End links to sessions at once",
		Long: `End links: pages that are open end within a second, those of hidden tabs when they are shown. LINK-ID is what
sequent share list shows, not the link itself. A token with the scope admin ends those of any owner.

--json prints the links that were ended, one a line.`,
		Example: "sequent share revoke 3f9a0c1d2e4b5a67 --server https://think.example.com",
		Args:    arguments(1, -1, "the ids of links"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withShares(c.Context(), func(r *remote, _ *app.App) error {
				for _, id := range args {
					var ended web.Share
					if err := r.call(c.Context(), http.MethodDelete, "shares/"+url.PathEscape(id), nil, nil, &ended); err != nil {
						return err
					}
					if p.json {
						if err := writeJSON(p.out, ended); err != nil {
							return err
						}
						continue
					}
					if err := p.printf("Ended the link %s to %s.", ended.ID, ended.Session); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	p.addShareFlags(c)
	return c
}
