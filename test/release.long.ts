/** The archives of every platform: what is in them is for that platform. They are run only where they are at home (release.test.ts). */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))

/** How a program of the platform begins: ELF with its machine, Mach-O with its processor. */
const isElf = (machine: number) => (bytes: Buffer) =>
  bytes.readUInt32BE(0) === 0x7f454c46 && bytes.readUInt16LE(18) === machine
const isMachO = (bytes: Buffer) => bytes.readUInt32LE(0) === 0xfeedfacf && bytes.readUInt32LE(4) === 0x0100000c
const PLATFORMS = {
  'linux-x64': { is: isElf(0x3e), libraries: true },
  'linux-arm64': { is: isElf(0xb7), libraries: true },
  'darwin-arm64': { is: isMachO, libraries: false },
}

test('the archive of each platform holds programs of that platform', async (t) => {
  const out = mkdtempSync(join(tmpdir(), 'skiff-release-'))
  try {
    await run(process.execPath, [join(root, 'tools/release/main.ts'), '--out', out], { cwd: root })
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    for (const [platform, { is, libraries }] of Object.entries(PLATFORMS))
      await t.test(platform, async () => {
        const folder = `skiff-${version}-${platform}`
        await run('tar', ['-xzf', join(out, `${folder}.tar.gz`), '-C', out])
        for (const name of ['node', 'kubectl', 'lmdb.node', ...(libraries ? ['libstdc++.so.6', 'libgcc_s.so.1'] : [])])
          assert.ok(is(readFileSync(join(out, folder, name))), name)
        for (const name of ['skiff', 'kube-apiserver', 'etcd'])
          assert.match(readFileSync(join(out, folder, name), 'utf8'), /^#!\/bin\/sh\n/)
      })
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
})
