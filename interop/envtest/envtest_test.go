// Package envtest starts control planes as controller-runtime's envtest does, from the executables that KUBEBUILDER_ASSETS names.
package envtest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"skiff/interop/shared"
)

func started(t *testing.T, environment *envtest.Environment) *kubernetes.Clientset {
	t.Helper()
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		begin := time.Now()
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
		t.Logf("stopped in %v", time.Since(begin))
	})
	return shared.Clientset(t, config)
}

func configMap(name string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners}}
}

func owned(t *testing.T, ctx context.Context, set *kubernetes.Clientset, namespace string) {
	t.Helper()
	owner, err := set.CoreV1().ConfigMaps(namespace).Create(ctx, configMap("owner"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	reference := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}
	if _, err := set.CoreV1().ConfigMaps(namespace).Create(ctx, configMap("dependent", reference), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := set.CoreV1().ConfigMaps(namespace).Delete(ctx, "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func namespaceOf(t *testing.T, ctx context.Context, set *kubernetes.Clientset) string {
	t.Helper()
	made, err := set.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Name
}

func eventually(t *testing.T, ctx context.Context, what string, holds func(context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, holds); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// Everything that suites rely on: nothing is collected, namespaces do not end, users are who their certificates say.
func TestTheApiServerAlone(t *testing.T) {
	t.Setenv("SKIFF_COMPONENTS", "")
	environment := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{gadgets()}}
	set := started(t, environment)
	ctx := shared.Within(t)
	namespace := namespaceOf(t, ctx, set)
	owned(t, ctx, set, namespace)
	if err := set.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := set.CoreV1().ConfigMaps(namespace).Get(ctx, "dependent", metav1.GetOptions{}); err != nil {
		t.Errorf("the dependent stays: %v", err)
	}
	left, err := set.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	if err != nil || left.Status.Phase != corev1.NamespaceTerminating {
		t.Errorf("the namespace stays, terminating: %v, %v", left.Status.Phase, err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	made, err := set.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{})
	if err != nil || len(made.Spec.Volumes) != 0 {
		t.Errorf("a pod is made without an account's token: %v, %v", made.Spec.Volumes, err)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	if made, err := set.CoreV1().Services("default").Create(ctx, service, metav1.CreateOptions{}); err != nil || made.Spec.ClusterIP[:7] != "10.0.0." {
		t.Errorf("a service has an address of the range: %v, %v", made.Spec.ClusterIP, err)
	}
	user, err := environment.AddUser(envtest.User{Name: "eve", Groups: []string{"somebody"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	eve, err := kubernetes.NewForConfig(user.Config())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eve.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("what nobody has allowed is forbidden: %v", err)
	}
	token, err := set.CoreV1().RESTClient().Get().AbsPath("/.well-known/openid-configuration").DoRaw(ctx)
	if err != nil || len(token) == 0 {
		t.Errorf("the issuer's document: %v", err)
	}
	if _, err := set.Discovery().ServerResourcesForGroupVersion("example.dev/v1"); err != nil {
		t.Errorf("the definition's version is served: %v", err)
	}
}

// What https://github.com/kubernetes-sigs/controller-runtime/issues/3083 asks for.
func TestWithTheControllers(t *testing.T) {
	t.Setenv("SKIFF_COMPONENTS", "controllers")
	set := started(t, &envtest.Environment{})
	ctx := shared.Within(t)
	namespace := namespaceOf(t, ctx, set)
	owned(t, ctx, set, namespace)
	eventually(t, ctx, "the dependent goes", func(ctx context.Context) (bool, error) {
		_, err := set.CoreV1().ConfigMaps(namespace).Get(ctx, "dependent", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	labels := map[string]string{"app": "a"}
	one := int32(1)
	template := func(policy corev1.RestartPolicy) corev1.PodTemplateSpec {
		return corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{RestartPolicy: policy, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}
	}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "d"},
		Spec:       appsv1.DeploymentSpec{Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template(corev1.RestartPolicyAlways)},
	}
	if _, err := set.AppsV1().Deployments(namespace).Create(ctx, deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, ctx, "a pod runs", func(ctx context.Context) (bool, error) {
		found, err := set.AppsV1().Deployments(namespace).Get(ctx, "d", metav1.GetOptions{})
		return err == nil && found.Status.AvailableReplicas == 1, err
	})
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j"}, Spec: batchv1.JobSpec{Template: template(corev1.RestartPolicyNever)}}
	if _, err := set.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, ctx, "a job's pod ends", func(ctx context.Context) (bool, error) {
		found, err := set.BatchV1().Jobs(namespace).Get(ctx, "j", metav1.GetOptions{})
		return err == nil && found.Status.Succeeded == 1, err
	})
	if err := set.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, ctx, "the namespace goes", func(ctx context.Context) (bool, error) {
		_, err := set.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

// The same environment again begins empty.
func TestStartedAgain(t *testing.T) {
	t.Setenv("SKIFF_COMPONENTS", "")
	for range 2 {
		environment := &envtest.Environment{}
		config, err := environment.Start()
		if err != nil {
			t.Fatal(err)
		}
		set, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		ctx := shared.Within(t)
		if _, err := set.CoreV1().ConfigMaps("default").Create(ctx, configMap("only"), metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
		// Informers that still watch do not hold the end up.
		watching, err := set.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
		watching.Stop()
	}
}

// Run by itself, and killed: what it has started must go. It says where that listens.
func TestKilled(t *testing.T) {
	if os.Getenv("SKIFF_TEST_KILLED") == "" {
		t.Skip("only as a process of its own")
	}
	environment := &envtest.Environment{}
	if _, err := environment.Start(); err != nil {
		t.Fatal(err)
	}
	etcd := environment.ControlPlane.Etcd.URL
	if _, err := http.Get(etcd.String() + "/health"); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("ports %s %s\n", environment.ControlPlane.APIServer.SecureServing.Port, etcd.Port())
	select {}
}

func gadgets() *apiextensionsv1.CustomResourceDefinition {
	keep := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets.example.dev"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.dev",
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Singular: "gadget", Kind: "Gadget", ListKind: "GadgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keep}},
			}},
		},
	}
}
