/** The commands that plan on any cluster, with their flags: kubectl's where it has the command. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { CLOCKS } from '../cluster/options.ts'
import { durationArgument } from './eviction-flags.ts'
import { takeFlagsAsKubectl } from './flags-as-kubectl.ts'
import { integerArgument } from './security-flags.ts'

const collect = (value: string, before: readonly string[]) => [...before, value]
const FORMS = ['tree', 'table', 'json', 'svg', 'dot']

/** kubectl still takes the values of the time when there were two. */
const STRATEGIES = new Map<string, string>([
  ...['background', 'foreground', 'orphan'].map((name) => [name, name] as const),
  ['true', 'background'],
  ['false', 'orphan'],
])

function strategy(text: string): string {
  const found = STRATEGIES.get(text)
  if (found === undefined) throw new InvalidArgumentError('it is background, foreground or orphan.')
  return found
}

/** Flags of kubectl that change nothing of what comes of it. */
const sameInAPlan = (flags: string): Option => new Option(flags, "kubectl's; the plan is the same with and without it")

/** Adds `plan` and `twin`; gives those whose settings are not inherited by themselves. */
export function addPlanningCommands(program: Command): readonly Command[] {
  const plan = program
    .command('plan')
    .description('what would come of it, in any cluster: it is done in a twin of it, in simulated time')
  const command = (name: string, description: string) =>
    plan
      .command(name)
      .description(description)
      .option('--data-dir <dir>', 'a cluster of skiff, instead of one of a kubeconfig')
      .option('--kubeconfig <file>', 'default: $KUBECONFIG, then ~/.kube/config')
      .option('--context <name>', "default: the kubeconfig's current one")
      .option('-n, --namespace <name>', "default: the context's")
      .addOption(new Option('-o, --output <form>', 'how to tell it').choices(FORMS).default('tree'))
      .option('--secrets', 'read the values of Secrets too, not their metadata alone')
      .option('--expect-none <kind>', 'fail when one of this kind may go; may be repeated', collect, [])
      .option('--max <n>', 'fail when more objects than this may go', integerArgument(0, 1_000_000_000))
  const cascade = () =>
    new Option('--cascade [strategy]', 'what becomes of dependents: background, foreground or orphan')
      .preset('background')
      .argParser(strategy)
      .default('background')
  const files = [
    '-f, --filename <file>',
    'a file or folder of manifests; - is standard input; may be repeated',
  ] as const

  command('delete', 'kubectl delete, with its arguments')
    .argument('[words...]', 'TYPE NAME…, TYPE/NAME…, or TYPE with a selector or --all')
    .option(...files, collect, [])
    .option('-l, --selector <labels>', 'those with these labels')
    .option('--field-selector <fields>', 'those with these fields')
    .option('--all', 'all of the kind')
    .option('-A, --all-namespaces', 'in all namespaces')
    .addOption(cascade())
    .option('--grace-period <seconds>', "default: each object's own", integerArgument(-2_147_483_648, 2_147_483_647))
    .option('--now', 'the same as a grace period of 1')
    .option('--force', 'with a grace period of 0: do not wait for the node')
    .option('--ignore-not-found', 'what is not there is no failure')
    .option('-R, --recursive', 'folders with the folders in them')
    .addOption(sameInAPlan('--wait [bool]'))
    .addOption(sameInAPlan('--timeout <duration>'))
    .addOption(sameInAPlan('--dry-run [strategy]'))
    .addOption(new Option('-k, --kustomize <dir>').hideHelp())
    .addOption(new Option('--raw <uri>').hideHelp())
    .addOption(new Option('-i, --interactive').hideHelp())
    .action(async (words, flags) => (await import('./plan.ts')).tellPlanOfDelete(words, flags))
  command('drain', 'kubectl drain')
    .argument('[nodes...]', 'the nodes')
    .option('-l, --selector <labels>', 'the nodes with these labels')
    .option('--ignore-daemonsets', 'leave the pods of DaemonSets')
    .option('--delete-emptydir-data', 'take pods with local storage too')
    .option('--force', 'take pods without a controller too')
    .option('--disable-eviction', 'delete the pods: budgets are not asked')
    .option('--grace-period <seconds>', "default: each pod's own", integerArgument(-2_147_483_648, 2_147_483_647))
    .option('--pod-selector <labels>', 'only pods with these labels')
    .option(
      '--skip-wait-for-delete-timeout <seconds>',
      'do not wait for pods that have been marked for longer',
      integerArgument(0, 2_147_483_647),
    )
    .option('--timeout <duration>', 'give up on what a budget refuses after so long', durationArgument)
    .addOption(sameInAPlan('--chunk-size <n>'))
    .addOption(sameInAPlan('--dry-run [strategy]'))
    .action(async (nodes, flags) => (await import('./plan.ts')).tellPlanOfDrain(nodes, flags))
  command('uninstall', 'kubectl delete -f of each file, in this order, each when the one before has ended')
    .argument('<file...>', 'files or folders of manifests')
    .addOption(cascade())
    .option('--ignore-not-found', 'what is not there is no failure')
    .action(async (names, flags) => (await import('./plan.ts')).tellPlanOfUninstall(names, flags))
  command('apply', 'kubectl apply --server-side --force-conflicts')
    .option(...files, collect, [])
    .allowExcessArguments(false)
    .action(async (flags) => (await import('./plan.ts')).tellPlanOfApply(flags))

  for (const one of plan.commands) takeFlagsAsKubectl(one)

  program
    .command('twin')
    .description('what a cluster holds, in a cluster in memory to try anything on, as long as this runs')
    .option('--from <kubeconfig>', 'default: $KUBECONFIG, then ~/.kube/config')
    .option('--context <name>', "default: the kubeconfig's current one")
    .option('--data-dir <dir>', 'a cluster of skiff, instead of one of a kubeconfig')
    .option(
      '-n, --namespace <name>',
      'of namespaced objects only those in it; may be repeated (default: all)',
      collect,
      [],
    )
    .addOption(
      new Option('--clock <clock>', 'manual: time stands still until it is moved').choices(CLOCKS).default('real'),
    )
    .option('--port <n>', 'HTTPS port of its API server; 0 takes a free one', integerArgument(0, 65535), 0)
    .option('--secrets', 'read the values of Secrets too, not their metadata alone')
    .allowExcessArguments(false)
    .action(async (options) => (await import('./twin.ts')).twin(options))
  return plan.commands
}
