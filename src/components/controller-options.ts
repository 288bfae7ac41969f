/** What the controllers are told by kube-controller-manager's flags and the files that they name, refused in its words. */
import { createPrivateKey } from 'node:crypto'
import { parseIPRange } from '../api/objects/ip-range.ts'
import { type JwtKey, jwtKey, signJwt } from '../apiserver/auth/jwt.ts'
import { certificatesOf } from '../apiserver/auth/x509.ts'
import { messageOf } from '../base/errors.ts'
import { goDurationTextMs } from '../base/go-duration.ts'
import type { Runtime } from '../base/runtime.ts'
import { issueForRequest, type KeyAndCertificate } from '../cluster/certificate.ts'
import { StartError } from '../cluster/errors.ts'
import { readIssuer } from '../cluster/issuer.ts'
import { keyPair } from '../cluster/pem-files.ts'
import { readText } from '../cluster/read-file.ts'
import type { ControllerSettings } from '../controllers/controller.ts'
import type { ControllerManagerOptions } from '../controllers/manager.ts'
import type { ClusterRange } from '../controllers/node-ipam/node-ipam-controller.ts'
import { nodeRanges } from '../controllers/node-ipam/node-ranges.ts'
import { autoscalerOptionsOf } from './autoscaler-options.ts'
import { chosenControllers, syncsOf } from './chosen-controllers.ts'
import { FlagError, type ReadFlags } from './flags.ts'

export type ControllerOptions = Omit<ControllerManagerOptions, 'runtime' | 'clientFor' | 'signal'>

/** @throws FlagError, Error in one line */
export function controllerOptions(flags: ReadFlags, runtime: Runtime): ControllerOptions {
  const signingKey = signingKeyOf(flags.text('service-account-private-key-file'))
  const rootCa = rootCaOf(flags.text('root-ca-file'))
  const cleanUpMs = flags.ms('legacy-service-account-token-clean-up-period')
  if (cleanUpMs <= 0)
    throw new FlagError(
      `failed to init the legacy service account token cleaner: invalid CleanUpPeriod: ${goDurationTextMs(cleanUpMs)}`,
    )
  const authority = authorityOf(flags.text('cluster-signing-cert-file'), flags.text('cluster-signing-key-file'))
  const signingSeconds = flags.ms('cluster-signing-duration') / 1000
  if (signingSeconds <= 0) throw new FlagError('--cluster-signing-duration must be greater than 0')
  return {
    controllers: chosenControllers(flags.list('controllers'), flags.bool('enable-garbage-collector')),
    concurrentSyncs: syncsOf(flags),
    settings: {
      certificateSigning: { longestSeconds: signingSeconds },
      nodeLifecycle: {
        gracePeriodMs: flags.ms('node-monitor-grace-period'),
        monitorPeriodMs: flags.ms('node-monitor-period'),
        startupGracePeriodMs: flags.ms('node-startup-grace-period'),
      },
      ...nodeIpamOf(flags),
      attachDetach: { isForcedDetachOff: flags.bool('disable-force-detach-on-timeout') },
      legacyTokenCleanUpMs: cleanUpMs,
      podAutoscaler: autoscalerOptionsOf(flags),
      podGarbageCollector: { terminatedPodThreshold: flags.number('terminated-pod-gc-threshold') ?? 0 },
    },
    ...(rootCa === undefined ? {} : { rootCa }),
    ...(signingKey === undefined ? {} : { signToken: (claims) => signJwt(signingKey, claims) }),
    ...(authority === undefined ? {} : { signCertificate: (request) => issueForRequest(runtime, request, authority) }),
  }
}

/** @throws StartError */
function signingKeyOf(file: string | undefined): JwtKey | undefined {
  if (file === undefined) return undefined
  const about = 'error reading key for service account token controller: '
  const text = readText(file, (why) => `${about}${why}`)
  try {
    createPrivateKey(text)
  } catch (cause) {
    throw new StartError(
      `${about}error reading private key file ${file}: data does not contain a valid RSA or ECDSA private key`,
      { cause },
    )
  }
  try {
    return jwtKey(text)
  } catch (cause) {
    throw new StartError(`${about}${file}: ${messageOf(cause)}`, { cause })
  }
}

/** PEM. @throws StartError */
function rootCaOf(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  const about = `error parsing root-ca-file at ${file}: `
  const text = readText(file, (why) => `${about}${why}`)
  try {
    certificatesOf(text)
    return text
  } catch (cause) {
    throw new StartError(`${about}data does not contain any valid RSA or ECDSA certificates`, { cause })
  }
}

/** Of one without the other nothing is made. @throws StartError */
function authorityOf(cert: string | undefined, key: string | undefined): KeyAndCertificate | undefined {
  if (cert === undefined || key === undefined) return undefined
  const about = `failed to init kubernetes.io/kubelet-serving certificate controller: error reading CA cert file ${JSON.stringify(cert)}: `
  const pair = keyPair(cert, key, { prefix: about })
  try {
    readIssuer(pair)
    return pair
  } catch (cause) {
    throw new StartError(`${about}${messageOf(cause)}`, { cause })
  }
}

/** @throws FlagError */
function nodeIpamOf(flags: ReadFlags): Pick<ControllerSettings, 'nodeIpam'> {
  if (!flags.bool('allocate-node-cidrs')) return {}
  const cidrs = (flags.text('cluster-cidr') ?? '').split(',')
  const families = cidrs.map((cidr, i) => {
    const range = parseIPRange(cidr)
    if (range === undefined) throw new FlagError(`invalid CIDR[${i}]: <nil> (invalid CIDR address: ${cidr})`)
    return range.family
  })
  if (cidrs.length > 2) throw new FlagError(`length of clusterCIDRs is:${cidrs.length} more than max allowed of 2`)
  if (cidrs.length === 2 && families[0] === families[1])
    throw new FlagError(
      'len of ClusterCIDRs==2 and they are not configured as dual stack (at least one from each IPFamily',
    )
  const oneSize = flags.number('node-cidr-mask-size')
  if (oneSize && cidrs.length > 1)
    throw new FlagError(
      '--node-cidr-mask-size is of one family: say --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6',
    )
  const clusterRanges = cidrs.map((cidr, i): ClusterRange => {
    const [flag, usual] = families[i] === 'IPv6' ? (['ipv6', 64] as const) : (['ipv4', 24] as const)
    const nodeMaskSize = flags.number(`node-cidr-mask-size-${flag}`) || oneSize || usual
    if (nodeMaskSize < Number(cidr.split('/')[1]))
      throw new FlagError(
        'Controller: Invalid --cluster-cidr, mask size of cluster CIDR must be less than or equal to --node-cidr-mask-size configured for CIDR family',
      )
    try {
      nodeRanges(cidr, nodeMaskSize)
    } catch (cause) {
      throw new FlagError(`--cluster-cidr: ${messageOf(cause)}`)
    }
    return { cidr, nodeMaskSize }
  })
  return { nodeIpam: { clusterRanges, reserved: flags.text('service-cluster-ip-range')?.split(',') ?? [] } }
}
