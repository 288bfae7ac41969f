#!/bin/sh
# The first process of a machine's own mount, network and process namespaces: directories of its own for what runtimes keep, and a
# containerd. When it ends everything in it ends. Arguments: a directory, where CNI plugins are, and, where images and containers are to have
# a disk of their own, its size for mount.
set -eu
cd "$1"
mount --make-rshared /
mkdir -p containerd log cni
[ -z "${3:-}" ] || mount -t tmpfs -o "size=$3" tmpfs containerd
mount -t tmpfs tmpfs /run
mount --bind log /var/log
mount -t tmpfs tmpfs /var/lib
mkdir -p /run/lock /var/lib/cni /var/lib/containerd
ip link set lo up
cat > containerd.toml <<C
version = 2
root = "$PWD/containerd"
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".registry]
  config_path = "$PWD/registries"
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "$2"
  conf_dir = "$PWD/cni"
C
# One that is killed is followed by another, as a service manager does it.
while :; do containerd --config containerd.toml >> containerd.log 2>&1 || sleep 0.5; done &
echo ready > ready
while :; do sleep 3600 & wait $! || true; done
