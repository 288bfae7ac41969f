/**
 * A registry of container images that only gives (OCI distribution-spec), for tests that have an image pulled which is there already: what
 * images.ts has made, under the names that the tests ask for. containerd says in `ns` which registry it takes this one for.
 *
 *   node registry.ts DIRECTORY HOST PORT     prints a line when it listens
 */
import { createHash } from 'node:crypto'
import { createReadStream, readFileSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Registry {
  /** By `registry/repository:tag`, and by digest. */
  readonly manifests: ReadonlyMap<string, Buffer>
  /** Files, by digest. */
  readonly blobs: ReadonlyMap<string, string>
}

interface Saved {
  readonly Config: string
  readonly RepoTags: readonly string[]
  readonly Layers: readonly string[]
}

const OCI = 'application/vnd.oci.image'

const digestOf = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** Reads a directory with the files of an archive of `docker save`, whose layers are named after their digests. */
export function readRegistry(directory: string): Registry {
  const manifests = new Map<string, Buffer>()
  const blobs = new Map<string, string>()
  const saved: readonly Saved[] = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'))
  const blob = (kind: string, digest: string, file: string) => {
    blobs.set(digest, file)
    return { mediaType: `${OCI}.${kind}`, digest, size: statSync(file).size }
  }
  for (const { Config, RepoTags, Layers } of saved) {
    const file = join(directory, Config)
    const manifest = {
      schemaVersion: 2,
      mediaType: `${OCI}.manifest.v1+json`,
      config: blob('config.v1+json', digestOf(readFileSync(file)), file),
      layers: Layers.map((layer) =>
        blob('layer.v1.tar', `sha256:${layer.replace(/\.tar$/, '')}`, join(directory, layer)),
      ),
    }
    const bytes = Buffer.from(JSON.stringify(manifest))
    for (const name of [...RepoTags, digestOf(bytes)]) manifests.set(name, bytes)
  }
  return { manifests, blobs }
}

const PATH = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/

export function answer({ manifests, blobs }: Registry, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://registry')
  const withBody = request.method === 'GET'
  if (url.pathname === '/v2/') {
    response.end()
    return
  }
  const [, repository = '', kind, reference = ''] = PATH.exec(url.pathname) ?? []
  if (kind === 'manifests') {
    const name = `${url.searchParams.get('ns') ?? ''}/${repository}:${reference}`
    const manifest = manifests.get(reference) ?? manifests.get(name)
    if (manifest !== undefined) {
      const headers = { 'content-type': `${OCI}.manifest.v1+json`, 'docker-content-digest': digestOf(manifest) }
      response.writeHead(200, { ...headers, 'content-length': manifest.length })
      response.end(withBody ? manifest : undefined)
      return
    }
  } else if (kind === 'blobs') {
    const file = blobs.get(reference)
    if (file !== undefined) {
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': statSync(file).size })
      if (withBody) createReadStream(file).pipe(response)
      else response.end()
      return
    }
  }
  response.writeHead(404, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ errors: [{ code: 'MANIFEST_UNKNOWN', message: 'no such image here' }] }))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [directory = '', host = '', port = ''] = process.argv.slice(2)
  const registry = readRegistry(directory)
  createServer((request, response) => answer(registry, request, response)).listen(Number(port), host, () =>
    console.log(`images at http://${host}:${port}`),
  )
}
