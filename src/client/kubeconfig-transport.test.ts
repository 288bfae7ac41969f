import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { liveRuntime } from '../base/live-runtime.ts'
import type { Runtime } from '../base/runtime.ts'
import { bearerTransport, inClusterTransport, kubeconfigTransport } from './kubeconfig-transport.ts'
import { readKubeconfig } from './read-kubeconfig.ts'
import { createClient, type Transport } from './transport.ts'

/** A server that notes the users that asked, and believes no token in `refused`. */
async function started(t: TestContext) {
  const asked: (string | undefined)[] = []
  const refused = new Set<string>()
  const headers: NodeJS.Dict<string | string[]>[] = []
  const server = createServer((request, response) => {
    asked.push(request.headers.authorization)
    headers.push(request.headers)
    response.writeHead(refused.has(request.headers.authorization ?? '') ? 401 : 200, {
      'content-type': 'application/json',
    })
    const failure = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Unauthorized', code: 401 }
    response.end(JSON.stringify(response.statusCode === 401 ? failure : {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const folder = mkdtempSync(join(tmpdir(), 'skiff-kubeconfig-'))
  let ahead = 0
  const live = liveRuntime({ log: { write: () => {} } })
  const runtime: Runtime = { ...live, clock: { ...live.clock, monotonic: () => live.clock.monotonic() + ahead } }
  t.after(() => {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true })
  })
  return {
    asked,
    refused,
    headers,
    runtime,
    folder,
    later: (ms: number) => {
      ahead += ms
    },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    write(user: object, cluster: object = {}): string {
      const file = join(folder, 'config')
      writeFileSync(
        file,
        JSON.stringify({
          clusters: [
            {
              name: 'c',
              cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ...cluster },
            },
          ],
          users: [{ name: 'u', user }],
          contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
          'current-context': 'x',
        }),
      )
      return file
    },
  }
}

const ask = (runtime: Runtime, transport: Transport) =>
  createClient(runtime, transport, { userAgent: 'test' }).raw('GET', '/version')

test('a token file is read again after a minute, by a path relative to the kubeconfig', async (t) => {
  const { asked, runtime, folder, later, write } = await started(t)
  writeFileSync(join(folder, 'token'), 'one\n')
  const { transport } = kubeconfigTransport(runtime, write({ tokenFile: 'token', token: 'never' }))
  await ask(runtime, transport)
  writeFileSync(join(folder, 'token'), 'two\n')
  await ask(runtime, transport)
  later(60_000)
  await ask(runtime, transport)
  assert.deepEqual(asked, ['Bearer one', 'Bearer one', 'Bearer two'])
  transport.close()
})

test('what a file held is read again at once when it is not believed any more', async (t) => {
  const { asked, refused, runtime, folder, write } = await started(t)
  writeFileSync(join(folder, 'token'), 'one')
  const { transport } = kubeconfigTransport(runtime, write({ tokenFile: 'token' }))
  await ask(runtime, transport)
  writeFileSync(join(folder, 'token'), 'two')
  refused.add('Bearer one')
  assert.equal((await ask(runtime, transport)).status, 401)
  assert.equal((await ask(runtime, transport)).status, 200)
  assert.deepEqual(asked, ['Bearer one', 'Bearer one', 'Bearer two'])
  transport.close()
})

test('a credential plugin is asked once, and again when its token expires or is not believed', async (t) => {
  const { asked, refused, runtime, folder, write } = await started(t)
  const program = `#!/bin/sh
n=$(cat "${folder}/count" 2>/dev/null || echo 0); n=$((n+1)); echo $n > "${folder}/count"
echo "$KUBERNETES_EXEC_INFO" > "${folder}/info"
echo "{\\"kind\\":\\"ExecCredential\\",\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",\\"status\\":{\\"token\\":\\"$GREETING-$n\\",\\"expirationTimestamp\\":\\"2999-01-01T00:00:00Z\\"}}"
`
  writeFileSync(join(folder, 'plugin'), program, { mode: 0o755 })
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: './plugin',
    env: [{ name: 'GREETING', value: 'hello' }],
    interactiveMode: 'Never',
  }
  const { transport } = kubeconfigTransport(runtime, write({ exec }))
  await Promise.all([ask(runtime, transport), ask(runtime, transport)])
  refused.add('Bearer hello-1')
  assert.equal((await ask(runtime, transport)).status, 401)
  assert.equal((await ask(runtime, transport)).status, 200)
  assert.deepEqual(asked, ['Bearer hello-1', 'Bearer hello-1', 'Bearer hello-1', 'Bearer hello-2'])
  transport.close()
})

test('a credential plugin that is not there, fails or gives nothing is told of by its name', async (t) => {
  const { runtime, folder, write } = await started(t)
  const of = async (script: string | undefined) => {
    if (script !== undefined) writeFileSync(join(folder, 'p'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    const command = script === undefined ? './none' : './p'
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command, installHint: 'see the docs' }
    const { transport } = kubeconfigTransport(runtime, write({ exec }))
    const said = await ask(runtime, transport).then(
      () => 'nothing',
      (error: Error) => error.message,
    )
    transport.close()
    return said
  }
  assert.match(await of(undefined), /^credential plugin .*\/none: there is no such program \(see the docs\)$/)
  assert.match(await of('echo first >&2; echo no card >&2; exit 3'), /p: it ended with 3: no card \(/)
  assert.match(await of('cat >/dev/null; echo no answer >&2; exit 4'), /p: it ended with 4: no answer/)
  assert.match(await of('echo hm'), /what it wrote on standard output is not JSON/)
  assert.match(await of('echo \'{"kind":"ExecCredential","status":{}}\''), /neither a token nor a certificate/)
})

test('impersonation and basic authentication go into the headers; without the user none of it does', async (t) => {
  const { headers, runtime, write } = await started(t)
  const user = { username: 'a', password: 'b', as: 'jane', 'as-groups': ['g', 'h'], 'as-user-extra': { 'x/y': ['z'] } }
  const { transport, anonymous } = kubeconfigTransport(runtime, write(user))
  await ask(runtime, transport)
  await ask(runtime, anonymous)
  await ask(
    runtime,
    bearerTransport(anonymous, async () => 'own'),
  )
  const of = ({ authorization, ...rest }: (typeof headers)[number]) => ({
    authorization,
    user: rest['impersonate-user'],
    group: rest['impersonate-group'],
    extra: rest['impersonate-extra-x%2fy'],
  })
  assert.deepEqual(headers.map(of), [
    { authorization: 'Basic YTpi', user: 'jane', group: 'g, h', extra: 'z' },
    { authorization: undefined, user: undefined, group: undefined, extra: undefined },
    { authorization: 'Bearer own', user: undefined, group: undefined, extra: undefined },
  ])
  transport.close()
})

test('the proxy of a kubeconfig is asked in place of its server', async (t) => {
  const { runtime, url, headers, write } = await started(t)
  const { transport } = kubeconfigTransport(runtime, write({}, { server: 'http://api.example', 'proxy-url': url }))
  await ask(runtime, transport)
  assert.equal(headers[0]?.['host'], 'api.example')
  transport.close()
})

test('what is wrong with a kubeconfig is told in one line with its file', async (t) => {
  const { runtime, folder, write } = await started(t)
  const why = (file: string) => {
    try {
      kubeconfigTransport(runtime, file).transport.close()
    } catch (error) {
      return (error as Error).message
    }
    return undefined
  }
  const raw = (text: string) => {
    writeFileSync(join(folder, 'raw'), text)
    return why(join(folder, 'raw'))?.replace(folder, '')
  }
  assert.match(why(join(folder, 'none')) ?? '', /^stat .*none: no such file or directory/)
  assert.equal(raw(''), '/raw: kubeconfig is empty, or no mapping')
  assert.equal(raw('[]'), '/raw: kubeconfig is empty, or no mapping')
  assert.match(raw('a: [') ?? '', /^\/raw: kubeconfig is no YAML: /)
  assert.equal(raw('{}'), '/raw: kubeconfig has no context ""')
  assert.match(why(write({}, { server: 'nowhere' })) ?? '', /server "nowhere" is no URL/)
  const whyNot = (proxy: string) => why(write({}, { 'proxy-url': proxy }))?.replace(/^.*kubeconfig's proxy-url /s, '')
  const noUrl = 'is no URL of http, https or socks5'
  assert.equal(whyNot('ftp://p'), `"ftp://p" ${noUrl}`)
  // A password is not told, whatever is wrong.
  assert.equal(whyNot('ftp://user:s3cret@p/x'), `"ftp://p/x" ${noUrl}`)
  assert.equal(whyNot('http://user:s3/cr@et@p:99999'), `"http://p:99999" ${noUrl}`)
  assert.equal(whyNot('user:s3cret@p:1'), `"p:1" ${noUrl}`)
  assert.equal(whyNot('http://us%er:pw@h'), '"http://h" has a user or password with a % that is no escape; write %25')
  assert.equal(whyNot('socks5:'), '"socks5:" names no host')
  assert.match(why(write({ 'auth-provider': { name: 'gcp' } })) ?? '', /auth-provider is not supported/)
  assert.match(why(write({ 'client-certificate': 'no.crt' })) ?? '', /cannot read .*no\.crt/)
  assert.match(why(write({ exec: { apiVersion: 'v2', command: 'x' } })) ?? '', /exec has apiVersion "v2"; use /)
  assert.throws(() => inClusterTransport(runtime, {}), /no --kubeconfig is given, and this is no pod/)
  assert.throws(() => readKubeconfig('x: 1', 'f'), /has no context/)
})
