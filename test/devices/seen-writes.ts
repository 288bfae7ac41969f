/** What components write, seen on its way to the API server. */
import type { Fields, KubeObject } from '../../src/api/object.ts'
import type { Handler } from '../../src/api/request.ts'
import { StatusError } from '../../src/api/status.ts'
import { type SeenWrite, WRITERS } from './recording.ts'

/** `seen` is told of a component's write when it is answered, in the order in which they were begun. */
export function seeingHandler(handler: Handler, seen: (write: SeenWrite) => void): Handler {
  return async (request) => {
    const writer = WRITERS[request.user?.name ?? '']
    if (writer === undefined || request.method === 'GET') return handler(request)
    const write = { ...seenWrite(writer, request), code: 0 }
    seen(write)
    try {
      const response = await handler(request)
      write.code = response.status
      return response
    } catch (error) {
      write.code = error instanceof StatusError ? error.code : 500
      throw error
    }
  }
}

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

function seenWrite(
  writer: string,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body?: unknown },
): Omit<SeenWrite, 'code'> {
  const parts = path.split('/').filter((part) => part !== '')
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3)
  const [resource = '', name = '', subresource = ''] = rest[0] === 'namespaces' ? rest.slice(2) : rest
  const object = (body as { readonly object?: KubeObject } | undefined)?.object ?? {}
  return { writer, verb: VERBS[method] ?? method, resource, subresource, name, body: object as Fields }
}
