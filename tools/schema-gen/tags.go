package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
)

// validationTags collects the `+k8s:` tags of the reflected types from the comments of their sources:
// definition → Go field name ("" for the type itself) → tags in order, without the leading "+k8s:".
func validationTags(r *reflector) map[string]map[string][]string {
	packages := map[string][]string{}
	for definition, t := range r.goTypes {
		packages[t.PkgPath()] = append(packages[t.PkgPath()], definition)
	}
	tags := map[string]map[string][]string{}
	for _, path := range sortedKeys(packages) {
		folder, err := exec.Command("go", "list", "-f", "{{.Dir}}", path).Output()
		if err != nil {
			panic(err)
		}
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(folder)), "*.go"))
		if err != nil {
			panic(err)
		}
		found := map[string]map[string][]string{}
		for _, file := range files {
			if !strings.HasPrefix(filepath.Base(file), "zz_") && !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(file, ".pb.go") {
				collectTags(file, found)
			}
		}
		for _, definition := range packages[path] {
			if own := found[definition[strings.LastIndexByte(definition, '.')+1:]]; len(own) > 0 {
				tags[definition] = own
			}
		}
	}
	return tags
}

func collectTags(file string, into map[string]map[string][]string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		panic(err)
	}
	for _, declaration := range parsed.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok || general.Tok != token.TYPE {
			continue
		}
		for _, spec := range general.Specs {
			one := spec.(*ast.TypeSpec)
			own := map[string][]string{}
			if list := tagsIn(general.Doc); len(list) > 0 {
				own[""] = list
			}
			if structure, ok := one.Type.(*ast.StructType); ok {
				for _, field := range structure.Fields.List {
					list := tagsIn(field.Doc)
					for _, name := range field.Names {
						if len(list) > 0 {
							own[name.Name] = list
						}
					}
				}
			}
			if len(own) > 0 {
				into[one.Name.Name] = own
			}
		}
	}
}

// Tags that steer code generators and say nothing of values.
var generatorTags = []string{"deepcopy", "prerelease", "conversion", "openapi", "protobuf", "validation-gen", "defaulter-gen", "deprecated"}

func tagsIn(doc *ast.CommentGroup) []string {
	if doc == nil {
		return nil
	}
	list := []string{}
	for _, comment := range doc.List {
		text := strings.TrimSpace(strings.TrimPrefix(comment.Text, "//"))
		tag, ok := strings.CutPrefix(text, "+k8s:")
		if !ok {
			continue
		}
		skip := false
		for _, generator := range generatorTags {
			skip = skip || strings.HasPrefix(tag, generator)
		}
		if !skip {
			list = append(list, tag)
		}
	}
	return list
}
