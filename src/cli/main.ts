/**
 * cli: the skiff command. Called by bin/skiff.js; wires the cluster room to a terminal. What a user did wrong is one line on
 * standard error: exit 2 for the command line itself, 1 for everything else; a stack trace goes to the log, never there.
 */

import { isIP } from 'node:net'
import { dirname, join } from 'node:path'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { messageOf } from '../base/errors.ts'
import { defaultDirectory } from '../cluster/directory.ts'
import { StartError } from '../cluster/errors.ts'
import {
  ADMISSION_PLUGINS,
  CLOCKS,
  COMPONENTS,
  CONTROLS,
  DEFAULT_HOST,
  DEFAULT_PORT,
  MOST_NODES_OF_A_CLUSTER,
} from '../cluster/options.ts'
import { KUBERNETES_VERSION, SKIFF_VERSION } from '../cluster/version.ts'
import { COMPONENT_COMMANDS, runComponentCommand } from '../components/commands.ts'
import { ETCD_FILE_FLAGS, etcdFlags } from './etcd-flags.ts'
import { evictionFlags } from './eviction-flags.ts'
import { addFaultCommands, faultFlags } from './fault-commands.ts'
import { addPlanningCommands } from './inspect-commands.ts'
import { nodeFlags } from './node-flags.ts'
import { schedulerFlags } from './scheduler-flags.ts'
import { booleanArgument, integerArgument, securityOptions } from './security-flags.ts'
import { simulationFlags } from './simulation-flags.ts'

const collect = (value: string, before: readonly string[]) => [...before, value]

/** What commander makes of the flags that a command declares. */
interface AtDataDir {
  readonly dataDir: string
}

interface KubeconfigFlags {
  readonly user?: string
  readonly groups: readonly string[]
}

export async function main(args: readonly string[]): Promise<void> {
  // The reader of what is said may go, as head does.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  const [name = '', ...rest] = args
  // Their flags are those of Kubernetes' own components, read as those read them.
  if (Object.hasOwn(COMPONENT_COMMANDS, name)) return runComponentCommand(name, rest)
  const program = skiffCommand(args)
  try {
    // Not for people: skiff up starts it.
    if (name === 'node-in-namespaces')
      return (await import('../cluster/namespaced-nodes/node-process.ts')).runNodeProcess()
    await program.parseAsync([...args], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2
      return
    }
    process.stderr.write(`skiff: ${messageOf(error)}\n`)
    if (!(error instanceof StartError) && process.env['SKIFF_DEBUG']) console.error(error)
    process.exit(1)
  }
}

function skiffCommand(commandLine: readonly string[]): Command {
  const program = new Command('skiff')
    .description('A Kubernetes cluster in one Node.js process')
    .version(versionText(), '--version')
    .exitOverride()
    .showHelpAfterError(false)
    .configureOutput({ outputError: (text, write) => write(`skiff: ${inOneLine(text)}\n`) })
  const home = defaultDirectory()
  const dataDir = () => {
    const option = new Option('--data-dir <dir>', 'where the cluster keeps everything')
    return home === undefined ? option.makeOptionMandatory() : option.default(home, home)
  }

  const up = program
    .command('up')
    .description('start a cluster, or continue the one in the data directory')
    .addOption(dataDir())
    .option('--port <n>', 'HTTPS port of the API server; 0 takes a free one', integerArgument(0, 65535), DEFAULT_PORT)
    .option('--bind-address <ip>', 'where the API server listens; 0.0.0.0: on every address', address, DEFAULT_HOST)
    .option('--advertise-address <ip>', 'where other machines and pods reach it (default: --bind-address)')
    .option('--nodes <n>', 'nodes to run', integerArgument(0, MOST_NODES_OF_A_CLUSTER), 1)
    .option(
      '--cluster-cidr <cidrs>',
      "what the ranges of nodes' pods are pieces of: one range, or one of each family that Services have",
    )
    .addOption(
      new Option('--runtime <runtime>', 'what runs containers: nothing does, or containerd or CRI-O on this machine')
        .choices(['simulated', 'cri'])
        .default('simulated'),
    )
    .option('--cri-endpoint <url>', 'where the container runtime listens (default: the usual places)')
    .option('--kubeconfig <file>', 'also add the cluster to this kubeconfig')
    .addOption(
      listOption(
        '--components <list>',
        `which of ${COMPONENTS.join(', ')} to run (default: all that apply)`,
        components,
      ),
    )
    .addOption(
      listOption('--disable-admission-plugins <list>', 'admission plugins to leave out', plugins).default([], 'none'),
    )
    .addOption(
      listOption(
        '--enable-admission-plugins <list>',
        'admission plugins to run besides the default ones',
        plugins,
      ).default([], 'none'),
    )
    .option('--allow-privileged [bool]', 'let privileged containers run (default: true)', booleanArgument)
    .addOption(
      new Option(
        '--clock <clock>',
        'manual: time stands still until skiff clock moves it (default: as it was, else real)',
      ).choices(CLOCKS),
    )
    .addOption(
      listOption('--controls <list>', `which of ${CONTROLS.join(', ')} to offer under /skiff.dev/`, controls).default(
        [],
        'none',
      ),
    )
    .option('--crds <path>', 'a file or folder of CustomResourceDefinitions to begin with (repeatable)', append, [])
    .option('--objects <path>', 'a file or folder of objects to begin with (repeatable)', append, [])
    .option('--detach', 'return when the cluster is ready, and leave it running')
    .option('-v, --verbosity <level>', 'how much to log: 0 to 10', integerArgument(0, 10), 0)
    .allowExcessArguments(false)
    .action(async (options) => (await import('./up.ts')).up({ ...options, commandLine }))
  for (const option of [
    ...faultFlags(),
    ...etcdFlags(),
    ...simulationFlags(),
    ...schedulerFlags(),
    ...nodeFlags(),
    ...evictionFlags(),
    ...securityOptions(),
  ])
    up.addOption(option)
  const faults = addFaultCommands(program, dataDir)
  program
    .command('down')
    .description('stop the cluster; its objects stay')
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (options: AtDataDir) => (await import('./down.ts')).down(options.dataDir))
  program
    .command('status')
    .description('say what runs, and where')
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (options: AtDataDir) => (await import('./status.ts')).status(options.dataDir))
  const clock = program.command('clock').description('the time of a cluster that was started with --clock manual')
  clock
    .command('advance')
    .description('let time pass: all that happens in it happens in order, and has happened when this returns')
    .argument('[duration]', 'such as 30s or 1h30m')
    .option('--to <time>', 'up to this time, such as 2026-01-02T03:04:05Z')
    .option('--until-idle', 'until nothing waits any more but heartbeats and the like')
    .option('--at-most <duration>', 'with --until-idle: no further than this (default: 24h)')
    .option('--settle <duration>', 'wait each time until clients outside have been silent for so long')
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (duration, options) => (await import('./clock.ts')).clockAdvance(duration, options))
  clock
    .command('status')
    .description('print what time it is there, and what waits for its time')
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (options: AtDataDir) => (await import('./clock.ts')).clockStatus(options.dataDir))
  const snapshot = program.command('snapshot').description('all objects of a cluster in a file')
  const save = snapshot
    .command('save')
    .description(
      'write all objects as they are now, while the cluster works (without an etcd it needs --controls snapshot) or is stopped',
    )
    .argument('<file>', 'where to write them')
    .addOption(dataDir())
    .option('--keys', 'also the keys and certificates in the data directory: what is restored is the same cluster')
    .allowExcessArguments(false)
    .action(async (file, options) => (await import('./snapshot.ts')).snapshotSave(file, options))
  const restore = snapshot
    .command('restore')
    .description('make a cluster of a snapshot, in a directory or an etcd that has none')
    .argument('<file>', 'what skiff snapshot save wrote')
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (file, options) => (await import('./snapshot.ts')).snapshotRestore(file, options))
  for (const option of etcdFlags()) {
    save.addOption(option)
    restore.addOption(option)
  }
  program
    .command('fork')
    .description('a second cluster with the same objects, as long as this runs (the first needs --controls fork)')
    .argument('[command...]', 'run this with its KUBECONFIG, and end with it')
    .option('--ttl <duration>', 'end it after so long (default: 10m)')
    .addOption(dataDir())
    .action(async (command: readonly string[], options: AtDataDir & { readonly ttl: string }) =>
      (await import('./fork.ts')).fork(options.dataDir, options.ttl, command),
    )
  const token = program.command('token').description('tokens by which other machines join the cluster')
  token
    .command('create')
    .description('make a token, and print the command that joins a machine with it')
    .option('--ttl <duration>', 'how long it can be used; 0: for ever', '24h')
    .option('--description <text>', 'what it is for')
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (options) => (await import('./token.ts')).tokenCreate(options))
  token
    .command('list')
    .description('list the tokens by their ids')
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (options: AtDataDir) => (await import('./token.ts')).tokenList(options.dataDir))
  token
    .command('delete')
    .description('take a token away; nodes that have joined with it stay')
    .argument('<token>', 'the token, or its id')
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (text: string, options: AtDataDir) => (await import('./token.ts')).tokenDelete(options.dataDir, text))
  program
    .command('join')
    .description('make this machine a simulated node of a cluster; skiff token create prints the whole command')
    .argument('[server]', 'https://host:port of the API server; left out by a node that has joined before')
    .option('--token <token>', 'what proves that this machine may join')
    .option('--discovery-token-ca-cert-hash <hash>', 'by what the cluster is known: sha256:…')
    .option('--node-name <name>', "default: this machine's name")
    .option('--node-ip <ip>', 'the address that the node tells')
    .option('--max-pods <n>', 'how many pods may run on it', integerArgument(1, 100_000))
    .option(
      '--healthz-port <port>',
      'where 127.0.0.1 is told of its health; another one for each node of a machine; 0: nowhere (default: 10248)',
      integerArgument(0, 65_535),
    )
    .option('--rotate-server-certificates', "ask the cluster for the certificate of the node's server; you approve it")
    .option('-v, --verbosity <level>', 'how much to log: 0 to 10', integerArgument(0, 10), 0)
    .addOption(nodeDir(home))
    .allowExcessArguments(false)
    .action(async (server, options) => (await import('./join.ts')).joinCluster(server, options))
  const testServer = program
    .command('test-server')
    .description(
      'a cluster in memory for the tests of the program that starts this; they speak by lines of JSON (sdk/README.md)',
    )
    .addOption(
      new Option('--clock <clock>', 'manual: time stands still until it is moved').choices(CLOCKS).default('real'),
    )
    .option('--nodes <n>', 'nodes to run', integerArgument(0, MOST_NODES_OF_A_CLUSTER), 1)
    .option(
      '--cluster-cidr <cidrs>',
      "what the ranges of nodes' pods are pieces of: one range, or one of each family that Services have",
    )
    .addOption(listOption('--components <list>', `which of ${COMPONENTS.join(', ')} to run`, components))
    .option('--crds <path>', 'a file or folder of CustomResourceDefinitions to begin with (repeatable)', append, [])
    .option('--objects <path>', 'a file or folder of objects to begin with (repeatable)', append, [])
    .option('--from <file>', 'a snapshot to begin with')
    .allowExcessArguments(false)
    .action(async (options) => (await import('./test-server.ts')).testServer(options))
  for (const option of [...faultFlags(), ...simulationFlags()]) testServer.addOption(option)
  const image = program.command('image').description('images of a node that runs real containers')
  image
    .command('load')
    .description('load a docker or OCI archive; returns once the node tells of it')
    .argument('<file>', 'what docker save, podman save or skopeo copy wrote')
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (file: string, options: AtDataDir) => (await import('./image.ts')).imageLoad(options.dataDir, file))
  image
    .command('list')
    .description('list the images that the node has')
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (options: AtDataDir) => (await import('./image.ts')).imageList(options.dataDir))
  const migrate = program
    .command('migrate')
    .description('copy a cluster from one store to another that is empty; neither may be in use')
    .requiredOption('--from <place>', 'a data directory, or the URLs of an etcd')
    .requiredOption('--to <place>', 'a data directory, or the URLs of an etcd')
    .allowExcessArguments(false)
    .action(async (options) => (await import('./migrate.ts')).migrateCommand(options))
  for (const option of etcdFlags(ETCD_FILE_FLAGS)) migrate.addOption(option)
  program
    .command('kubeconfig')
    .description('print the kubeconfig of the cluster')
    .addOption(dataDir())
    .option('--user <name>', 'for this user, by a certificate of the cluster (default: its administrator)')
    .addOption(listOption('--groups <list>', 'groups of that user').default([], 'none'))
    .allowExcessArguments(false)
    .action(async ({ dataDir: directory, user, groups }: AtDataDir & KubeconfigFlags) =>
      (await import('./print-kubeconfig.ts')).printKubeconfig(directory, user, groups),
    )
  program
    .command('why')
    .description('say what a deletion waits for, in any cluster; without a name: everything that is being deleted')
    .argument('[KIND/NAME]', 'as kubectl takes it')
    .argument('[NAME]', 'when KIND stands alone')
    .option('--data-dir <dir>', 'a cluster of skiff, instead of one of a kubeconfig')
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, then ~/.kube/config')
    .option('--context <name>', "default: the kubeconfig's current one")
    .option('-n, --namespace <name>', "default: the context's")
    .addOption(new Option('-o, --output <form>', 'how to say it').choices(['text', 'json']).default('text'))
    .option('--watch', 'go on until the object is gone')
    .option(
      '--audit-log <file>',
      'of the API server: which users have put finalizers on objects; may be repeated',
      collect,
      [],
    )
    .option('--no-dry-run', 'send no dry runs: do not try whether finalizers may be removed, and ask nothing of access')
    .allowExcessArguments(false)
    .action(async (kind, name, flags) =>
      (await import('./why.ts')).why(
        [kind, name].filter((word) => word !== undefined),
        flags,
      ),
    )
  program
    .command('timeline')
    .description('tell the end of an object step by step: by which component, what led to it, how long each waited')
    .argument('[KIND/NAME]', 'as kubectl takes it; the object may be gone')
    .argument('[NAME]', 'when KIND stands alone')
    .option('--data-dir <dir>', 'a cluster of skiff, instead of one of a kubeconfig')
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, then ~/.kube/config')
    .option('--context <name>', "default: the kubeconfig's current one")
    .option('-n, --namespace <name>', "default: the context's")
    .option('--uid <uid>', 'which, of several objects that had the name (default: the last)')
    .option('--cascade', 'tell the whole cascade, from the write with which it began')
    .option(
      '--record',
      'watch any cluster until the object has gone (without one: until Ctrl-C), and tell what was seen',
    )
    .option(
      '--audit-log <file>',
      'with --record: the audit log of its API server, which names the writers; of several servers each',
      collect,
      [],
    )
    .option('--for <duration>', 'with --record: how long at most, as 30s')
    .addOption(
      new Option('-o, --output <form>', 'how to tell it').choices(['text', 'json', 'otlp', 'svg']).default('text'),
    )
    .allowExcessArguments(false)
    .action(async (kind, name, flags) =>
      (await import('./timeline.ts')).timeline(
        [kind, name].filter((word) => word !== undefined),
        flags,
      ),
    )
  program
    .command('ui')
    .description(
      'serve a page of any cluster to a browser of this machine: owners, what is going, why, plans, timelines',
    )
    .option('--data-dir <dir>', 'a cluster of skiff, instead of one of a kubeconfig')
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, then ~/.kube/config')
    .option('--context <name>', "default: the kubeconfig's current one")
    .option('-n, --namespace <name>', "what it begins with (default: the context's)")
    .option('--port <n>', 'port of 127.0.0.1; 0 takes a free one', integerArgument(0, 65535), 0)
    .allowExcessArguments(false)
    .action(async (options) => (await import('./ui.ts')).ui(options))
  const planning = addPlanningCommands(program)
  for (const [name, description] of Object.entries(COMPONENT_COMMANDS))
    program.command(name).description(description).usage('[flags]')
  const envtest = program.command('envtest').description('skiff as the kube-apiserver and etcd of test suites')
  envtest
    .command('path')
    .description('print the folder of executables for KUBEBUILDER_ASSETS')
    .allowExcessArguments(false)
    .action(async () => (await import('./envtest.ts')).printAssets())
  program
    .command('version')
    .description('print the version')
    .allowExcessArguments(false)
    .action(() => {
      process.stdout.write(`${versionText()}\n`)
    })
  program
    .command('precompile', { hidden: true })
    .allowExcessArguments(false)
    .action(async () => (await import('./precompile.ts')).precompile())
  for (const command of [
    ...program.commands,
    ...planning,
    ...clock.commands,
    ...faults,
    ...snapshot.commands,
    ...envtest.commands,
    ...image.commands,
    ...token.commands,
  ])
    command.exitOverride().copyInheritedSettings(program)
  return program
}

/** Commander's `error: unknown …`, with its guess at what was meant, or where one finds it. */
function inOneLine(error: string): string {
  const [said = '', guess] = error
    .trimEnd()
    .replace(/^error: /, '')
    .split('\n(Did you mean ')
  if (guess !== undefined) return `${said}: did you mean ${guess.replace(/\)$/, '')}`
  const negative = /^unknown option '(-[\d.][^']*)'/.exec(said)?.[1]
  if (negative !== undefined) return `${negative} is less than nothing, which no duration and no number here may be`
  return said.startsWith('unknown') ? `${said}: see --help` : said
}

function versionText(): string {
  return `skiff ${SKIFF_VERSION} (Kubernetes ${KUBERNETES_VERSION}, Node ${process.versions.node})`
}

const listOption = (flags: string, description: string, parse = commaList): Option =>
  new Option(flags, description).argParser(parse)

const append = (path: string, before: readonly string[]): readonly string[] => [...before, path]

function nodeDir(home: string | undefined): Option {
  const option = new Option('--data-dir <dir>', 'where the node keeps its certificate')
  if (home === undefined) return option.makeOptionMandatory()
  const dir = join(dirname(home), 'node')
  return option.default(dir, dir)
}

function address(text: string): string {
  if (isIP(text) === 0) throw new InvalidArgumentError('it is no IP address.')
  return text
}

function commaList(text: string): string[] {
  return text.split(',').filter((name) => name !== '')
}

function controls(text: string): string[] {
  const names = commaList(text)
  const unknown = names.find((name) => !(CONTROLS as readonly string[]).includes(name))
  if (unknown !== undefined) throw new InvalidArgumentError(`there is no "${unknown}"; use ${CONTROLS.join(', ')}.`)
  return names
}

function plugins(text: string): string[] {
  const names = commaList(text)
  const unknown = names.find((name) => !ADMISSION_PLUGINS.has(name))
  if (unknown !== undefined) throw new InvalidArgumentError(`there is no admission plugin "${unknown}".`)
  return names
}

function components(text: string): string[] {
  const names = commaList(text)
  const unknown = names.find((name) => !(COMPONENTS as readonly string[]).includes(name))
  if (unknown !== undefined) throw new InvalidArgumentError(`there is no "${unknown}"; use ${COMPONENTS.join(', ')}.`)
  if (!names.includes('apiserver')) throw new InvalidArgumentError('the others need the apiserver.')
  return names
}
