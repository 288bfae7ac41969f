/** The command line in this process: what it says, and how it would end. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock, test } from 'node:test'
import { main } from './main.ts'

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function skiff(...args: readonly string[]): Promise<Ended> {
  let [out, err, exited] = ['', '', undefined as number | undefined]
  const before = process.exitCode
  process.exitCode = undefined
  const writes = [
    mock.method(process.stdout, 'write', (text: string) => {
      out += text
      return true
    }),
    mock.method(process.stderr, 'write', (text: string) => {
      err += text
      return true
    }),
    mock.method(process, 'exit', (code: number) => {
      exited ??= code
    }),
  ]
  try {
    await main(args)
  } finally {
    for (const { mock: own } of writes) own.restore()
  }
  const code = exited ?? Number(process.exitCode ?? 0)
  process.exitCode = before
  return { code, out, err }
}

const wrong: readonly (readonly [args: readonly string[], err: string])[] = [
  [['bogus'], "unknown command 'bogus': see --help"],
  [['upp'], "unknown command 'upp': did you mean up?"],
  [['up', '--bogus'], "unknown option '--bogus': see --help"],
  [['clock', 'advance', '-5s'], '-5s is less than nothing, which no duration and no number here may be'],
  [
    ['up', '--enable-admission-plugins', 'Nope'],
    "option '--enable-admission-plugins <list>' argument 'Nope' is invalid. there is no admission plugin \"Nope\".",
  ],
  [['up', '--node', '1'], "unknown option '--node': did you mean --nodes?"],
  [['up', 'it'], "too many arguments for 'up'. Expected 0 arguments but got 1."],
  [['up', '--port'], "option '--port <n>' argument missing"],
  [['up', '--port', '65536'], "option '--port <n>' argument '65536' is invalid. must be a number from 0 to 65535."],
  [['up', '--nodes', '5001'], "option '--nodes <n>' argument '5001' is invalid. must be a number from 0 to 5000."],
  [['up', '-v', '11'], "option '-v, --verbosity <level>' argument '11' is invalid. must be a number from 0 to 10."],
  [
    ['up', '--components', 'apiserver,x'],
    "option '--components <list>' argument 'apiserver,x' is invalid. there is no \"x\"; use apiserver, controllers, scheduler, kubelet, storage, proxy, dns.",
  ],
  [
    ['up', '--components', 'kubelet'],
    "option '--components <list>' argument 'kubelet' is invalid. the others need the apiserver.",
  ],
]
for (const [[command = '', ...flags], err] of wrong)
  test(`skiff ${[command, ...flags].join(' ')}: one line, and exit 2`, async () => {
    // Were it taken for right, nothing could be started where a file is in the way.
    const nowhere = command === 'up' ? ['--data-dir', join(process.execPath, 'nowhere')] : []
    assert.deepEqual(await skiff(command, ...nowhere, ...flags), { code: 2, out: '', err: `skiff: ${err}\n` })
  })

test('version and help are no mistakes', async () => {
  for (const args of [['version'], ['--version']]) {
    const { code, out, err } = await skiff(...args)
    assert.deepEqual([code, err], [0, ''])
    assert.match(out, /^skiff \S+ \(Kubernetes v1\.37\.1\+skiff, Node \d+\.\d+\.\d+\)\n$/)
  }
  const { code, out } = await skiff('--help')
  assert.equal(code, 0)
  for (const command of ['up', 'down', 'status', 'kubeconfig', 'version'])
    assert.match(out, new RegExp(`^  ${command}\\b`, 'm'))
  assert.doesNotMatch(out, /precompile/)
})

test('of a directory in which nothing runs: status and kubeconfig say so and exit 1, down has nothing to do', async () => {
  const path = mkdtempSync(join(tmpdir(), 'skiff-main-'))
  try {
    const at = ['--data-dir', path]
    assert.deepEqual(await skiff('status', ...at), {
      code: 1,
      out: `no cluster runs in ${path}: skiff up starts one\n`,
      err: '',
    })
    assert.deepEqual(await skiff('kubeconfig', ...at), {
      code: 1,
      out: '',
      err: `skiff: there is no cluster in ${path} yet: start one with skiff up\n`,
    })
    assert.deepEqual(await skiff('down', ...at), { code: 0, out: `no cluster runs in ${path}\n`, err: '' })
    writeFileSync(join(path, 'kubeconfig'), 'kind: Config\n')
    assert.match((await skiff('status', ...at)).out, /skiff up continues the one that was there\n$/)
    assert.deepEqual(await skiff('kubeconfig', ...at), { code: 0, out: 'kind: Config\n', err: '' })
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
})

test('of a directory that cannot be read nothing is claimed: one line with the reason, and exit 1', async () => {
  const path = mkdtempSync(join(tmpdir(), 'skiff-main-'))
  try {
    // Everything may be read by root, but nothing behind a link to itself.
    const loop = join(path, 'loop')
    symlinkSync(loop, loop)
    for (const [command, file] of [
      ['status', 'pid'],
      ['down', 'pid'],
      ['kubeconfig', 'kubeconfig'],
    ] as const) {
      const { code, out, err } = await skiff(command, '--data-dir', loop)
      assert.deepEqual([code, out], [1, ''], command)
      assert.match(err, new RegExp(`^skiff: cannot read ${join(loop, file)}: ELOOP[^\\n]*\\n$`))
    }
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
})

test('a detached start whose log cannot be written is one line, and exit 1', async () => {
  const path = mkdtempSync(join(tmpdir(), 'skiff-main-'))
  try {
    writeFileSync(join(path, 'file'), '')
    mkdirSync(join(path, 'there'))
    const { code, out, err } = await skiff('up', '--detach', '--data-dir', join(path, 'file', 'below'))
    assert.deepEqual([code, out], [1, ''])
    assert.match(err, /^skiff: cannot write to \S+below: [^\n]+\n$/)
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
})
