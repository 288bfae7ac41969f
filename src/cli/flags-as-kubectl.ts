/** Flags written as kubectl's parser takes them (pflag), for a parser that takes some of them otherwise. */
import { type Command, InvalidArgumentError } from 'commander'
import { parseGoBool } from '../base/go-bool.ts'

/**
 * Of the command: flags that are there or not may say it (`--force=true`); those whose value may be left out have one only behind `=`, so
 * that the next word is not taken for it (`--wait pod web`); and a short one may have it there too (`-n=team`).
 */
export function takeFlagsAsKubectl(command: Command): void {
  const parse = command.parseOptions.bind(command)
  command.parseOptions = (words) => {
    const end = words.indexOf('--')
    const flags = end < 0 ? words : words.slice(0, end)
    return parse([...flags.flatMap((word) => asParsed(command, word)), ...words.slice(flags.length)])
  }
}

function asParsed({ options }: Command, word: string): readonly string[] {
  if (/^-[a-zA-Z]=/.test(word)) return [word.slice(0, 2), word.slice(3)]
  const at = word.indexOf('=')
  const name = at < 0 ? word : word.slice(0, at)
  const option = options.find(({ long }) => long === name)
  if (option === undefined) return [word]
  if (option.optional && at < 0) return [`${word}=${option.presetArg ?? true}`]
  if (option.required || option.optional || at < 0) return [word]
  const isSet = parseGoBool(word.slice(at + 1))
  if (isSet === undefined) throw new InvalidArgumentError(`${name} is true or false: ${word}`)
  return isSet ? [name] : []
}
