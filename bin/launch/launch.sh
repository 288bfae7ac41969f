# What the executables in bin/envtest have in common: `launch NAME ARGS` becomes skiff under that name, in the same process
# (etcd: ends with it), so that signals and a wait for its end mean skiff. `--help`, which is on the way of every start, is answered without it.
launch() {
  name=$1
  shift
  for argument; do
    case $argument in --help | -h | -help) exec cat "$root/bin/launch/$name.help" ;; esac
  done
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) platform=linux-x64 ;;
    Linux-aarch64) platform=linux-arm64 ;;
    Darwin-arm64) platform=darwin-arm64 ;;
    Darwin-x86_64) platform=darwin-x64 ;;
    *) platform=none ;;
  esac
  node=
  for place in "$root/node_modules" "$root/tools/node/node_modules"; do
    for package in "node-$platform" "node-bin-$platform"; do
      [ -z "$node" ] && [ -x "$place/$package/bin/node" ] && node=$place/$package/bin/node
    done
  done
  if [ -z "$node" ] && ! node=$(command -v node); then
    echo "$name: there is no node on PATH: install Node 22 or later" >&2
    exit 1
  fi
  cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
  if [ -n "$cache" ] && [ -z "$NODE_DISABLE_COMPILE_CACHE" ] && mkdir -p -m 700 "$cache/skiff/compile" 2>/dev/null; then
    export NODE_COMPILE_CACHE="$cache/skiff/compile"
  fi
  export SKIFF_REEXECUTED=1 SKIFF_PARENT="$PPID"
  # See bin/skiff.js.
  export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}" MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-262144}" MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-262144}"
  # V8's young generation of 6 MiB at most, instead of 48: a fifth less memory under load, for 3% more of the processor.
  set -- "$node" --disable-warning=ExperimentalWarning --no-allocation-site-pretenuring --max-semi-space-size=2 "$root/bin/skiff.js" run-as "$name" "$@"
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
}
