/** Asks the controls of a running cluster (controls.ts), as its administrator. */
import type { HttpsAnswer, HttpsClient } from '../http/client.ts'
import { adminClient } from './admin-client.ts'
import { clusterDirectory, holder, readState } from './directory.ts'
import { StartError } from './errors.ts'

/**
 * `absent`: why the cluster may not have this control.
 * @throws StartError in one line when there is no cluster, or it refuses
 */
export async function askControl<T>(
  dataDir: string,
  method: 'GET' | 'POST',
  name: string,
  body: object | undefined,
  absent: string,
): Promise<T> {
  return JSON.parse((await askControlForBytes(dataDir, method, name, body, absent)).toString()) as T
}

/** The same for an answer that is no JSON. */
export async function askControlForBytes(
  dataDir: string,
  method: 'GET' | 'POST',
  name: string,
  body: object | undefined,
  absent: string,
): Promise<Buffer> {
  const { client, answer } = await asked(dataDir, method, name, body, absent)
  try {
    return Buffer.from(await answer.bytes())
  } finally {
    client.close()
  }
}

export interface OpenControl<T> {
  /** The first line of the answer. */
  readonly told: T
  /** Resolves when the answer has ended, whichever side ended it. */
  readonly ended: Promise<void>
  close(): void
}

/** The same for an answer that goes on, whose first line is JSON. */
export async function openControl<T>(
  dataDir: string,
  name: string,
  body: object,
  absent: string,
): Promise<OpenControl<T>> {
  const { client, answer } = await asked(dataDir, 'POST', name, body, absent)
  const chunks = answer.chunks()[Symbol.asyncIterator]()
  let text = ''
  while (!text.includes('\n')) {
    const next = await chunks.next()
    if (next.done === true) throw new StartError('the cluster ended its answer before it was whole')
    text += Buffer.from(next.value).toString()
  }
  const untilEnd = async () => {
    try {
      while ((await chunks.next()).done !== true);
    } catch {
      // The connection was cut: that ends it as well.
    } finally {
      client.close()
    }
  }
  return { told: JSON.parse(text) as T, ended: untilEnd(), close: () => client.close() }
}

async function asked(
  dataDir: string,
  method: 'GET' | 'POST',
  name: string,
  body: object | undefined,
  absent: string,
): Promise<{ readonly client: HttpsClient; readonly answer: HttpsAnswer }> {
  const directory = clusterDirectory(dataDir)
  const state = readState(directory)
  if (holder(directory) === undefined || state === undefined)
    throw new StartError(`no cluster runs in ${directory.path}: start one with skiff up`)
  const client = adminClient(directory, state.url)
  try {
    const answer = await client.send({
      method,
      path: `/skiff.dev/${name}`,
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (answer.status === 200) return { client, answer }
    const text = Buffer.from(await answer.bytes()).toString()
    if (answer.status === 404) throw new StartError(`the cluster in ${directory.path} has no such control: ${absent}`)
    throw new StartError(messageIn(text))
  } catch (error) {
    client.close()
    throw error
  }
}

/** Of a Status. */
function messageIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown }
    if (typeof message === 'string') return message
  } catch {
    // It was no JSON.
  }
  return text.trim()
}
