#!/bin/sh
# skiff, and kube-apiserver and etcd for tests: the name it is called by says which. Needs a shell and glibc (macOS: nothing);
# Node and what Node needs are beside it. The process becomes Node (etcd: ends with it), so that signals and a wait for its end mean skiff.
name=${0##*/}
self=$0
while [ -L "$self" ]; do
  link=$(readlink "$self")
  case $link in /*) self=$link ;; *) self=${self%/*}/$link ;; esac
done
case $self in */*) here=${self%/*} ;; *) here=. ;; esac
here=$(cd "$here" && pwd -P)
young=
case $name in
  kube-apiserver | etcd)
    # V8's young generation of 6 MiB at most, instead of 48: a fifth less memory under load, for 3% more of the processor.
    young=--max-semi-space-size=2
    for argument; do
      case $argument in
        --help | -h | -help)
          while IFS= read -r line; do printf '%s\n' "$line"; done <"$here/$name.help"
          exit 0
          ;;
      esac
    done
    set -- run-as "$name" "$@"
    export SKIFF_PARENT="$PPID"
    ;;
esac
cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
if [ -n "$cache" ] && [ -z "$NODE_DISABLE_COMPILE_CACHE" ] && mkdir -p -m 700 "$cache/skiff/compile" 2>/dev/null; then
  export NODE_COMPILE_CACHE="$cache/skiff/compile"
fi
# The system's C++ library, where it has one: it is the newer one, or other programs of the system need it.
if [ -e "$here/libstdc++.so.6" ]; then
  found=
  for library in /lib*/libstdc++.so.6 /lib*/*/libstdc++.so.6 /usr/lib*/libstdc++.so.6 /usr/lib*/*/libstdc++.so.6; do
    [ -e "$library" ] && found=$library
  done
  [ -z "$found" ] && export LD_LIBRARY_PATH="$here${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
# A heap of three quarters of the memory that there is, where that is more than V8 gives by itself (see bin/skiff.js of the package).
heap=
case "$name $NODE_OPTIONS" in
  kube-apiserver\ * | etcd\ * | *--max[-_]old[-_]space[-_]size* | *--max[-_]heap[-_]size*) ;;
  *)
    if [ -r /proc/meminfo ]; then
      while read -r key value _; do [ "$key" = MemTotal: ] && break; done </proc/meminfo
      heap=$((value / 1024))
      for file in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
        # A limit that is none has a word for it, or more digits than any machine has bytes.
        [ -r "$file" ] && read -r value <"$file" && case $value in
          *[!0-9]* | ????????????????*) ;;
          *) [ $((value / 1048576)) -lt "$heap" ] && heap=$((value / 1048576)) ;;
        esac
      done
      heap=$((heap * 3 / 4))
      [ "$heap" -gt 4096 ] || heap=
    fi
    ;;
esac
# Memory that was freed goes back to the machine (see bin/skiff.js of the package).
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}" MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-262144}" MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-262144}"
set -- "$here/node" --disable-warning=ExperimentalWarning --no-allocation-site-pretenuring ${young:+"$young"} ${heap:+"--max-old-space-size=$heap"} "$here/skiff.mjs" "$@"
# etcd's Node ends when kube-apiserver has its port; this shell stays, and starts it again when kube-apiserver, which then holds the
# other end of what is read here, is gone (src/envtest/hand-over.ts).
if [ "$name" = etcd ] && read -r _ _ _ above _ 2>/dev/null <"/proc/$$/stat" && [ "$above" = "$PPID" ]; then
  export SKIFF_SHELL=$$
  while said=$(exec "$@") || exit; do
    [ "$said" = handed-over ] && continue
    [ -z "$said" ] || printf '%s\n' "$said"
    exit 0
  done
fi
exec "$@"
