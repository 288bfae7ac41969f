/**
 * cli: the skiff command. Called by bin/skiff.js; wires the cluster room to a terminal. What a user did wrong is one line on
 * standard error: exit 2 for the command line itself, 1 for everything else; a stack trace goes to the log, never there.
 */

import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { messageOf } from '../base/errors.ts'
import { defaultDirectory } from '../cluster/directory.ts'
import { StartError } from '../cluster/errors.ts'
import { COMPONENTS, DEFAULT_PORT } from '../cluster/options.ts'
import { KUBERNETES_VERSION, SKIFF_VERSION } from '../cluster/version.ts'
import { boolean, integer, securityOptions } from './security-flags.ts'

export async function main(args: readonly string[]): Promise<void> {
  // The reader of what is said may go, as head does.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  const program = skiffCommand()
  try {
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

function skiffCommand(): Command {
  const program = new Command('skiff')
    .description('A Kubernetes cluster in one Node.js process')
    .version(versionText(), '--version')
    .exitOverride()
    .showHelpAfterError(false)
    .configureOutput({ outputError: (text, write) => write(`skiff: ${inOneLine(text)}\n`) })
  const home = defaultDirectory()
  const dataDir = () => new Option('--data-dir <dir>', 'where the cluster keeps everything').default(home, home)

  const up = program
    .command('up')
    .description('start a cluster, or continue the one in the data directory')
    .addOption(dataDir())
    .option('--port <n>', 'HTTPS port of the API server; 0 takes a free one', integer(0, 65535), DEFAULT_PORT)
    .option('--nodes <n>', 'simulated nodes to run', integer(0, 5000), 1)
    .addOption(
      new Option('--runtime <runtime>', 'what runs containers: nothing does, or containerd or CRI-O on this machine')
        .choices(['simulated', 'cri'])
        .default('simulated'),
    )
    .option('--cri-endpoint <url>', 'where the container runtime listens (default: the usual places)')
    .option('--kubeconfig <file>', 'also add the cluster to this kubeconfig')
    .addOption(
      listOption('--components <list>', `which of ${COMPONENTS.join(', ')} to run`, components).default(
        [...COMPONENTS],
        'all',
      ),
    )
    .addOption(listOption('--disable-admission-plugins <list>', 'admission plugins to leave out').default([], 'none'))
    .addOption(
      listOption('--enable-admission-plugins <list>', 'admission plugins to run besides the default ones').default(
        [],
        'none',
      ),
    )
    .option('--allow-privileged [bool]', 'let privileged containers run (default: true)', boolean)
    .option('--detach', 'return when the cluster is ready, and leave it running')
    .option('-v, --verbosity <level>', 'how much to log: 0 to 10', integer(0, 10), 0)
    .allowExcessArguments(false)
    .action(async (options) => (await import('./up.ts')).up(options))
  for (const option of securityOptions()) up.addOption(option)
  program
    .command('down')
    .description('stop the cluster; its objects stay')
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (options) => (await import('./down.ts')).down(options.dataDir))
  program
    .command('status')
    .description('say what runs, and where')
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (options) => (await import('./status.ts')).status(options.dataDir))
  const image = program.command('image').description('images of a node that runs real containers')
  image
    .command('load')
    .description('load a docker or OCI archive; returns once the node tells of it')
    .argument('<file>', 'what docker save, podman save or skopeo copy wrote')
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (file, options) => (await import('./image.ts')).imageLoad(options.dataDir, file))
  image
    .command('list')
    .description('list the images that the node has')
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (options) => (await import('./image.ts')).imageList(options.dataDir))
  program
    .command('kubeconfig')
    .description('print the kubeconfig of the cluster')
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (options) => (await import('./print-kubeconfig.ts')).printKubeconfig(options.dataDir))
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
  for (const command of [...program.commands, ...envtest.commands, ...image.commands])
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
  return said.startsWith('unknown') ? `${said}: see --help` : said
}

function versionText(): string {
  return `skiff ${SKIFF_VERSION} (Kubernetes ${KUBERNETES_VERSION}, Node ${process.versions.node})`
}

const listOption = (flags: string, description: string, parse = commaList): Option =>
  new Option(flags, description).argParser(parse)

function commaList(text: string): string[] {
  return text.split(',').filter((name) => name !== '')
}

function components(text: string): string[] {
  const names = commaList(text)
  const unknown = names.find((name) => !(COMPONENTS as readonly string[]).includes(name))
  if (unknown !== undefined) throw new InvalidArgumentError(`there is no "${unknown}"; use ${COMPONENTS.join(', ')}.`)
  if (!names.includes('apiserver')) throw new InvalidArgumentError('the others need the apiserver.')
  return names
}
