package clients

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

var appVersion = schema.GroupVersion{Group: "interop.example.com", Version: "v1"}

// App is the operator's own kind.
type App struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              AppSpec   `json:"spec"`
	Status            AppStatus `json:"status,omitempty"`
}

type AppSpec struct {
	Image string `json:"image"`
	Level string `json:"level,omitempty"`
}

type AppStatus struct {
	Image string `json:"image,omitempty"`
}

type AppList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []App `json:"items"`
}

func (a *App) DeepCopyObject() runtime.Object {
	out := *a
	a.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

func (l *AppList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*App))
	}
	return &out
}

func appScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	scheme.AddKnownTypes(appVersion, &App{}, &AppList{})
	metav1.AddToGroupVersion(scheme, appVersion)
	return scheme
}

// defineApps makes the custom resource and waits until it is served.
func defineApps(t *testing.T, ctx context.Context, config *rest.Config) {
	t.Helper()
	text := map[string]any{"type": "string"}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "apps." + appVersion.Group},
		"spec": map[string]any{
			"group": appVersion.Group, "scope": "Namespaced",
			"names": map[string]any{"plural": "apps", "singular": "app", "kind": "App", "listKind": "AppList"},
			"versions": []any{map[string]any{
				"name": appVersion.Version, "served": true, "storage": true,
				"subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object",
					"properties": map[string]any{
						"spec": map[string]any{
							"type": "object", "required": []any{"image"},
							"properties": map[string]any{
								"image": text,
								"level": map[string]any{"type": "string", "default": "info"},
							},
						},
						"status": map[string]any{"type": "object", "properties": map[string]any{"image": text}},
					},
				}},
			}},
		},
	}}
	definitions := must[*dynamic.DynamicClient](t)(dynamic.NewForConfig(config)).Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	_, err := definitions.Create(ctx, definition, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	eventually(t, ctx, "the custom resource", func() bool {
		current, err := definitions.Get(ctx, definition.GetName(), metav1.GetOptions{})
		if err != nil {
			return false
		}
		conditions, _, _ := unstructured.NestedSlice(current.Object, "status", "conditions")
		for _, condition := range conditions {
			if one := condition.(map[string]any); one["type"] == "Established" && one["status"] == "True" {
				return true
			}
		}
		return false
	})
}
