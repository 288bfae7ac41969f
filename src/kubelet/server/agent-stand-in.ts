/**
 * An agent beside a kubelet, for tests: calls a method at one of the kubelet's sockets. As a program (`node agent-stand-in.ts SOCKET PROTO SERVICE
 * METHOD [REQUEST]`) it prints the answer, or each message of a stream, as a line of JSON; `ERROR` and the code and words of what went wrong.
 */
import { fileURLToPath } from 'node:url'
import { credentials, type GrpcObject, loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { protoFile } from '../runtimes/cri/connection.ts'

export interface Agent {
  /** @throws Error as gRPC has it, with `code` and `details` */
  call<Answer>(method: string, request?: object): Promise<Answer>
  /** Until it is closed. */
  stream<Message>(method: string, take: (message: Message) => void, over: (error: unknown) => void): void
  close(): void
}

/** `service`: with its package. */
export function startAgent(socket: string, proto: string, service: string): Agent {
  const definition = loadSync(protoFile(proto), { keepCase: true, longs: Number, enums: String, defaults: true })
  const loaded = loadPackageDefinition(definition)
  const Client = service.split('.').reduce<unknown>((at, part) => (at as GrpcObject)[part], loaded)
  const client = new (Client as ServiceClientConstructor)(`unix://${socket}`, credentials.createInsecure(), {
    'grpc.default_authority': 'localhost',
  })
  const path = (method: string) => `/${service}/${method}`
  const { service: methods } = Client as ServiceClientConstructor
  const one = (method: string) => {
    const found = Object.values(methods).find((each) => each.path === path(method))
    if (found === undefined) throw new Error(`${service} has no method ${method}`)
    return found
  }
  return {
    call: <Answer>(method: string, request: object = {}) =>
      new Promise<Answer>((resolve, reject) => {
        const { requestSerialize, responseDeserialize } = one(method)
        client.makeUnaryRequest(path(method), requestSerialize, responseDeserialize, request, (error, answer) =>
          error === null ? resolve(answer as Answer) : reject(error),
        )
      }),
    stream<Message>(method: string, take: (message: Message) => void, over: (error: unknown) => void) {
      const { requestSerialize, responseDeserialize } = one(method)
      const call = client.makeServerStreamRequest(path(method), requestSerialize, responseDeserialize, {})
      let isOver = false
      const once = (error: unknown) => {
        if (!isOver) over(error)
        isOver = true
      }
      call.on('data', take)
      call.on('error', once)
      call.on('end', () => once(undefined))
    },
    close: () => client.close(),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [socket = '', proto = '', service = '', method = '', request = '{}'] = process.argv.slice(2)
  const agent = startAgent(socket, proto, service)
  const say = (message: unknown) => console.log(JSON.stringify(message))
  const failed = (error: unknown) => {
    const { code, details } = error as { readonly code: number; readonly details: string }
    console.log(`ERROR ${code} ${details}`)
    agent.close()
  }
  if (method.startsWith('Watch')) agent.stream(method, say, failed)
  else await agent.call(method, JSON.parse(request)).then(say, failed).finally(agent.close)
}
