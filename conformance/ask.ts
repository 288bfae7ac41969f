/** Asks a cluster, known by its kubeconfig, the requests of a case, and keeps the normalized answers. */
import { readFileSync } from 'node:fs'
import https from 'node:https'
import { parse } from 'yaml'
import { type FailingServers, startFailingServers } from './hook/failing.ts'
import { startHookServer } from './hook/server.ts'
import { createNormalizer } from './normalize.ts'
import type { Answer, Case, Step } from './recording.ts'
import { createTimekeeper, createTimeNames } from './times.ts'

export interface Asker {
  call(step: Step): Promise<{ code: number; headers: Record<string, string | string[] | undefined>; text: string }>
  close(): void
}

const decode = (base64: string | undefined): Buffer | undefined =>
  base64 === undefined ? undefined : Buffer.from(base64, 'base64')
const file = (path: string | undefined): Buffer | undefined => (path === undefined ? undefined : readFileSync(path))

/** @throws when the kubeconfig cannot be read. Requests never reject: a broken connection is code 0. */
export function createAsker(kubeconfig: string): Asker {
  const config = parse(readFileSync(kubeconfig, 'utf8'))
  const user = config.users[0].user
  const server = new URL(config.clusters[0].cluster.server)
  const connections = { keepAlive: true, maxSockets: 16, rejectUnauthorized: false }
  const agent = new https.Agent({
    ...connections,
    cert: decode(user['client-certificate-data']) ?? file(user['client-certificate']),
    key: decode(user['client-key-data']) ?? file(user['client-key']),
  })
  const withoutCertificate = new https.Agent(connections)
  return {
    call: (step) =>
      new Promise((resolve) => {
        const body =
          step.b64 !== undefined
            ? Buffer.from(step.b64, 'base64')
            : step.b === undefined
              ? undefined
              : Buffer.from(step.b)
        const request = https.request(
          {
            host: server.hostname,
            port: server.port,
            method: step.m,
            path: step.p,
            agent: step.token === undefined ? agent : withoutCertificate,
            timeout: 20_000,
            headers: {
              'user-agent': 'probe/1',
              accept: 'application/json',
              ...(body ? { 'content-type': 'application/json', 'content-length': body.length } : {}),
              ...(step.token ? { authorization: `Bearer ${step.token}` } : {}),
              ...step.h,
            },
          },
          (response) => {
            const chunks: Buffer[] = []
            const done = () =>
              resolve({
                code: response.statusCode ?? 0,
                headers: response.headers,
                text: Buffer.concat(chunks).toString(),
              })
            response.on('data', (chunk) => chunks.push(chunk))
            response.on('end', done)
            response.on('error', done)
          },
        )
        request.on('timeout', () => request.destroy(new Error('timeout')))
        request.on('error', (error) => resolve({ code: 0, headers: {}, text: error.message }))
        request.end(body)
      }),
    close: () => {
      agent.destroy()
      withoutCertificate.destroy()
    },
  }
}

/** Where `$HOOK` and `$CA` of requests about webhooks lead. */
let hook: { readonly url: string; readonly ca: string } | undefined
/** And `$AUTHORITY` and `{{port expired}}`. */
let failing: FailingServers | undefined

function substitute(given: string, namespace: string, answers: readonly string[]): string {
  const hooked = hook === undefined ? given : given.replaceAll('$HOOK', hook.url).replaceAll('$CA', hook.ca)
  const text =
    failing === undefined
      ? hooked
      : hooked
          .replaceAll('$AUTHORITY', failing.authority)
          .replace(/\{\{port ([a-z-]+)\}\}/g, (_, name: string) => String(failing?.ports[name]))
  const expanded = text.replace(/\{\{repeat (.+?) (\d+)\}\}/g, (_, part: string, times) => part.repeat(Number(times)))
  return expanded.replaceAll('$NS', namespace).replace(/\{\{(\d+)\.([^}]+)\}\}/g, (_, index, path) => {
    try {
      let value = JSON.parse(answers[Number(index)] ?? 'null')
      for (const key of path.split('.')) value = value?.[key]
      return String(value ?? '')
    } catch {
      return ''
    }
  })
}

const json = (value: unknown): string => JSON.stringify(value)
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** How often, and how many times, a step with `until` is asked again: a real server's slowest answer takes 10 s. */
const TURN_MS = 20
const MOST_TURNS = 600
/** What a real server says of a resource it has only just begun to serve. */
export const INITIALIZING = 'storage is (re)initializing'

/** An answer of a case asked at a pace came in a later second than its request: its times say nothing. */
class OutOfStep extends Error {}

/** How often a case asked at a pace is asked: on a busy machine an answer may take a second. */
const MOST_PACES = 10

/** A step begins this long after a second has. */
const INTO_SECOND_MS = 20

/** Waits for a second of its own, and answers with when it began. */
async function nextSecond(): Promise<number> {
  const begin = Math.floor(Date.now() / 1000 + 1) * 1000
  while (Date.now() < begin + INTO_SECOND_MS) await pause(begin + INTO_SECOND_MS - Date.now())
  return Math.floor(Date.now() / 1000) * 1000
}

/** Runs one case in a namespace of its own and cleans up behind it. @throws when it cannot be asked at its pace. */
export async function askCase(asker: Asker, c: Case, namespace: string, settleMs = 0): Promise<readonly Answer[]> {
  for (let turn = 1; ; turn++) {
    try {
      return await askOnce(asker, c, turn === 1 ? namespace : `${namespace}-${turn}`, settleMs)
    } catch (error) {
      if (!(error instanceof OutOfStep)) throw error
      if (turn === MOST_PACES)
        throw new Error(`${c.name}: no answer comes in the second of its request`, { cause: error })
    }
  }
}

async function askOnce(asker: Asker, c: Case, namespace: string, settleMs: number): Promise<readonly Answer[]> {
  if (c.ns !== false) {
    await asker.call({
      m: 'POST',
      p: '/api/v1/namespaces',
      b: json({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }),
    })
    await asker.call({
      m: 'POST',
      p: `/api/v1/namespaces/${namespace}/serviceaccounts`,
      b: json({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }),
    })
  }
  const names = createTimeNames()
  const normalize = createNormalizer(namespace, c.paced ? names.name : undefined)
  const timekeeper = createTimekeeper()
  let outOfStep = false
  const texts: string[] = []
  const answers: Answer[] = []
  for (const { settle, until, ...step } of c.steps) {
    if (settle && settleMs > 0) await pause(settleMs)
    const asked = {
      ...step,
      p: substitute(step.p, namespace, texts),
      b: step.b === undefined ? undefined : substitute(step.b, namespace, texts),
      ...(step.token === undefined ? {} : { token: substitute(step.token, namespace, texts) }),
      ...(step.h === undefined ? {} : { h: JSON.parse(substitute(json(step.h), namespace, texts)) }),
    }
    const settled = (text: string) =>
      until === undefined ? !text.includes(INITIALIZING) : [until].flat().every((part) => text.includes(part))
    const second = c.paced ? await nextSecond() : undefined
    if (second !== undefined) names.begin(second)
    let sentMs = Date.now()
    let answer = await asker.call(asked)
    for (let turn = 0; !settled(answer.text) && turn < MOST_TURNS; turn++) {
      await pause(TURN_MS)
      sentMs = Date.now()
      answer = await asker.call(asked)
    }
    const receivedMs = Date.now()
    outOfStep ||= second !== undefined && receivedMs >= second + 1000
    const broken = timekeeper.judge(asked, { sentMs, receivedMs }, answer)
    texts.push(answer.text)
    const warning = answer.headers['warning']
    answers.push({
      code: answer.code,
      type: answer.headers['content-type'] as string | undefined,
      ...(warning ? { warning: String(normalize(warningsOf(warning, c.anyOrder === true))) } : {}),
      ...(c.headers === undefined ? {} : { headers: chosen(answer.headers, c.headers, normalize) }),
      ...(broken.length === 0 ? {} : { broken }),
      body: normalize(answer.text),
    })
  }
  await removeClusterScoped(asker, c, namespace)
  if (c.ns !== false) await asker.call({ m: 'DELETE', p: `/api/v1/namespaces/${namespace}` })
  if (outOfStep) throw new OutOfStep(c.name)
  return answers
}

function chosen(
  headers: Record<string, string | string[] | undefined>,
  names: readonly string[],
  normalize: (text: string) => unknown,
): Record<string, string> {
  const found = names.filter((name) => headers[name] !== undefined)
  return Object.fromEntries(found.map((name) => [name, String(normalize([headers[name]].flat().join()))]))
}

/** As one text; those about custom resources come in no fixed order. */
function warningsOf(header: string | string[], anyOrder: boolean): string {
  const text = [header].flat().join()
  return anyOrder
    ? text
        .split(/, ?(?=299 - ")/)
        .sort()
        .join(', ')
    : text
}

/** A case whose first request created a cluster-scoped object must leave nothing behind for the next. */
async function removeClusterScoped(asker: Asker, c: Case, namespace: string): Promise<void> {
  const first = c.steps[0]
  if (first?.m !== 'POST' || first.p.includes('$NS') || first.p.includes('dryRun')) return
  let name: string | undefined
  try {
    name = JSON.parse(first.b ?? '').metadata.name
  } catch {
    return
  }
  if (!name || name === '$NS') return
  const path = `${first.p}/${name.replaceAll('$NS', namespace)}`
  await asker.call({ m: 'DELETE', p: path })
  if (first.p.endsWith('namespaces'))
    await asker.call({
      m: 'PUT',
      p: `${path}/finalize`,
      b: json({ apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: { finalizers: [] } }),
    })
  else
    await asker.call({
      m: 'PATCH',
      p: path,
      b: '{"metadata":{"finalizers":null}}',
      h: { 'content-type': 'application/merge-patch+json' },
    })
}

const gadget = JSON.parse(readFileSync(new URL('gadget.json', import.meta.url), 'utf8'))

/** The CustomResourceDefinition that some cases are about, installed and served before they start. */
async function installGadget(asker: Asker): Promise<void> {
  await asker.call({
    m: 'POST',
    p: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    b: json(gadget.crd),
  })
  for (let i = 0; i < 100; i++) {
    const served = await asker.call({ m: 'GET', p: '/apis/probe.example.com/v1/gadgets' })
    if (served.code === 200) break
    await pause(50)
  }
  // The name is served a moment before writes are accepted on a real server.
  await pause(1500)
}

/**
 * Asks all cases, `parallel` at once, those asked at a pace all at once, and those marked serial afterwards, one by one;
 * answers in the order of the cases.
 */
export async function askAll(
  asker: Asker,
  cases: readonly Case[],
  options: { parallel?: number; run: string; settleMs?: number },
): Promise<readonly (readonly Answer[])[]> {
  if (cases.some((c) => c.gadget)) await installGadget(asker)
  const mention = (text: string) => cases.some((c) => c.steps.some((step) => step.b?.includes(text)))
  const hooks = mention('$CA') ? await startHookServer() : undefined
  hook = hooks
  const failures = mention('$AUTHORITY') ? await startFailingServers() : undefined
  failing = failures
  const answers: (readonly Answer[])[] = []
  const ask = async (index: number) => {
    const c = cases[index]
    if (c) answers[index] = await askCase(asker, c, `c-${options.run}-${index}`, options.settleMs)
  }
  const parallel = cases.flatMap((c, index) => (c.serial || c.paced ? [] : [index]))
  let next = 0
  const lanes = Array.from({ length: options.parallel ?? 12 }, async () => {
    while (next < parallel.length) await ask(parallel[next++]!)
  })
  await Promise.all(lanes)
  await Promise.all(cases.map((c, index) => (c.paced && !c.serial ? ask(index) : undefined)))
  for (const [index, c] of cases.entries()) if (c.serial) await ask(index)
  hooks?.close()
  failures?.close()
  return answers
}
