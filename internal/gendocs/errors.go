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

// Errors returns the page of error codes. What a code means is the comment beside
// its declaration in source, which is the text of the errors.go that declares them.
func Errors(source []byte) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", source, parser.ParseComments)
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
	if len(meaning) != len(codes) {
		return "", fmt.Errorf("errors.go declares %d codes, and Codes has %d", len(meaning), len(codes))
	}
	var rows [][]string
	for _, c := range codes {
		if meaning[c] == "" {
			return "", fmt.Errorf("the code %s has no comment beside it", c)
		}
		rows = append(rows, []string{"`" + string(c) + "`", meaning[c]})
	}
	var b strings.Builder
	b.WriteString("# Error codes\n\n" +
		"The codes of package `sequent` and of its stores. Codes are stable: new ones may come, none goes or\n" +
		"changes its meaning. In Go, `sequent.CodeOf(err)` returns the code of any error. Each dialect words\n" +
		"refusals in the way of its contract; codes of rules that only one dialect has are in that dialect.\n\n")
	table(&b, []string{"Code", "Meaning"}, rows)
	return strings.TrimRight(b.String(), "\n") + "\n", nil
}
