/** What commands that look into any cluster have in common: which cluster and which object is meant, and failures in one line. */
import { existsSync } from 'node:fs'
import { messageOf } from '../base/errors.ts'
import { plainLine } from '../base/plain-text.ts'
import type { Runtime } from '../base/runtime.ts'
import { type ChosenCluster, chooseCluster } from '../client/kubeconfig-files.ts'
import type { Transport } from '../client/transport.ts'
import { clusterDirectory } from '../cluster/directory.ts'
import { StartError } from '../cluster/errors.ts'
import { QuestionError, type QuestionTarget } from '../inspect/question.ts'

export interface ClusterFlags {
  readonly dataDir?: string
  readonly kubeconfig?: string
  readonly context?: string
}

/** What goes wrong in asking is one line. */
export async function told<T>(transport: Transport, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof QuestionError) throw new StartError(plainLine(error.message))
    throw new StartError(`cannot ask ${transport.host}: ${plainLine(messageOf(error))}`, { cause: error })
  }
}

export function chosenCluster(runtime: Runtime, { dataDir, kubeconfig, context }: ClusterFlags): ChosenCluster {
  try {
    if (dataDir === undefined)
      return chooseCluster(runtime, {
        ...(kubeconfig === undefined ? {} : { file: kubeconfig }),
        ...(context === undefined ? {} : { context }),
      })
    const file = clusterDirectory(dataDir).kubeconfig
    if (!existsSync(file))
      throw new Error(`there is no cluster in ${dataDir}: skiff up --data-dir ${dataDir} makes one`)
    return chooseCluster(runtime, { file, ...(context === undefined ? {} : { context }) })
  } catch (error) {
    throw new StartError(plainLine(messageOf(error)), { cause: error })
  }
}

/** `KIND/NAME` or `KIND NAME`. @throws StartError for what is neither */
export function targetOfWords(
  command: string,
  words: readonly string[],
  namespace: string,
): QuestionTarget | undefined {
  if (words.length === 0) return undefined
  const [first = '', second, ...more] = words
  const parts = second === undefined ? first.split('/') : [first, second]
  const [kind = '', name = ''] = parts
  if (second !== undefined && first.includes('/'))
    throw new StartError(`one object at a time: not ${JSON.stringify(plainLine(words.join(' '), 200))}`)
  if (more.length > 0 || parts.length !== 2 || kind === '' || name === '')
    throw new StartError(
      `say KIND/NAME, as in skiff ${command} pod/web-1: not ${JSON.stringify(plainLine(words.join(' '), 200))}`,
    )
  if (
    name === '.' ||
    name === '..' ||
    /[/%]/.test(name) ||
    /[/%\s]/.test(namespace) ||
    namespace === '.' ||
    namespace === '..'
  )
    throw new StartError(
      `no object can have the name or namespace ${JSON.stringify(plainLine(`${namespace}/${name}`, 200))}`,
    )
  if (name.length > 512 || kind.length > 512) throw new StartError('no object has a kind or name that long')
  return { kind, name, namespace }
}
