/** Against plugins with real sockets. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { liveRuntime } from '../../base/live-runtime.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createPluginRegistry, type Plugin } from './plugin-registry.ts'
import { startPlugin } from './plugin-stand-in.ts'

const TYPE = 'DRAPlugin'
const ends: (() => void)[] = []
after(() => {
  for (const end of ends.reverse()) end()
})

function stage(adding: (plugin: Plugin) => Promise<void> = async () => {}) {
  const root = mkdtempSync(join(tmpdir(), 'skiff-plugins-'))
  const registry = join(root, 'registry')
  mkdirSync(registry)
  const time = simulatedRuntime(1)
  // What is asked has its deadline by the clock of the sockets; when is looked is in the test's hands.
  const runtime = { ...liveRuntime(), machineClock: time.clock }
  const stop = new AbortController()
  const happened: string[] = []
  const waiting: { readonly what: string; resolve(): void }[] = []
  const note = (what: string) => {
    happened.push(what)
    for (const one of waiting) if (one.what === what) one.resolve()
  }
  const handler = {
    async add(plugin: Plugin) {
      await adding(plugin)
      note(`add ${plugin.name}`)
    },
    async remove({ name, endpoint }: Plugin) {
      note(`remove ${name} at ${endpoint.split('/').at(-2)}`)
    },
    close() {},
  }
  ends.push(() => {
    stop.abort()
    rmSync(root, { recursive: true, force: true })
  })
  const plugin = async (name: string, folder = name) => {
    const started = await startPlugin({
      type: TYPE,
      name,
      versions: ['v1.DRAPlugin'],
      registry,
      folder: join(root, folder),
      proto: 'dra',
      service: 'k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin',
      answers: {},
      asked: (method) => note(`${method} ${name}`),
    })
    ends.push(() => started.stop())
    return started
  }
  return {
    registry,
    happened,
    plugin,
    run: () => createPluginRegistry(runtime, registry, { [TYPE]: handler }).run(stop.signal),
    look: () => time.advance(10_000),
    until: (what: string) =>
      happened.includes(what)
        ? undefined
        : new Promise<void>((resolve) => {
            waiting.push({ what, resolve })
          }),
  }
}

async function silentSocket(path: string): Promise<void> {
  const server: Server = createServer((socket) => ends.push(() => socket.destroy()))
  await new Promise<void>((resolve) => server.listen(path, resolve))
  ends.push(() => server.close())
}

test('a plugin that says nothing, and one that is long in being taken in, keep no other waiting', {
  timeout: 30_000,
}, async () => {
  const never = new Promise<void>(() => {})
  const { registry, happened, plugin, run, until } = stage(({ name }) => (name === 'slow' ? never : Promise.resolve()))
  await silentSocket(join(registry, 'a-silent.sock'))
  await plugin('slow')
  await plugin('quick')
  run()
  await until('NotifyRegistrationStatus quick')
  await until('GetInfo slow')
  assert.deepEqual(
    happened.filter((what) => what.startsWith('add')),
    ['add quick'],
  )
})

test('a plugin that comes anew at another endpoint is there before the old one goes; one that is gone goes', {
  timeout: 30_000,
}, async () => {
  const { happened, plugin, run, look, until } = stage()
  const old = await plugin('d', 'old')
  run()
  await until('NotifyRegistrationStatus d')
  old.stop()
  const anew = await plugin('d', 'new')
  await look()
  await until('remove d at old')
  assert.deepEqual(
    happened.filter((what) => !what.includes(' d') || what.startsWith('add') || what.startsWith('remove')),
    ['add d', 'add d', 'remove d at old'],
  )
  anew.stop()
  await look()
  await until('remove d at new')
})

test('a plugin that is made anew at its old endpoint is taken in again and not removed', {
  timeout: 30_000,
}, async () => {
  const { happened, plugin, run, look, until } = stage()
  const first = await plugin('d')
  run()
  await until('NotifyRegistrationStatus d')
  first.stop()
  const second = await plugin('d')
  happened.length = 0
  await look()
  await until('NotifyRegistrationStatus d')
  second.stop()
  await look()
  await until('remove d at d')
  assert.deepEqual(
    happened.filter((what) => !/^(GetInfo|Notify)/.test(what)),
    ['add d', 'remove d at d'],
  )
})
