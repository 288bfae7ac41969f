/** What kube-apiserver's flags ask for, as options of a cluster. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { RECOMMENDED_ORDER, WITHOUT_PLUGIN } from '../apiserver/admission/plugin-order.ts'
import { messageOf } from '../base/errors.ts'
import { parseGoBool } from '../base/go-bool.ts'
import type { ClusterOptions } from '../cluster/cluster-options.ts'
import { apiVersionsHere, judgeRuntimeConfig } from '../cluster/runtime-config.ts'
import { SECURITY_OPTIONS, type SecurityOptions } from '../cluster/security.ts'
import { judgeEmulatedVersion, judgeFeatureGates } from './feature-gates.ts'
import { numberIn } from './flag-values.ts'
import { FlagError, type FlagValues, NUMBERS } from './flags.ts'
import { KUBE_APISERVER_FLAGS } from './kube-apiserver-flags.ts'

export interface KubeApiServerOptions {
  readonly cluster: ClusterOptions
  readonly certDir: string
  /** Lines on standard error for the user of the command. */
  readonly warnings: readonly string[]
}

const DEFAULT_CERT_DIR = '/var/run/kubernetes'

/** Where the objects are is for the caller to say, as is whether kube-apiserver takes the command line (kube-apiserver-rules.ts). @throws FlagError */
export function apiServerOptions(values: FlagValues): KubeApiServerOptions {
  const last = (name: string): string | undefined => values.get(name)?.at(-1)
  const all = (name: string): readonly string[] => values.get(name) ?? []
  const isFair = parseGoBool(last('enable-priority-and-fairness') ?? 'true')
  const warnings = [...judgeFeatureGates(all('feature-gates')), ...runtimeConfigWarnings(all('runtime-config'), isFair)]
  judgeEmulatedVersion(all('emulated-version'))
  const certDir = last('cert-dir') ?? DEFAULT_CERT_DIR
  const port = numberIn('int', last('secure-port') ?? '6443')
  return {
    certDir,
    warnings,
    cluster: {
      host: last('bind-address') || '0.0.0.0',
      port,
      components: ['apiserver'],
      allowPrivileged: parseGoBool(last('allow-privileged') ?? 'false') ?? false,
      ...admissionOf(values),
      // What a kube-apiserver has left on this machine in its default is not this cluster's: its clients would not trust it.
      security: { ...(values.has('cert-dir') ? servingPair(certDir) : {}), ...securityOf(values) },
      logLevel: Math.min(Math.max(Number(last('v') ?? 0), 0), 10),
    },
  }
}

function runtimeConfigWarnings(settings: readonly string[], isFair?: boolean): readonly string[] {
  try {
    return judgeRuntimeConfig(settings, apiVersionsHere(), isFair)
  } catch (error) {
    throw new FlagError(messageOf(error))
  }
}

/** Those of kube-apiserver's flags that any cluster of skiff takes, under the names of its options. */
function securityOf(values: FlagValues): SecurityOptions {
  const options: [string, unknown][] = []
  for (const option of SECURITY_OPTIONS) {
    const name = option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const found = values.get(name)
    const text = found?.at(-1)
    const type = KUBE_APISERVER_FLAGS.get(name)?.type
    if (type === 'strings' || type === 'pairs' || type === 'array' || type === 'certificate') {
      if (found !== undefined) options.push([option, found])
    } else if (type === 'ints') {
      if (found !== undefined) options.push([option, found.map((one) => numberIn('int32', one))])
    } else if (text !== undefined && (text !== '' || isWordWithDefault(name))) {
      // Given empty it is as if it were not given, but for one whose default it takes away.
      const isNumber = type !== undefined && NUMBERS.has(type)
      options.push([option, type === 'bool' ? parseGoBool(text) : isNumber ? numberIn(type, text) : text])
    }
  }
  return Object.fromEntries(options) as SecurityOptions
}

function isWordWithDefault(name: string): boolean {
  const flag = KUBE_APISERVER_FLAGS.get(name)
  return flag?.type === 'string' && (flag.usual ?? '') !== ''
}

/** As kube-apiserver finds its serving certificate when no flag names it. */
function servingPair(certDir: string): SecurityOptions {
  const [tlsCertFile, tlsPrivateKeyFile] = [join(certDir, 'apiserver.crt'), join(certDir, 'apiserver.key')]
  return existsSync(tlsCertFile) && existsSync(tlsPrivateKeyFile) ? { tlsCertFile, tlsPrivateKeyFile } : {}
}

/** Off by default in kube-apiserver, on in clusters of skiff. */
const OFF_THERE = ['NodeRestriction']
function admissionOf(values: FlagValues): Pick<ClusterOptions, 'enableAdmissionPlugins' | 'disableAdmissionPlugins'> {
  const named = (flag: string) => values.get(flag) ?? []
  const only = named('admission-control')
  const enabled = named('enable-admission-plugins')
  const disabled = named('disable-admission-plugins')
  const here = (plugins: readonly string[]) => plugins.filter((plugin) => !WITHOUT_PLUGIN.includes(plugin))
  // The older flag names all that there are to be.
  if (only.length > 0) {
    const others = RECOMMENDED_ORDER.filter((plugin) => !only.includes(plugin))
    return { enableAdmissionPlugins: here(only), disableAdmissionPlugins: here(others) }
  }
  return {
    enableAdmissionPlugins: here(enabled),
    disableAdmissionPlugins: [...here(disabled), ...OFF_THERE.filter((plugin) => !enabled.includes(plugin))],
  }
}
