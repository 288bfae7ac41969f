/** Plays a scenario to our controllers on the simulated clock. */
import type { Fields, KubeObject } from '../../src/api/object.ts'
import type { Handler, UserInfo } from '../../src/api/request.ts'
import { StatusError } from '../../src/api/status.ts'
import { sleep } from '../../src/base/clock.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { createClient, inProcessTransport } from '../../src/client/transport.ts'
import { startControllerManager } from '../../src/controllers/manager.ts'
import { ADMIN, startTestApi } from '../harness.ts'
import { playedOut } from '../played-out.ts'
import { createNeutral, type SeenStep, type SeenWrite, stepOf, WRITER } from './recording.ts'
import { play, type Scenario } from './scenario.ts'

const namespace = 'played'
const TOKEN = 'played'
const CONTROLLERS = ['persistentvolume-attach-detach-controller', 'persistentvolume-binder-controller']

export async function replay(scenario: Scenario): Promise<readonly SeenStep[]> {
  const runtime = simulatedRuntime(1)
  const api = await runtime.complete(startTestApi(runtime))
  let writes: SeenWrite[] = []
  const handler: Handler = async (request) => {
    if (request.user?.name !== WRITER || request.method === 'GET') return api.handler(request)
    const write = { ...seenWrite(request), code: 0 }
    writes.push(write)
    try {
      const response = await api.handler(request)
      write.code = response.status
      return response
    } catch (error) {
      write.code = error instanceof StatusError ? error.code : 500
      throw error
    }
  }
  const clientFor = ({ user, userAgent }: { user: UserInfo; userAgent: string }) =>
    createClient(runtime, inProcessTransport(handler), { user, userAgent })
  const user = clientFor({ user: ADMIN, userAgent: 'user' })
  await runtime.complete(api.namespace(namespace))
  let stop = new AbortController()
  const start = () => {
    stop = new AbortController()
    return startControllerManager({ runtime, clientFor, signal: stop.signal, controllers: CONTROLLERS })
  }
  await runtime.complete(start(), { maxSteps: 2_000_000 })
  const neutral = createNeutral(namespace, scenario, TOKEN)
  const told = new Set<string>()
  const steps: SeenStep[] = []
  const played = play(scenario, {
    client: user,
    namespace,
    token: TOKEN,
    pass: (ms) => sleep(runtime.clock, ms),
    async controllers(what) {
      if (what === 'stop') stop.abort()
      else await start()
    },
    async ended() {
      const pods = user.resource({ group: '', version: 'v1', resource: 'pods' }).namespace(namespace)
      neutral.know((await pods.list()).items.map((item) => ({ ...item, kind: 'Pod' })))
      steps.push(stepOf(writes, neutral, told))
      writes = []
    },
  })
  await playedOut(runtime, played, 500, async () => {
    stop.abort()
    await runtime.complete(api.stop())
  })
  return steps
}

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

function seenWrite({
  method,
  path,
  body,
}: {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}): Omit<SeenWrite, 'code'> {
  const parts = path.split('/').filter((part) => part !== '')
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3)
  const [resource = '', name = '', subresource = ''] = rest[0] === 'namespaces' ? rest.slice(2) : rest
  const object = (body as { readonly object?: KubeObject } | undefined)?.object ?? {}
  return { writer: 'attach-detach', verb: VERBS[method] ?? method, resource, subresource, name, body: object as Fields }
}
