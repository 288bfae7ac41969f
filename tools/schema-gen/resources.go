package main

import (
	"encoding/json"
	"sort"
	"strings"
)

type discoveryDocument struct {
	GroupVersion string            `json:"groupVersion"`
	Resources    []resource        `json:"resources"`
	Groups       []json.RawMessage `json:"groups"`
}

type resource struct {
	Name               string   `json:"name"`
	Singular           string   `json:"singularName"`
	Namespaced         bool     `json:"namespaced"`
	Group              string   `json:"group"`
	Version            string   `json:"version"`
	Kind               string   `json:"kind"`
	Verbs              []string `json:"verbs"`
	ShortNames         []string `json:"shortNames"`
	Categories         []string `json:"categories"`
	StorageVersionHash string   `json:"storageVersionHash"`
}

type column struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Format   string `json:"format"`
	Priority int    `json:"priority"`
}

type row struct {
	Group          string        `json:"group"`
	Version        string        `json:"version"`
	Resource       string        `json:"resource"`
	Singular       string        `json:"singular"`
	Kind           string        `json:"kind"`
	Namespaced     bool          `json:"namespaced"`
	Verbs          []string      `json:"verbs"`
	ShortNames     []string      `json:"shortNames,omitempty"`
	Categories     []string      `json:"categories,omitempty"`
	Hash           string        `json:"hash,omitempty"`
	StoragePrefix  string        `json:"storagePrefix,omitempty"`
	StorageGroup   *string       `json:"storageGroup,omitempty"`
	StorageVersion string        `json:"storageVersion,omitempty"`
	Columns        [][]any       `json:"columns,omitempty"`
	Subresources   []subresource `json:"subresources,omitempty"`
}

type subresource struct {
	Name    string   `json:"name"`
	Group   string   `json:"group"`
	Version string   `json:"version"`
	Kind    string   `json:"kind"`
	Verbs   []string `json:"verbs"`
}

// Where the store's layout is older than the resource's name. All others are stored under their plural.
var storagePrefixes = map[string]string{
	"/services":                          "services/specs",
	"/endpoints":                         "services/endpoints",
	"/nodes":                             "minions",
	"/replicationcontrollers":            "controllers",
	"networking.k8s.io/ingresses":        "ingress",
	"apiregistration.k8s.io/apiservices": "apiregistration.k8s.io/apiservices",
	"apiextensions.k8s.io/customresourcedefinitions": "apiextensions.k8s.io/customresourcedefinitions",
}

// Stored in another version or group than served: equal storage version hashes in discovery show which.
var storageVersions = map[string][2]string{
	"autoscaling/horizontalpodautoscalers": {"autoscaling", "v2"},
	"events.k8s.io/events":                 {"", "v1"},
}

func resourceRows(discovery map[string]discoveryDocument, columns map[string][]column) []row {
	rows := []row{}
	for _, path := range sortedKeys(discovery) {
		document := discovery[path]
		if len(document.Resources) == 0 {
			continue
		}
		group, version := "", document.GroupVersion
		if slash := strings.IndexByte(version, '/'); slash >= 0 {
			group, version = version[:slash], version[slash+1:]
		}
		index := map[string]int{}
		for _, one := range document.Resources {
			name, sub, isSub := strings.Cut(one.Name, "/")
			verbs := append([]string{}, one.Verbs...)
			sort.Strings(verbs)
			if isSub {
				entry := subresource{Name: sub, Group: one.Group, Version: one.Version, Kind: one.Kind, Verbs: verbs}
				if entry.Version == "" {
					entry.Group, entry.Version = group, version
				}
				parent := &rows[index[name]]
				parent.Subresources = append(parent.Subresources, entry)
				continue
			}
			index[name] = len(rows)
			made := row{
				Group: group, Version: version, Resource: name, Singular: one.Singular, Kind: one.Kind,
				Namespaced: one.Namespaced, Verbs: verbs, ShortNames: one.ShortNames, Categories: one.Categories,
				Hash: one.StorageVersionHash,
			}
			if made.Hash != "" {
				made.StoragePrefix, made.StorageVersion = name, version
				if prefix, ok := storagePrefixes[group+"/"+name]; ok {
					made.StoragePrefix = prefix
				}
				if stored, ok := storageVersions[group+"/"+name]; ok {
					made.StorageVersion = stored[1]
					if stored[0] != group {
						made.StorageGroup = &stored[0]
					}
				}
			}
			for _, one := range columns[path+"/"+name] {
				made.Columns = append(made.Columns, []any{one.Name, one.Type, one.Format, one.Priority})
			}
			rows = append(rows, made)
		}
	}
	return rows
}

// optionalRows are stored as the rows of the same resource that are served by default.
func optionalRows(optional, discovery map[string]discoveryDocument, columns map[string][]column) []row {
	usual := map[string]row{}
	for _, one := range resourceRows(discovery, columns) {
		usual[one.Group+"/"+one.Resource] = one
	}
	rows := resourceRows(optional, columns)
	for i := range rows {
		one := &rows[i]
		hub := usual[one.Group+"/"+one.Resource]
		one.StoragePrefix, one.StorageGroup, one.StorageVersion = hub.StoragePrefix, hub.StorageGroup, hub.StorageVersion
		one.Columns = hub.Columns
	}
	return rows
}

func sortStrings(list []string) { sort.Strings(list) }
