package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"
)

// fieldTable is what src/api/generated/fields.ts carries.
//
// A type is [kind, Go name, inner?]: inner is the type index of a list's items or a map's values, the definition of a
// struct, and for the unions of apiextensions the definition of their object. A field is
// [name, Go name, type, flags, protobuf numbers, protobuf wire type, extra?].
type fieldTable struct {
	Types   [][]any               `json:"types"`
	Structs map[string]structInfo `json:"structs"`
}

type structInfo struct {
	Go     string  `json:"go"`
	Atomic bool    `json:"atomic,omitempty"`
	Fields [][]any `json:"fields"`
}

type extra struct {
	Inline      []string        `json:"inline,omitempty"`
	Required    bool            `json:"-"`
	ListType    string          `json:"listType,omitempty"`
	ListMapKeys []string        `json:"listMapKeys,omitempty"`
	MapType     string          `json:"mapType,omitempty"`
	Strategy    []string        `json:"strategy,omitempty"`
	MergeKey    string          `json:"mergeKey,omitempty"`
	Enum        json.RawMessage `json:"enum,omitempty"`
	ItemEnum    json.RawMessage `json:"itemEnum,omitempty"`
	Format      string          `json:"format,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
}

const (
	flagPointer = 1 << iota
	flagOmitEmpty
	flagOmitZero
	flagRequired
)

// special types decode themselves (json.Unmarshaler); the table names their rule.
var special = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                                             "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                                        "microTime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                                         "duration",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                                         "quantity",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                                       "intOrString",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                                         "any",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                                          "any",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":                         "any",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "schemaOrBool",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "schemaOrArray",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "schemaOrStringArray",
}

type reflector struct {
	table     fieldTable
	byType    map[reflect.Type]int
	goTypes   map[string]reflect.Type
	published map[string]openAPISchema
}

// openAPISchema is the part of a published schema that struct tags do not say.
type openAPISchema struct {
	Ref        string                   `json:"$ref"`
	AllOf      []openAPISchema          `json:"allOf"`
	Properties map[string]openAPISchema `json:"properties"`
	Items      *openAPISchema           `json:"items"`
	Required   []string                 `json:"required"`
	Format     string                   `json:"format"`
	Enum       json.RawMessage          `json:"enum"`
	Default    json.RawMessage          `json:"default"`
	ListType   string                   `json:"x-kubernetes-list-type"`
	ListKeys   []string                 `json:"x-kubernetes-list-map-keys"`
	MapType    string                   `json:"x-kubernetes-map-type"`
	Strategy   string                   `json:"x-kubernetes-patch-strategy"`
	MergeKey   string                   `json:"x-kubernetes-patch-merge-key"`
}

func newReflector(published map[string]openAPISchema) *reflector {
	return &reflector{
		table:     fieldTable{Types: [][]any{}, Structs: map[string]structInfo{}},
		byType:    map[reflect.Type]int{},
		goTypes:   map[string]reflect.Type{},
		published: published,
	}
}

// definitionOf names a Go type as the published schemas do: io.k8s.api.core.v1.PodSpec.
func definitionOf(t reflect.Type) string {
	return "io." + strings.ReplaceAll(strings.Replace(t.PkgPath(), "k8s.io", "k8s", 1), "/", ".") + "." + t.Name()
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func (r *reflector) typeIndex(t reflect.Type) int {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if index, ok := r.byType[t]; ok {
		return index
	}
	index := len(r.table.Types)
	r.byType[t] = index
	r.table.Types = append(r.table.Types, nil)
	r.table.Types[index] = r.typeEntry(t)
	return index
}

func (r *reflector) typeEntry(t reflect.Type) []any {
	if kind, ok := special[t.PkgPath()+"."+t.Name()]; ok {
		if strings.HasPrefix(kind, "schemaOr") {
			return []any{kind, t.String(), strings.TrimSuffix(definitionOf(t), t.Name()) + "JSONSchemaProps"}
		}
		return []any{kind, t.String()}
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		panic("a type decodes itself, and no rule is named for it: " + t.PkgPath() + "." + t.Name())
	}
	switch t.Kind() {
	case reflect.String:
		return []any{"string", t.String()}
	case reflect.Bool:
		return []any{"boolean", t.String()}
	case reflect.Int32:
		return []any{"int32", t.String()}
	case reflect.Int64, reflect.Int:
		return []any{"int64", t.String()}
	case reflect.Float64:
		return []any{"number", t.String()}
	case reflect.Interface:
		return []any{"any", t.String()}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return []any{"bytes", t.String()}
		}
		return []any{"list", t.String(), r.typeIndex(t.Elem())}
	case reflect.Map:
		return []any{"map", t.String(), r.typeIndex(t.Elem())}
	case reflect.Struct:
		return []any{"struct", t.String(), r.structDefinition(t)}
	}
	panic("no rule for Go type " + t.String() + " of kind " + t.Kind().String())
}

func (r *reflector) structDefinition(t reflect.Type) string {
	definition := definitionOf(t)
	if _, ok := r.table.Structs[definition]; ok {
		return definition
	}
	r.goTypes[definition] = t
	r.table.Structs[definition] = structInfo{}
	fields := [][]any{}
	r.collect(t, r.published[definition], nil, nil, &fields)
	r.table.Structs[definition] = structInfo{
		Go:     t.String(),
		Atomic: r.published[definition].MapType == "atomic",
		Fields: fields,
	}
	return definition
}

func (r *reflector) collect(t reflect.Type, published openAPISchema, inline []string, numbers []int, out *[][]any) {
	for i := range t.NumField() {
		field := t.Field(i)
		tag := field.Tag.Get("json")
		if tag == "-" || !field.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		wire, number := protobufTag(field.Tag.Get("protobuf"))
		path := append(append([]int{}, numbers...), number...)
		inner := field.Type
		for inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if field.Anonymous && name == "" && inner.Kind() == reflect.Struct {
			r.collect(inner, published, append(append([]string{}, inline...), field.Name), path, out)
			continue
		}
		if name == "" {
			name = field.Name
		}
		flags := 0
		if field.Type.Kind() == reflect.Pointer {
			flags |= flagPointer
		}
		for _, option := range strings.Split(options, ",") {
			switch option {
			case "omitempty":
				flags |= flagOmitEmpty
			case "omitzero":
				flags |= flagOmitZero
			}
		}
		about, required := r.about(published, name, inline, field)
		if required {
			flags |= flagRequired
		}
		row := []any{name, field.Name, r.typeIndex(field.Type), flags, path, wire}
		if encoded := marshal(about); string(encoded) != "{}" {
			row = append(row, about)
		}
		*out = append(*out, row)
	}
}

func (r *reflector) about(published openAPISchema, name string, inline []string, field reflect.StructField) (extra, bool) {
	property := published.Properties[name]
	about := extra{
		Inline: inline, ListType: property.ListType, ListMapKeys: property.ListKeys, MapType: property.MapType,
		MergeKey: property.MergeKey, Enum: property.Enum, Format: property.Format, Default: property.Default,
	}
	if property.Strategy != "" {
		about.Strategy = strings.Split(property.Strategy, ",")
	}
	if property.Items != nil {
		about.ItemEnum = property.Items.Enum
	}
	// The tags of kinds whose schema is not published.
	if strategy := field.Tag.Get("patchStrategy"); strategy != "" && about.Strategy == nil {
		about.Strategy = strings.Split(strategy, ",")
	}
	if key := field.Tag.Get("patchMergeKey"); key != "" && about.MergeKey == "" {
		about.MergeKey = key
	}
	switch about.Format {
	case "int32", "int64", "date-time", "int-or-string", "byte", "double":
		about.Format = "" // the type says so
	}
	if string(about.Default) == `""` || string(about.Default) == `{}` || string(about.Default) == `0` || string(about.Default) == `false` {
		about.Default = nil // the zero value: no default that anyone would see
	}
	required := false
	for _, one := range published.Required {
		required = required || one == name
	}
	return about, required
}

// protobufTag reads `bytes,1,opt,name=metadata`; a repeated field's wire type is followed by *.
func protobufTag(tag string) (string, []int) {
	parts := strings.Split(tag, ",")
	if len(parts) < 3 {
		return "", []int{}
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil {
		panic(fmt.Sprintf("protobuf tag %q: %v", tag, err))
	}
	wire := parts[0]
	if parts[2] == "rep" {
		wire += "*"
	}
	return wire, []int{number}
}

func marshal(value any) []byte {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return []byte(strings.TrimSpace(text.String()))
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
