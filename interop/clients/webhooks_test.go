package clients

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	_ "embed"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/go-logr/logr"

	"skiff/interop/shared"
)

//go:embed manifests/shops.yaml
var shopManifests string

const shopFinalizer = "trade.example.com/close"

// shopkeeper runs a Deployment for every Shop and, when the Shop ends, closes the books: a ConfigMap that nobody owns.
type shopkeeper struct{ client.Client }

func (s shopkeeper) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var shop Shop
	if err := s.Get(ctx, request.NamespacedName, &shop); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !shop.DeletionTimestamp.IsZero() {
		if !controllerutil.RemoveFinalizer(&shop, shopFinalizer) {
			return ctrl.Result{}, nil
		}
		books := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name + "-books"}}
		if err := s.Create(ctx, books); err != nil && !apierrors.IsAlreadyExists(err) {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, s.Update(ctx, &shop)
	}
	if controllerutil.AddFinalizer(&shop, shopFinalizer) {
		if err := s.Update(ctx, &shop); err != nil {
			return ctrl.Result{}, err
		}
	}
	run := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, s.Client, run, func() error {
		labels := map[string]string{"shop": shop.Name}
		run.Spec.Replicas = shop.Spec.Replicas
		run.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		run.Spec.Template.Labels = labels
		run.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: shop.Spec.Image}}
		return controllerutil.SetControllerReference(&shop, run, s.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	now := ShopStatus{Image: shop.Spec.Image, Replicas: *shop.Spec.Replicas}
	if shop.Status == now {
		return ctrl.Result{}, nil
	}
	shop.Status = now
	return ctrl.Result{}, s.Status().Update(ctx, &shop)
}

// shopRules are the operator's webhooks: what a Shop does not say, and what it may not.
type shopRules struct{}

func (shopRules) Default(_ context.Context, shop *Shop) error {
	if shop.Spec.Tier == "" {
		shop.Spec.Tier = "basic"
	}
	if shop.Spec.Replicas == nil {
		one := int32(1)
		shop.Spec.Replicas = &one
	}
	return nil
}

func (shopRules) ValidateCreate(_ context.Context, shop *Shop) (admission.Warnings, error) {
	if strings.HasSuffix(shop.Spec.Image, ":latest") {
		return nil, fmt.Errorf("%s does not say which version", shop.Spec.Image)
	}
	return nil, nil
}

func (r shopRules) ValidateUpdate(ctx context.Context, old, shop *Shop) (admission.Warnings, error) {
	if old.Spec.Tier == "gold" && shop.Spec.Tier != "gold" {
		return nil, fmt.Errorf("gold stays gold")
	}
	return r.ValidateCreate(ctx, shop)
}

func (shopRules) ValidateDelete(_ context.Context, shop *Shop) (admission.Warnings, error) {
	if shop.Annotations["trade.example.com/keep"] != "" {
		return nil, fmt.Errorf("%s is kept", shop.Name)
	}
	return nil, nil
}

// certificate writes tls.crt and tls.key for a host into a new folder, and gives the folder and the authority's PEM.
func certificate(t *testing.T, host string) (string, []byte) {
	t.Helper()
	sign := func(template, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) []byte {
		return must[[]byte](t)(x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey))
	}
	generate := func() *ecdsa.PrivateKey {
		return must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	}
	valid := func(serial int64, name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		}
	}
	authority, authorityKey := valid(1, "operator-ca"), generate()
	authority.IsCA, authority.BasicConstraintsValid, authority.KeyUsage = true, true, x509.KeyUsageCertSign
	leaf, leafKey := valid(2, host), generate()
	leaf.DNSNames, leaf.ExtKeyUsage = []string{host}, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	encoded := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	folder := t.TempDir()
	for name, content := range map[string][]byte{
		"tls.crt": encoded("CERTIFICATE", sign(leaf, authority, leafKey, authorityKey)),
		"tls.key": encoded("EC PRIVATE KEY", must[[]byte](t)(x509.MarshalECPrivateKey(leafKey))),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder, encoded("CERTIFICATE", sign(authority, authority, authorityKey, authorityKey))
}

// reachable gives an address of this machine that endpoints may have: not a loopback one.
func reachable(t *testing.T) string {
	t.Helper()
	for _, address := range must[[]net.Addr](t)(net.InterfaceAddrs()) {
		if network, ok := address.(*net.IPNet); ok && network.IP.To4() != nil && network.IP.IsGlobalUnicast() {
			return network.IP.String()
		}
	}
	t.Skip("this machine has no address but its own: services cannot lead to it")
	return ""
}

func freePort(t *testing.T, address string) int {
	t.Helper()
	listener := must[net.Listener](t)(net.Listen("tcp", net.JoinHostPort(address, "0")))
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// install applies manifests as they are but for ${…}, and removes them at the test's end.
func install(t *testing.T, ctx context.Context, direct client.Client, manifests string, values map[string]string) {
	t.Helper()
	text := os.Expand(manifests, func(name string) string { return values[name] })
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); err != nil {
			return
		}
		if err := direct.Create(ctx, object); err != nil {
			t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
		t.Cleanup(func() { _ = direct.Delete(context.Background(), object) })
	}
}

// An operator as kubebuilder scaffolds it: a kind of two versions converted by its webhook, a defaulting and a validating
// webhook, all served over TLS behind a Service, a finalizer, a status, and owned objects that go in the foreground.
func TestOperatorWithWebhooks(t *testing.T) {
	log.SetLogger(logr.Discard())
	ctx := shared.Within(t)
	config := restConfig(t)
	ns := namespace(t, ctx, shared.Clientset(t, config))
	address := reachable(t)
	port := freePort(t, address)
	folder, authority := certificate(t, "operator-webhook."+ns+".svc")
	direct := must[client.Client](t)(client.New(config, client.Options{Scheme: shopScheme(t)}))
	install(t, ctx, direct, shopManifests, map[string]string{
		"CA": base64.StdEncoding.EncodeToString(authority), "NAMESPACE": ns, "ADDRESS": address, "PORT": strconv.Itoa(port),
	})

	manager := must[ctrl.Manager](t)(ctrl.NewManager(config, ctrl.Options{
		Scheme:        shopScheme(t),
		Metrics:       server.Options{BindAddress: "0"},
		Cache:         cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
		WebhookServer: webhook.NewServer(webhook.Options{Host: address, Port: port, CertDir: folder}),
	}))
	err := ctrl.NewWebhookManagedBy(manager, &Shop{}).WithDefaulter(shopRules{}).WithValidator(shopRules{}).Complete()
	if err != nil {
		t.Fatal(err)
	}
	err = ctrl.NewControllerManagedBy(manager).For(&Shop{}).Owns(&appsv1.Deployment{}).Complete(shopkeeper{manager.GetClient()})
	if err != nil {
		t.Fatal(err)
	}
	managed, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(managed) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the manager ended with: %v", err)
		}
	}()

	// Made in the old version: converted for the webhooks, which know the new one, and back.
	made := &AlphaShop{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "corner"}, Spec: AlphaShopSpec{ImageName: "example.com/shop:1"}}
	eventually(t, ctx, "the webhooks", func() bool { err = direct.Create(ctx, made); return err == nil })
	if made.Spec.Size == nil || *made.Spec.Size != 1 || made.Annotations[tierAnnotation] != "basic" {
		t.Fatalf("defaults of the webhook are missing: %+v", made)
	}
	key := client.ObjectKeyFromObject(made)
	shop := &Shop{}
	if err := direct.Get(ctx, key, shop); err != nil {
		t.Fatal(err)
	}
	if shop.Spec.Image != "example.com/shop:1" || shop.Spec.Tier != "basic" {
		t.Fatalf("converted into %+v", shop.Spec)
	}

	latest := &Shop{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "late"}, Spec: ShopSpec{Image: "example.com/shop:latest"}}
	if err := direct.Create(ctx, latest); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "does not say which version") {
		t.Fatalf("not refused by the validating webhook: %v", err)
	}
	old := &AlphaShop{ObjectMeta: latest.ObjectMeta, Spec: AlphaShopSpec{ImageName: "example.com/shop:latest"}}
	if err := direct.Create(ctx, old); !apierrors.IsForbidden(err) {
		t.Fatalf("not refused in the old version: %v", err)
	}
	if err := direct.Create(ctx, &Shop{ObjectMeta: latest.ObjectMeta, Spec: ShopSpec{Image: "x", Tier: "silver"}}); !apierrors.IsInvalid(err) {
		t.Fatalf("not refused by the schema: %v", err)
	}

	run := &appsv1.Deployment{}
	eventually(t, ctx, "the deployment", func() bool { return direct.Get(ctx, key, run) == nil })
	if owners := run.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != made.UID || owners[0].APIVersion != shopVersion.String() {
		t.Fatalf("owners: %v", owners)
	}
	eventually(t, ctx, "the status, in the old version", func() bool {
		return direct.Get(ctx, key, made) == nil && made.Status == ShopStatus{Image: "example.com/shop:1", Replicas: 1}
	})

	// Changed in the old version, seen in the new one.
	if err := direct.Patch(ctx, made, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"size":3}}`))); err != nil {
		t.Fatal(err)
	}
	eventually(t, ctx, "three replicas", func() bool {
		return direct.Get(ctx, key, run) == nil && *run.Spec.Replicas == 3 && direct.Get(ctx, key, shop) == nil && shop.Status.Replicas == 3
	})
	applied := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": shopVersion.String(), "kind": "Shop", "metadata": map[string]any{"namespace": ns, "name": "corner"},
		"spec": map[string]any{"tier": "gold", "image": "example.com/shop:1"},
	}}
	if err := direct.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("owner"), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	if err := direct.Patch(ctx, shop, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"tier":"basic"}}`))); !apierrors.IsForbidden(err) {
		t.Fatalf("gold was taken away: %v", err)
	}
	var alphas AlphaShopList
	if err := direct.List(ctx, &alphas, client.InNamespace(ns)); err != nil || len(alphas.Items) != 1 || alphas.Items[0].Annotations[tierAnnotation] != "gold" {
		t.Fatalf("the list in the old version: %v %+v", err, alphas.Items)
	}

	if err := direct.Delete(ctx, made, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		t.Fatal(err)
	}
	eventually(t, ctx, "the end of the shop", func() bool { return apierrors.IsNotFound(direct.Get(ctx, key, shop)) })
	if err := direct.Get(ctx, key, run); !apierrors.IsNotFound(err) {
		t.Fatalf("the deployment outlived its owner: %v", err)
	}
	if err := direct.Get(ctx, client.ObjectKey{Namespace: ns, Name: "corner-books"}, &corev1.ConfigMap{}); err != nil {
		t.Fatalf("the finalizer was not honoured: %v", err)
	}
}
