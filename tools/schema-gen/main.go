// schema-gen writes src/api/generated: what the API's published schemas, its discovery documents and its Go types say
// about every field and resource. Facts only. Run it in its folder: `go run .`; the same inputs give the same bytes.
package main

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func main() {
	out := flag.String("out", "../../src/api/generated", "folder to write")
	flag.Parse()

	published := map[string]openAPISchema{}
	readInput("schemas", &published)
	discovery := map[string]discoveryDocument{}
	readInput("discovery", &discovery)
	columns := map[string][]column{}
	readInput("columns", &columns)
	// Versions that are served when --runtime-config asks for them, of kinds that are served in another one.
	optional := map[string]discoveryDocument{}
	readInput("optional", &optional)

	scheme := newScheme()
	served := map[schema.GroupVersion]bool{}
	for path, document := range discovery {
		if document.GroupVersion != "" && path != "/api" {
			gv, err := schema.ParseGroupVersion(document.GroupVersion)
			if err != nil {
				panic(err)
			}
			served[gv] = true
		}
	}

	reflected := newReflector(published)
	kinds := map[string]map[string]string{}
	optionalKinds := map[string]map[string]string{}
	isOptional := map[string]bool{}
	for _, document := range optional {
		for _, one := range document.Resources {
			isOptional[document.GroupVersion+" "+one.Kind] = true
			isOptional[document.GroupVersion+" "+one.Kind+"List"] = true
		}
	}
	unserved := map[string][]string{}
	for gvk, t := range scheme.AllKnownTypes() {
		// The machinery's options are registered for every version; they stand once, under meta.k8s.io/v1.
		if strings.HasPrefix(t.PkgPath(), "k8s.io/apimachinery/") || gvk.Version == "__internal" {
			continue
		}
		gv := gvk.GroupVersion().String()
		if isOptional[gv+" "+gvk.Kind] {
			if optionalKinds[gv] == nil {
				optionalKinds[gv] = map[string]string{}
			}
			optionalKinds[gv][gvk.Kind] = definitionOf(t)
			continue
		}
		if !served[gvk.GroupVersion()] {
			unserved[gv] = append(unserved[gv], gvk.Kind)
			continue
		}
		if kinds[gv] == nil {
			kinds[gv] = map[string]string{}
		}
		kinds[gv][gvk.Kind] = definitionOf(t)
	}
	metaKinds := map[string]string{}
	for _, value := range metaTypes() {
		t := reflect.TypeOf(value)
		metaKinds[t.Name()] = definitionOf(t)
		reflected.typeIndex(t)
	}
	delete(metaKinds, "Info")
	kinds[metaVersion.String()] = metaKinds
	known := scheme.AllKnownTypes()
	for _, gv := range sortedKeys(kinds) {
		for _, kind := range sortedKeys(kinds[gv]) {
			parsed, _ := schema.ParseGroupVersion(gv)
			if t, ok := known[parsed.WithKind(kind)]; ok && parsed != metaVersion {
				reflected.typeIndex(t)
			}
		}
	}
	for gv := range unserved {
		sortStrings(unserved[gv])
	}
	types := typeScript(reflected, kinds)
	// What is served by default has the first places in the tables, and the types: the others are of the same kinds.
	for _, gv := range sortedKeys(optionalKinds) {
		for _, kind := range sortedKeys(optionalKinds[gv]) {
			parsed, _ := schema.ParseGroupVersion(gv)
			reflected.typeIndex(known[parsed.WithKind(kind)])
		}
	}

	if err := os.MkdirAll(*out, 0o755); err != nil {
		panic(err)
	}
	writeConstant(*out, "fields", "fieldTable", reflected.table)
	writeConstant(*out, "resources", "resourceTable", map[string]any{
		"kinds":     kinds,
		"unserved":  unserved,
		"rows":      resourceRows(discovery, columns),
		"optional":  map[string]any{"kinds": optionalKinds, "rows": optionalRows(optional, discovery, columns)},
		"groups":    discovery["/apis"].Groups,
		"metaKinds": sortedKeys(metaKinds),
	})
	writeConstant(*out, "tags", "tagTable", validationTags(reflected))
	writeFile(*out, "types.ts", types)
	writeFile(*out, "openapi.ts", publishedSchemas())
}

func readInput(name string, into any) {
	file, err := os.Open(filepath.Join("inputs", name+".json.gz"))
	if err != nil {
		panic(err)
	}
	defer file.Close()
	reader, err := gzip.NewReader(file)
	if err != nil {
		panic(err)
	}
	if err := json.NewDecoder(reader).Decode(into); err != nil {
		panic(err)
	}
}

// publishedSchemas keeps the schemas as they came, compressed: the same bytes whatever Go's compressor does.
func publishedSchemas() string {
	packed, err := os.ReadFile(filepath.Join("inputs", "schemas.json.gz"))
	if err != nil {
		panic(err)
	}
	text := base64.StdEncoding.EncodeToString(packed)
	return header + "/** The schemas of OpenAPI v3 by definition: JSON, gzip, base64. */\nexport const openApiSchemas: string =\n  '" + text + "'\n"
}

const header = "// Written by tools/schema-gen; do not edit.\n"

// writeConstant writes a table as one string constant, which costs nothing until it is parsed.
func writeConstant(folder, file, name string, table any) {
	text := strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(string(marshal(table)))
	writeFile(folder, file+".ts", header+"export const "+name+": string =\n  '"+text+"'\n")
}

func writeFile(folder, name, text string) {
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
		panic(err)
	}
}
