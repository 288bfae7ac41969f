/** Pods that answer, Services that lead to them, and how they are asked. */
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Said } from './stage.ts'

export const IMAGE = 'example.test/busybox:1'
const BIN = 'busybox mkdir -p /bin /tmp; busybox --install -s /bin'
export const sh = (script: string) => ['/bin/busybox', 'sh', '-c', `${BIN}; ${script}`]
/** Answers with its pod's name and who asks. */
export const WHO = String.raw`mkdir -p /www/cgi-bin; printf '#!/bin/sh\necho; echo $(hostname) $REMOTE_ADDR\n' > /www/cgi-bin/who; chmod +x /www/cgi-bin/who; httpd -p 8080 -h /www`
/** Programs of this machine, with what they are linked to. */
const PROGRAMS = ['/usr', dirname(realpathSync(process.execPath)), join(process.cwd(), 'interop/bin')]
export const LINKED = 'ln -s usr/lib /lib; ln -s usr/lib64 /lib64'
export const NODE = '/programs/1/node'
/** Answers each packet with the pod's name. */
export const ECHO = `${LINKED}; exec ${NODE} -e "
  const socket = require('node:dgram').createSocket('udp4')
  socket.on('message', (_, { port, address }) => socket.send(require('node:os').hostname(), port, address))
  socket.bind(5353)"`
/** Always from the same port, so that it is one flow. */
export const ASK = `
  const socket = require('node:dgram').createSocket('udp4')
  socket.on('message', (said) => { console.log(String(said)); process.exit() })
  socket.bind(4444, () => socket.send('hi', 53, '10.96.0.83'))
  setTimeout(() => process.exit(), 1000)`

export function pod(name: string, app: string, script: string, spec: object = {}, container: object = {}) {
  const readinessProbe = { tcpSocket: { port: 8080 }, periodSeconds: 1 }
  const one = { name: 'c', image: IMAGE, imagePullPolicy: 'Never', readinessProbe, command: sh(script), ...container }
  const metadata = { name, labels: { app } }
  const whole = { terminationGracePeriodSeconds: 1, containers: [one], ...spec }
  return { kind: 'Pod', apiVersion: 'v1', metadata, spec: whole }
}

/** The machine's own programs in /programs. */
export function podWithPrograms(name: string, app: string, script: string, container: object = {}, spec: object = {}) {
  const volumes = PROGRAMS.map((path, i) => ({ name: `programs-${i}`, hostPath: { path } }))
  const volumeMounts = volumes.map((volume, i) => ({
    name: volume.name,
    mountPath: i === 0 ? '/usr' : `/programs/${i}`,
    readOnly: true,
  }))
  return pod(name, app, script, { volumes, ...spec }, { volumeMounts, ...container })
}

export function service(name: string, clusterIP: string, spec: object = {}) {
  const ports = [{ port: 80, targetPort: 8080 }]
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name },
    spec: { clusterIP, selector: { app: 'web' }, ports, ...spec },
  }
}

export const wget = (at: string, seconds = 5): readonly [string, ...string[]] => [
  ...(['busybox', 'timeout', String(seconds)] as const),
  ...['busybox', 'wget', '-q', '-O', '-', `http://${at}/cgi-bin/who`],
]

/** Which pod answered, and whom it saw. */
export function who({ stdout }: Pick<Said, 'stdout'>): { readonly name: string; readonly source: string } | undefined {
  const [, name, source = ''] = /^(\S+) \[?(?:::ffff:)?([\da-f.:]+)\]?\n$/.exec(stdout) ?? []
  return name === undefined ? undefined : { name, source }
}
