import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { pauseProgram } from '../machine/pause-program.ts'
import { digestOf, openArchive } from './archive.ts'
import { pauseImage } from './pause-image.ts'
import { writeTar } from './tar.ts'

const temporary = mkdtempSync(join(tmpdir(), 'skiff-images-'))
after(() => rmSync(temporary, { recursive: true, force: true }))

const file = (name: string, text: string | Uint8Array) => ({ name, bytes: Buffer.from(text), mode: 0o644 })
const archive = (...files: readonly ReturnType<typeof file>[]) => {
  const path = join(temporary, 'archive.tar')
  writeFileSync(path, writeTar(files))
  return path
}

test('what docker save writes gives images under full names, with all that they are made of', async () => {
  const layer = writeTar([file('hello', 'world')])
  const manifest = [
    { Config: 'c.json', RepoTags: ['tool:1', 'r.example.com/tool'], Layers: ['l/layer.tar', 'l/layer.tar'] },
  ]
  const opened = await openArchive(
    archive(
      file('manifest.json', JSON.stringify(manifest)),
      file('c.json', '{"os":"linux"}'),
      file('l/layer.tar', layer),
    ),
    'amd64',
  )
  const [image] = opened.images
  assert.deepEqual(image?.names, ['docker.io/library/tool:1', 'r.example.com/tool:latest'])
  assert.equal(image?.manifest.digest, digestOf(image!.manifestBytes))
  const { config, layers } = JSON.parse(image!.manifestBytes.toString())
  assert.equal(config.digest, digestOf(Buffer.from('{"os":"linux"}')))
  assert.deepEqual(
    layers.map(({ digest }: { digest: string }) => digest),
    [digestOf(layer), digestOf(layer)],
  )
  const parts: Uint8Array[] = []
  for await (const chunk of image!.blobs[1]!.chunks()) parts.push(chunk)
  assert.deepEqual(Buffer.concat(parts), layer)
  await opened.close()
})

test('an OCI layout gives the image of this machine’s architecture', async () => {
  const blob = (text: string) => {
    const digest = digestOf(Buffer.from(text))
    return { entry: file(`blobs/${digest.replace(':', '/')}`, text), digest, size: text.length }
  }
  const config = blob('{}')
  const layer = blob('layer')
  const manifestOf = (note: string) =>
    blob(
      JSON.stringify({ note, config: { digest: config.digest, size: 2 }, layers: [{ digest: layer.digest, size: 5 }] }),
    )
  const [own, other] = [manifestOf('own'), manifestOf('other')]
  const mediaType = 'application/vnd.oci.image.manifest.v1+json'
  const platforms = blob(
    JSON.stringify({
      manifests: [
        { mediaType, digest: other.digest, size: other.size, platform: { os: 'linux', architecture: 'arm64' } },
        { mediaType, digest: own.digest, size: own.size, platform: { os: 'linux', architecture: 'amd64' } },
      ],
    }),
  )
  const index = {
    manifests: [
      {
        mediaType: 'application/vnd.oci.image.index.v1+json',
        digest: platforms.digest,
        annotations: { 'org.opencontainers.image.ref.name': 'r.example.com/tool:2' },
      },
    ],
  }
  const entries = [config, layer, own, other, platforms].map(({ entry }) => entry)
  const path = archive(file('index.json', JSON.stringify(index)), ...entries)
  const opened = await openArchive(path, 'amd64')
  assert.deepEqual(opened.images[0]?.names, ['r.example.com/tool:2'])
  assert.equal(opened.images[0]?.manifest.digest, own.digest)
  await opened.close()
  await assert.rejects(openArchive(path, 's390x'), /has nothing for linux\/s390x/)
  for (const { name } of [own.entry, platforms.entry]) {
    const damaged = entries.map((entry) => (entry.name === name ? file(name, `${entry.bytes} `) : entry))
    const bad = archive(file('index.json', JSON.stringify(index)), ...damaged)
    await assert.rejects(openArchive(bad, 'amd64'), /is not what its name says: the file is damaged/)
  }
})

test('what is no archive, is cut off, compressed or lacks a part is told so', async () => {
  const rejects = (bytes: Uint8Array, message: RegExp) => {
    const path = join(temporary, 'bad.tar')
    writeFileSync(path, bytes)
    return assert.rejects(openArchive(path, 'amd64'), message)
  }
  await rejects(Buffer.alloc(2000, 'x'), /it is no tar archive/)
  await rejects(Buffer.from([0x1f, 0x8b, 8, 0]), /it is compressed/)
  const manifest = JSON.stringify([{ Config: 'c.json', RepoTags: null, Layers: ['gone.tar'] }])
  await rejects(writeTar([file('manifest.json', manifest), file('c.json', '{}')]), /it lacks gone.tar/)
  await rejects(writeTar([file('x', 'y'.repeat(3000))]).subarray(0, 1500), /the archive ends early/)
  await rejects(writeTar([file('x', '')]), /it holds no image/)
  await rejects(writeTar([file('manifest.json', '{')]), /manifest.json is no JSON/)
  await assert.rejects(openArchive(temporary, 'amd64'))
})

/** Where it can be run at all. */
const runs = process.platform === 'linux' && (process.arch === 'x64' || process.arch === 'arm64') ? test : () => {}

runs('the program of sandboxes waits, takes up children, and ends when asked', async () => {
  const program = join(temporary, 'pause')
  writeFileSync(program, pauseProgram(process.arch === 'x64' ? 'amd64' : 'arm64'), { mode: 0o755 })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const child = spawn(program)
    await once(child, 'spawn')
    // Before it has begun, a signal would simply end it.
    while (!/^\d+ \(pause\) S /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8'))) await setImmediate()
    child.kill('SIGCHLD')
    child.kill(signal)
    assert.deepEqual(await once(child, 'exit'), [0, null])
  }
})

test('the image of sandboxes is one layer of one program, for either architecture', () => {
  for (const architecture of ['amd64', 'arm64'] as const) {
    const image = pauseImage('registry.example.com/pause:1', architecture)
    const { config, layers } = JSON.parse(image.manifestBytes.toString())
    assert.deepEqual(
      [config.digest, ...layers.map(({ digest }: { digest: string }) => digest)],
      image.blobs.map(({ digest }) => digest),
    )
    assert.equal(pauseProgram(architecture).readUInt16LE(18), architecture === 'amd64' ? 62 : 183)
  }
})
