/** Adds the cluster to a kubeconfig that may hold others, as `--kubeconfig` asks. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse, stringify } from 'yaml'
import { messageOf } from '../base/errors.ts'
import { makeDirectory } from '../base/make-directory.ts'
import { StartError } from './errors.ts'
import { write } from './pki.ts'

type Named = { readonly name: string }
type Config = { readonly [key: string]: unknown }

/** `text`: the cluster's own kubeconfig. Entries of its names are replaced, all others stay; its context becomes current. */
export function mergeKubeconfig(file: string, text: string): void {
  const path = resolve(file)
  try {
    makeDirectory(dirname(path))
    const added = parse(text) as Config
    const present = existsSync(path) ? readConfig(path) : {}
    write(path, stringify(merged(present, added)), 0o600)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`cannot write the kubeconfig ${path}: ${messageOf(error)}`, { cause: error })
  }
}

function readConfig(path: string): Config {
  const config: unknown = parse(readFileSync(path, 'utf8')) ?? {}
  if (typeof config !== 'object' || Array.isArray(config))
    throw new StartError(`${path} is not a kubeconfig; it is left as it is`)
  return config as Config
}

function merged(present: Config, added: Config): Config {
  const lists = ['clusters', 'contexts', 'users'].map((key) => {
    const ours = named(added[key])
    const names = new Set(ours.map(({ name }) => name))
    return [key, [...named(present[key]).filter(({ name }) => !names.has(name)), ...ours]]
  })
  return { ...present, ...added, ...Object.fromEntries(lists) }
}

function named(list: unknown): readonly Named[] {
  return Array.isArray(list) ? (list as Named[]) : []
}
