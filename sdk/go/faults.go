package skifftest

// Faults go wrong on purpose for the clients under test, in the words of skiff's docs/faults.md: "watch drop 5% by my-operator". The same
// seed brings the same faults to the same sequence of requests.
type Faults struct{ cluster *Cluster }

// FaultStatus is what there is of faults, and what came of them.
type FaultStatus struct {
	Seed   uint64
	Faults []FaultCount
	// Last are those that struck last, the oldest first.
	Last []Strike
}

// FaultCount tells how many requests or events a fault was for, and how many of them it struck.
type FaultCount struct {
	Fault       string
	Met, Struck int
}

// Strike is a fault that has struck.
type Strike struct {
	Number                                               int
	Time, Fault, Client, Verb, Resource, Namespace, Name string
	// Count is the how-manieth of its client, resource and verb it was.
	Count int
}

// Set makes these the only faults, with nothing counted yet; the seed stays.
func (f Faults) Set(faults ...string) (FaultStatus, error) {
	return f.change(map[string]any{"set": append([]string{}, faults...)})
}

// SetSeeded is Set with another seed.
func (f Faults) SetSeeded(seed uint64, faults ...string) (FaultStatus, error) {
	return f.change(map[string]any{"set": append([]string{}, faults...), "seed": seed})
}

// Add makes faults beside those that are there.
func (f Faults) Add(faults ...string) (FaultStatus, error) {
	return f.change(map[string]any{"add": append([]string{}, faults...)})
}

// Clear takes all faults away.
func (f Faults) Clear() (FaultStatus, error) { return f.change(map[string]any{"clear": true}) }

// Status tells the seed, the faults, and what they struck.
func (f Faults) Status() (FaultStatus, error) { return f.change(map[string]any{}) }

func (f Faults) change(params map[string]any) (FaultStatus, error) {
	params["name"] = f.cluster.Name
	told, err := f.cluster.server.call("faults", params)
	return told.FaultStatus, err
}
