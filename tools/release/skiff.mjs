// What the launchers of a release run: `run-as NAME ARGS` is one of envtest's executables, everything else the command.
const isRunAs = process.argv[2] === 'run-as'
const { main } = await (isRunAs ? import('./executables.mjs') : import('./main.mjs'))
await main(process.argv.slice(isRunAs ? 3 : 2))
