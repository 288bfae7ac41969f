/**
 * Makes the pictures of docs/ui.md anew: a cluster of its own, the page in Chromium, four moments of it. By hand, and looked at by eye:
 *
 *   node test/ui/pictures.ts docs/pictures
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KubeObject } from '../../src/api/object.ts'
import { chromiumBinary } from '../machine.ts'
import { startBrowser } from './browser.ts'
import { startStage } from './stage.ts'

const [folder = 'docs/pictures'] = process.argv.slice(2)
const stage = await startStage()
const browser = await startBrowser(chromiumBinary() ?? 'chromium', { width: 1280, height: 720 })
const { client } = stage.cluster
const core = (resource: string) => ({ group: '', version: 'v1', resource })

async function deployment(namespace: string, name: string, replicas: number): Promise<void> {
  const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }
  const spec = { replicas, selector: { matchLabels: { app: name } }, template }
  const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace }, spec }
  await client.resource({ group: 'apps', version: 'v1', resource: 'deployments' }).create(object as KubeObject)
}

async function configMap(namespace: string, name: string, metadata: object = {}): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...metadata } }
  await client.resource(core('configmaps')).create(object as KubeObject)
}

async function fill(): Promise<void> {
  for (const name of ['shop', 'old-shop'])
    await client.resource(core('namespaces')).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await deployment('shop', 'web', 4)
  await deployment('shop', 'api', 12)
  await configMap('shop', 'settings')
  await deployment('old-shop', 'web', 2)
  await configMap('old-shop', 'bucket', { finalizers: ['storage.example.com/bucket'] })
  await configMap('old-shop', 'settings')
}

const row = (text: string) =>
  `[...document.querySelectorAll('[role=treeitem]')].find((one) => one.textContent.includes(${JSON.stringify(text)}))`

async function look(namespace: string, shows: string, scheme: 'light' | 'dark'): Promise<void> {
  await browser.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
  await browser.until(`[...document.querySelectorAll('header option')].some(({ value }) => value === '${namespace}')`)
  await browser.run(`{
    const choice = document.querySelector('header select')
    choice.value = '${namespace}'
    choice.dispatchEvent(new Event('change', { bubbles: true }))
  }`)
  await browser.until(row(shows))
}

async function take(name: string): Promise<void> {
  // What moves has come to its place.
  await browser.run('new Promise((resolve) => setTimeout(resolve, 800))')
  const picture = await browser.screenshot()
  writeFileSync(join(folder, `ui-${name}.png`), picture)
  console.log(`ui-${name}.png: ${picture.length} bytes`)
}

try {
  await fill()
  await browser.open(stage.ui.newLink())
  await look('shop', 'Running 1/1', 'light')
  await browser.click('[role=treeitem]', 'ReplicaSet api')
  await take('graph')

  await browser.click('.side button', 'Plan a delete')
  await browser.until("document.querySelector('.summary')")
  await browser.run(`{
    const slider = document.getElementById('plan-slider')
    slider.value = 5
    slider.dispatchEvent(new Event('input', { bubbles: true }))
  }`)
  await browser.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'dark' }] })
  await take('plan')
  await browser.click('button.close')

  await client.resource(core('namespaces')).delete('old-shop')
  await look('old-shop', 'storage.example.com/bucket', 'light')
  await browser.until(`!(${row('Deployment')})`)
  await browser.click('[role=treeitem]', 'Namespace old-shop')
  await browser.until("document.querySelector('.chain .verdict')")
  await take('why')

  await browser.click('header button', 'Timelines')
  await browser.click('.side .link', 'Namespace old-shop')
  await browser.until("document.querySelector('#replay-slider')")
  await browser.run(`{
    const slider = document.getElementById('replay-slider')
    slider.value = Math.floor(slider.max * 0.6)
    slider.dispatchEvent(new Event('input', { bubbles: true }))
  }`)
  await take('timeline')
} finally {
  await browser.close()
  await stage.stop()
}
