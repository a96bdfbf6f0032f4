package gendocs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent"
)

// Errors returns the reference page of error codes. Source is the text of the
// file that declares them; the comment after a declaration is the code's meaning.
func Errors(source []byte) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "limits.go", source, parser.ParseComments)
	if err != nil {
		return "", err
	}
	meaning := map[sequent.Code]string{}
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.CONST {
			continue
		}
		for _, s := range decl.Specs {
			v, ok := s.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 || !strings.HasPrefix(v.Names[0].Name, "Code") {
				continue
			}
			if lit, ok := v.Values[0].(*ast.BasicLit); ok {
				code, err := strconv.Unquote(lit.Value)
				if err != nil {
					return "", err
				}
				meaning[sequent.Code(code)] = cell(v.Comment.Text())
			}
		}
	}
	codes := sequent.Codes()
	delete(meaning, sequent.CodeUsage) // no call returns it
	if len(meaning) != len(codes) {
		return "", fmt.Errorf("limits.go declares %d codes, sequent.Codes returns %d", len(meaning), len(codes))
	}
	var rows [][]string
	for _, c := range codes {
		if meaning[c] == "" {
			return "", fmt.Errorf("the declaration of code %s has no comment on its line", c)
		}
		rows = append(rows, []string{"`" + string(c) + "`", meaning[c]})
	}
	var b strings.Builder
	b.WriteString("# Error codes\n\n" +
		"The error codes of package `sequent` and its stores. Codes are stable: new ones may be added, and none is\n" +
		"removed or changes its meaning. In Go, `sequent.CodeOf(err)` returns the code of any error. Each dialect\n" +
		"translates these errors into the words of its contract, and documents the codes of its own rules.\n\n")
	table(&b, []string{"Code", "Meaning"}, rows)
	return strings.TrimRight(b.String(), "\n") + "\n", nil
}
