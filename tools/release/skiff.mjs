// What the launchers of a release run: `run-as NAME ARGS` is one of envtest's executables, everything else the command.
const isRunAs = process.argv[2] === 'run-as'
const program = !isRunAs ? 'main' : process.argv[3] === 'etcd' ? 'etcd' : 'executables'
const { main, runExecutable, etcd } = await import(`./${program}.mjs`)
await (main ?? runExecutable ?? etcd)(process.argv.slice(isRunAs ? 3 : 2))
