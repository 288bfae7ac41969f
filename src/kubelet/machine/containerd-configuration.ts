/**
 * What a containerd does not tell by CRI since its version 2: the image of its sandboxes, and how it comes to images. Its own program says it, run
 * for a moment with the configuration file that the one that listens was started with.
 */
import { readFileSync, readlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { connect } from '../runtimes/cri/connection.ts'
import { system } from './system.ts'

export interface ContainerdConfiguration {
  readonly sandboxImage?: string
  readonly snapshotter?: string
  readonly registryConfigPath?: string
}

const USUAL_FILE = '/etc/containerd/config.toml'
const IMAGES = 'plugins.io.containerd.cri.v1.images'

/** Nothing where it cannot be learned: it runs beyond this machine's view, or cannot say. */
export async function containerdConfiguration(clock: Clock, endpoint: string): Promise<ContainerdConfiguration> {
  const connection = connect(clock, endpoint, 'introspection')
  try {
    const { pid, pidns } = await connection.call<{ pid: number; pidns: number }>('Server', {})
    // Elsewhere that number is another process's.
    if (readlinkSync('/proc/self/ns/pid') !== `pid:[${pidns}]`) return {}
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    const file = resolve(readlinkSync(`/proc/${pid}/cwd`), configurationFile(words) ?? USUAL_FILE)
    return readDump(system(`/proc/${pid}/exe`, ['--config', file, 'config', 'dump']))
  } catch {
    return {}
  } finally {
    connection.close()
  }
}

function configurationFile(words: readonly string[]): string | undefined {
  for (const [at, word] of words.entries()) {
    if (/^--?(c|config)$/.test(word)) return words[at + 1]
    const [, value] = /^--?(?:c|config)=(.*)$/.exec(word) ?? []
    if (value !== undefined) return value
  }
  return undefined
}

/** Of a whole configuration, as the program writes it: a table's name in a line, then a key and its value in each. */
export function readDump(toml: string): ContainerdConfiguration {
  const values = new Map<string, string>()
  let table = ''
  for (const line of toml.split('\n')) {
    const [, name] = /^\s*\[([^[\]]+)\]\s*$/.exec(line) ?? []
    if (name !== undefined) table = name.replace(/['"]/g, '')
    const [, key, value] = /^\s*(\w+)\s*=\s*(?:'([^']*)'|"[^"]*")\s*$/.exec(line) ?? []
    if (key !== undefined && value) values.set(`${table}.${key}`, value)
  }
  const sandboxImage = values.get(`${IMAGES}.pinned_images.sandbox`)
  const snapshotter = values.get(`${IMAGES}.snapshotter`)
  const registryConfigPath = values.get(`${IMAGES}.registry.config_path`)
  return {
    ...(sandboxImage === undefined ? {} : { sandboxImage }),
    ...(snapshotter === undefined ? {} : { snapshotter }),
    ...(registryConfigPath === undefined ? {} : { registryConfigPath }),
  }
}
