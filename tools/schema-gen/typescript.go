package main

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
)

// Types that src/api/object.ts writes by hand, more exactly than the schemas say.
var handWritten = map[string]string{
	"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta":         "ObjectMeta",
	"io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference":     "OwnerReference",
	"io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry": "ManagedFieldsEntry",
}

// typeScript writes one deeply readonly type alias for every struct (an alias, so that it is assignable to KubeObject).
func typeScript(r *reflector, kinds map[string]map[string]string) string {
	isKind := map[string]bool{}
	for _, byKind := range kinds {
		for _, definition := range byKind {
			isKind[definition] = true
		}
	}
	names := typeNames(sortedKeys(r.table.Structs))
	var out strings.Builder
	out.WriteString(header)
	out.WriteString("import type { Json, JsonObject, ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../object.ts'\n\n")
	out.WriteString("export type { ManagedFieldsEntry, ObjectMeta, OwnerReference }\n")
	for _, definition := range sortedKeys(r.table.Structs) {
		if handWritten[definition] != "" {
			continue
		}
		fmt.Fprintf(&out, "\n/** %s */\nexport type %s = {\n", definition, names[definition])
		for _, field := range r.table.Structs[definition].Fields {
			name, flags := field[0].(string), field[3].(int)
			optional := "?"
			if flags&(flagOmitEmpty|flagOmitZero) == 0 {
				optional = ""
			}
			if isKind[definition] && (name == "apiVersion" || name == "kind" || name == "metadata") {
				optional = ""
			}
			fmt.Fprintf(&out, "  readonly %s%s: %s\n", property(name), optional, r.typeScriptType(field[2].(int), names))
		}
		out.WriteString("}\n")
	}
	return out.String()
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func property(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return "'" + name + "'"
}

func (r *reflector) typeScriptType(index int, names map[string]string) string {
	entry := r.table.Types[index]
	switch entry[0].(string) {
	case "string", "bytes", "quantity", "time", "microTime", "duration":
		return "string"
	case "boolean":
		return "boolean"
	case "int32", "int64", "number":
		return "number"
	case "intOrString":
		return "number | string"
	case "any":
		if strings.HasSuffix(entry[1].(string), "FieldsV1") {
			return "JsonObject"
		}
		return "Json"
	case "schemaOrBool":
		return names[entry[2].(string)] + " | boolean"
	case "schemaOrArray":
		return names[entry[2].(string)] + " | readonly " + names[entry[2].(string)] + "[]"
	case "schemaOrStringArray":
		return names[entry[2].(string)] + " | readonly string[]"
	case "list":
		inner := r.typeScriptType(entry[2].(int), names)
		if strings.Contains(inner, "|") {
			inner = "(" + inner + ")"
		}
		if strings.HasPrefix(inner, "readonly ") {
			inner = "(" + inner + ")"
		}
		return "readonly " + inner + "[]"
	case "map":
		return "{ readonly [key: string]: " + r.typeScriptType(entry[2].(int), names) + " }"
	case "struct":
		return names[entry[2].(string)]
	}
	panic(entry[0])
}

// typeNames gives each definition its bare name where no other has it; of several, core's or meta's (or the newest
// version's, within one group) has the bare name and the others one with their group and version before it.
func typeNames(definitions []string) map[string]string {
	byName := map[string][]string{}
	for _, definition := range definitions {
		name := definition[strings.LastIndexByte(definition, '.')+1:]
		byName[name] = append(byName[name], definition)
	}
	names := map[string]string{}
	for name, list := range byName {
		sort.Slice(list, func(i, j int) bool {
			if a, b := precedence(list[i]), precedence(list[j]); a != b {
				return a < b
			}
			return list[i] > list[j]
		})
		for i, definition := range list {
			names[definition] = name
			if i > 0 || (precedence(definition) > 1 && differentGroups(list)) {
				parts := strings.Split(definition, ".")
				names[definition] = capital(parts[len(parts)-3]) + capital(parts[len(parts)-2]) + name
			}
		}
	}
	return names
}

func precedence(definition string) int {
	switch {
	case strings.HasPrefix(definition, "io.k8s.api.core.v1."):
		return 0
	case strings.HasPrefix(definition, "io.k8s.apimachinery."):
		return 1
	}
	return 2
}

func differentGroups(list []string) bool {
	groups := map[string]bool{}
	for _, definition := range list {
		parts := strings.Split(definition, ".")
		groups[parts[len(parts)-3]] = true
	}
	return len(groups) > 1
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
