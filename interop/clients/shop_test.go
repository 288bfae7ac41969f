package clients

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

var (
	shopVersion  = schema.GroupVersion{Group: "trade.example.com", Version: "v1"}
	alphaVersion = schema.GroupVersion{Group: "trade.example.com", Version: "v1alpha1"}
)

// Shop is a kind of two versions: v1 is stored and the hub of conversions.
type Shop struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ShopSpec   `json:"spec"`
	Status            ShopStatus `json:"status,omitempty"`
}

type ShopSpec struct {
	Image    string `json:"image"`
	Replicas *int32 `json:"replicas,omitempty"`
	Tier     string `json:"tier,omitempty"`
}

type ShopStatus struct {
	Image    string `json:"image,omitempty"`
	Replicas int32  `json:"replicas,omitempty"`
}

type ShopList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Shop `json:"items"`
}

func (*Shop) Hub() {}

// AlphaShop is the same in v1alpha1, where fields have other names and there are no tiers.
type AlphaShop struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              AlphaShopSpec `json:"spec"`
	Status            ShopStatus    `json:"status,omitempty"`
}

type AlphaShopSpec struct {
	ImageName string `json:"imageName"`
	Size      *int32 `json:"size,omitempty"`
}

type AlphaShopList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AlphaShop `json:"items"`
}

// tierAnnotation keeps what v1alpha1 has no field for.
const tierAnnotation = "trade.example.com/tier"

func (a *AlphaShop) ConvertTo(hub conversion.Hub) error {
	shop := hub.(*Shop)
	a.ObjectMeta.DeepCopyInto(&shop.ObjectMeta)
	shop.Spec = ShopSpec{Image: a.Spec.ImageName, Replicas: a.Spec.Size, Tier: a.Annotations[tierAnnotation]}
	delete(shop.Annotations, tierAnnotation)
	shop.Status = a.Status
	return nil
}

func (a *AlphaShop) ConvertFrom(hub conversion.Hub) error {
	shop := hub.(*Shop)
	shop.ObjectMeta.DeepCopyInto(&a.ObjectMeta)
	a.Spec = AlphaShopSpec{ImageName: shop.Spec.Image, Size: shop.Spec.Replicas}
	a.Status = shop.Status
	if shop.Spec.Tier != "" {
		metav1.SetMetaDataAnnotation(&a.ObjectMeta, tierAnnotation, shop.Spec.Tier)
	}
	return nil
}

func copied[T any](value *T) *T {
	if value == nil {
		return nil
	}
	out := *value
	return &out
}

func (s *Shop) DeepCopyObject() runtime.Object {
	out := *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Replicas = copied(s.Spec.Replicas)
	return &out
}

func (a *AlphaShop) DeepCopyObject() runtime.Object {
	out := *a
	a.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Size = copied(a.Spec.Size)
	return &out
}

func (l *ShopList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Shop))
	}
	return &out
}

func (l *AlphaShopList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*AlphaShop))
	}
	return &out
}

func shopScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	scheme.AddKnownTypes(shopVersion, &Shop{}, &ShopList{})
	scheme.AddKnownTypeWithName(alphaVersion.WithKind("Shop"), &AlphaShop{})
	scheme.AddKnownTypeWithName(alphaVersion.WithKind("ShopList"), &AlphaShopList{})
	metav1.AddToGroupVersion(scheme, shopVersion)
	metav1.AddToGroupVersion(scheme, alphaVersion)
	return scheme
}
