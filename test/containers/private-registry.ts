/**
 * A registry of container images (OCI distribution-spec) that only gives, and what stands below `private/` to those alone that name
 * themselves: as `USER:USER-password`, of any user that begins with `team`. Each repository holds one image of Debian's static busybox.
 *
 *   node private-registry.ts PORT     listens on loopback, where containerd asks without TLS; prints a line then, and one for each pull
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import { writeTar } from '../../src/kubelet/images/tar.ts'

const OCI = 'application/vnd.oci.image'
const PATH = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/

const digestOf = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** Repositories differ by a label, so that each is an image of its own. */
function imageOf(repository: string, layer: Buffer): { readonly manifest: Buffer; readonly blobs: readonly Buffer[] } {
  const config = Buffer.from(
    JSON.stringify({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Env: ['PATH=/bin'], Cmd: ['/bin/busybox'], Labels: { repository } },
      rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
    }),
  )
  const part = (kind: string, bytes: Buffer) => ({
    mediaType: `${OCI}.${kind}`,
    digest: digestOf(bytes),
    size: bytes.length,
  })
  const manifest = {
    schemaVersion: 2,
    mediaType: `${OCI}.manifest.v1+json`,
    config: part('config.v1+json', config),
    layers: [part('layer.v1.tar', layer)],
  }
  return { manifest: Buffer.from(JSON.stringify(manifest)), blobs: [config, layer] }
}

function isKnown(authorization = ''): boolean {
  const [user = '', password] = Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':')
  return user.startsWith('team') && password === `${user}-password`
}

function answer(layer: Buffer, request: IncomingMessage, response: ServerResponse) {
  const { pathname } = new URL(request.url ?? '/', 'http://registry')
  const [, repository = '', kind, reference = ''] = PATH.exec(pathname) ?? []
  const send = (status: number, headers: Record<string, string | number>, body: Uint8Array) => {
    response.writeHead(status, { ...headers, 'content-length': body.length })
    response.end(request.method === 'GET' ? body : undefined)
  }
  const refuse = (status: number, code: string, headers = {}) =>
    send(
      status,
      { 'content-type': 'application/json', ...headers },
      Buffer.from(JSON.stringify({ errors: [{ code }] })),
    )
  if (repository.startsWith('private/') && !isKnown(request.headers.authorization))
    return refuse(401, 'UNAUTHORIZED', { 'www-authenticate': 'Basic realm="private"' })
  if (pathname === '/v2/') return send(200, {}, Buffer.of())
  const { manifest, blobs } = imageOf(repository, layer)
  if (kind === 'manifests') {
    console.log(`${request.method} ${repository}:${reference}`)
    return send(
      200,
      { 'content-type': `${OCI}.manifest.v1+json`, 'docker-content-digest': digestOf(manifest) },
      manifest,
    )
  }
  const blob = blobs.find((bytes) => digestOf(bytes) === reference)
  if (blob === undefined) return refuse(404, 'BLOB_UNKNOWN')
  send(200, { 'content-type': 'application/octet-stream' }, blob)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const port = Number(process.argv[2])
  const busybox = spawnSync('sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).stdout.trim()
  const layer = writeTar([{ name: 'bin/busybox', bytes: readFileSync(busybox), mode: 0o755 }])
  createServer((request, response) => answer(layer, request, response)).listen(port, '127.0.0.1', () =>
    console.log(`images at http://127.0.0.1:${port}`),
  )
}
