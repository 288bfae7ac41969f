import type { Pages } from './etcd-port.ts'

/** The etcd that these executables stand for. */
export const ETCD_VERSION = '3.7.3'

/** What its port answers to GET, as etcd does. */
export const ETCD_PAGES: Pages = {
  '/health': ['text/plain; charset=utf-8', '{"health":"true","reason":""}'],
  '/readyz': ['text/plain; charset=utf-8', 'ok\n'],
  '/livez': ['text/plain; charset=utf-8', 'ok\n'],
  '/version': [
    'application/json',
    JSON.stringify({ etcdserver: ETCD_VERSION, etcdcluster: '3.7.0', storage: '3.7.0' }),
  ],
}
