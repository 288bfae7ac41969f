/** Where faults stand on the command line: the flags of skiff up and skiff test-server, and the command skiff fault. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { messageOf } from '../base/errors.ts'
import { LARGEST_SEED, parseFault } from '../cluster/fault-words.ts'
import { integerArgument } from './security-flags.ts'

export interface FaultFlags {
  readonly fault?: readonly string[]
  readonly seed?: number
}

export const faultFlags = (): readonly Option[] => [
  new Option(
    '--fault <fault>',
    "what goes wrong on purpose for clients, as 'watch drop 5%' (docs/faults.md; repeatable)",
  ).argParser(oneMore),
  new Option(
    '--seed <n>',
    'decides which requests faults strike, and the suffixes of generated names (default: another each time)',
  ).argParser(integerArgument(0, LARGEST_SEED)),
]

function oneMore(text: string, before: readonly string[] | undefined): readonly string[] {
  try {
    parseFault(text)
  } catch (error) {
    throw new InvalidArgumentError(`${messageOf(error)}.`)
  }
  return [...(before ?? []), text]
}

/** As startCluster takes them. */
export const faultsOf = ({ fault, seed }: FaultFlags) => ({
  ...(fault === undefined ? {} : { faults: fault }),
  ...(seed === undefined ? {} : { seed }),
})

/** @returns its subcommands */
export function addFaultCommands(program: Command, dataDir: () => Option): readonly Command[] {
  const fault = program
    .command('fault')
    .description('what goes wrong on purpose, in a cluster that was started with --fault or --controls faults')
  const output = () => new Option('-o, --output <form>', 'how to tell it').choices(['text', 'json']).default('text')
  fault
    .command('list')
    .description('say which faults there are, how often they have struck, and what they struck last')
    .addOption(output())
    .addOption(dataDir())
    .allowExcessArguments(false)
    .action(async (options) => (await import('./fault.ts')).faultList(options))
  fault
    .command('add')
    .description('one more, from now on, for watches that are open too')
    .argument('<fault...>', 'such as watch drop 5% on pods by my-operator')
    .addOption(output())
    .addOption(dataDir())
    .action(async (words, options) => (await import('./fault.ts')).faultAdd(words, options))
  fault
    .command('clear')
    .description('take a fault away, or all of them with what was counted')
    .argument('[fault...]', 'as skiff fault list tells it')
    .option('--seed <n>', 'all of them, and those to come have this seed', integerArgument(0, LARGEST_SEED))
    .addOption(output())
    .addOption(dataDir())
    .action(async (words, options) => (await import('./fault.ts')).faultClear(words, options))
  return fault.commands
}
