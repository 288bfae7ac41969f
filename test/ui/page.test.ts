/** The page in a real Chromium, on a cluster: what it shows, what it lets a person do by keyboard alone, and what it never asks for. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, describe, test } from 'node:test'
import type { KubeObject } from '../../src/api/object.ts'
import { chromiumBinary, lacks } from '../machine.ts'
import { type Browser, startBrowser } from './browser.ts'
import { type Stage, startStage } from './stage.ts'

const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const PODS = { group: '', version: 'v1', resource: 'pods' }
/** Of a row, without the mark of what is open. */
const TEXT = "one.textContent.replace(/^[▾▸\\s]+/, '').trim()"
const HOSTILE = '<img src=http://evil.test/x onerror=alert(1)>\u202eevil'

describe('the page', { skip: lacks.chromium() }, () => {
  let stage: Stage
  let browser: Browser

  before(async () => {
    stage = await startStage()
    await fill(stage)
    browser = await startBrowser(chromiumBinary() ?? 'chromium')
    await browser.open(stage.ui.newLink())
    await browser.until("document.querySelector('.live')?.textContent === 'live'")
  })
  after(async () => {
    await browser?.close()
    await stage?.stop()
  })

  const side = (text: string) => `document.querySelector('.side').innerText.includes(${JSON.stringify(text)})`
  const row = (text: string) =>
    `[...document.querySelectorAll('[role=treeitem]')].find((one) => ${TEXT}.startsWith(${JSON.stringify(text)}))`
  const said = (text: string) =>
    `document.querySelector('[role=status][aria-live]').innerText.includes(${JSON.stringify(text)})`

  /** What axe finds in the page as it stands, in both schemes. */
  async function withoutBarriers(): Promise<void> {
    const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    await browser.run(`if (window.axe === undefined) { ${axe} };0`)
    for (const scheme of ['light', 'dark']) {
      await browser.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
      await browser.until(`document.documentElement.dataset.theme === '${scheme}'`)
      const found = await browser.run<object[]>(
        'axe.run(document, {}).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => html.slice(0, 120) + failureSummary)]))',
      )
      assert.deepEqual(found, [], scheme)
    }
  }

  test('what owns what is a picture and a tree, and both have the same objects', async () => {
    await browser.until(row('Pod web-'))
    const levels = await browser.run<number[]>(
      `[${row('Deployment web')}, ${row('ReplicaSet web-')}, ${row('Pod web-')}].map((one) => Number(one.ariaLevel))`,
    )
    assert.deepEqual(levels, [2, 3, 4])
    const drawn = await browser.run<number>(`(() => {
      const canvas = document.getElementById('graph')
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      const colours = new Set()
      for (let at = 0; at < data.length; at += 4) colours.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2])
      return colours.size
    })()`)
    assert.ok(drawn > 20, `${drawn} colours are on the canvas`)
    assert.match(await browser.run("document.getElementById('graph').ariaLabel"), /Owner graph of \d+ objects/)
  })

  test('names and messages of others are text: no markup of them is in the page, no mark turns it around', async () => {
    await browser.until(row('Pod hostile'))
    const label = await browser.run<string>(`${row('Pod hostile')}.textContent`)
    assert.ok(label.includes('<img src=http://evil.test/x onerror=alert(1)>\\u202eevil'), label)
    assert.equal(await browser.run("document.querySelectorAll('#app img').length"), 0)
    assert.equal(await browser.run("document.body.innerText.includes('\\u202e')"), false)
  })

  test('a name and a finalizer as long as they may be leave nothing outside of what can be seen', async () => {
    const name = `a-name-${'of-253-letters'.repeat(18)}`.slice(0, 253)
    const finalizers = [`${'a-label-of-a-domain.'.repeat(12)}example.com/${'x'.repeat(63)}`.slice(-253)]
    const maps = stage.cluster.client.resource(CONFIG_MAPS).namespace('default')
    const metadata = { name, namespace: 'default', finalizers }
    await maps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata } as KubeObject)
    await maps.delete(name)
    await browser.until(`${row('ConfigMap a-name-')}?.innerText.includes('held by')`)
    await browser.click('[role=treeitem]', 'a-name-')
    await browser.until(side('nobody is there'))
    const hidden = await browser.run<string[]>(`{
      const outside = (element, of) => element.getBoundingClientRect().right > of.getBoundingClientRect().right + 1
      const panel = document.querySelector('.side')
      const found = [...panel.querySelectorAll('*')].filter((one) => outside(one, panel)).map((one) => one.outerHTML.slice(0, 80))
      if (panel.scrollWidth > panel.clientWidth) found.push('the panel is wider than what can be seen of it')
      const words = ${row('ConfigMap a-name-')}.querySelector('.words')
      if (words.clientWidth < 60 || outside(words, document.getElementById('outline'))) found.push('the words of the tree')
      const end = ${row('ConfigMap a-name-')}.querySelector('.label').lastElementChild
      if (end.textContent.trim() !== '${name.slice(-6)}' || end.scrollWidth > end.clientWidth + 1 || outside(end, end.parentElement))
        found.push('the end of the name')
      found
    }`)
    assert.deepEqual(hidden, [])
    await maps.patch(name, 'merge', { metadata: { finalizers: null } } as never)
    await browser.until(`!(${row('ConfigMap a-name-')})`)
  })

  test('a namespace that was made since is among those to choose', async () => {
    await stage.cluster.client
      .resource({ group: '', version: 'v1', resource: 'namespaces' })
      .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'made-since' } } as KubeObject)
    await browser.run("document.querySelector('header select').focus()")
    await browser.until("[...document.querySelectorAll('header option')].some(({ value }) => value === 'made-since')")
  })

  test('by keyboard alone: choose an object that hangs, read why, and go along the chain', async () => {
    await browser.run("document.querySelector('input[type=search]').focus()")
    for (const letter of 'stuck') await browser.press(letter)
    await browser.until("document.querySelectorAll('[role=treeitem]').length === 2")
    await browser.run("document.getElementById('outline').focus()")
    await browser.press('End')
    await browser.press('Enter')
    await browser.until(`${side('nobody is there')} && ${side('example.com/cleanup')}`)
    assert.equal(await browser.run('document.activeElement.id'), 'side')
    assert.equal(await browser.run(`${row('ConfigMap stuck')}.ariaSelected`), 'true')
    // Buttons that go with what was told before leave the keys where they stood.
    const focused = 'document.activeElement.innerText'
    for (let at = 0; at < 9 && (await browser.run(focused)) !== 'Plan a delete'; at++) await browser.press('Tab')
    await browser.press('Enter')
    await browser.until(side('nothing has been done'))
    assert.equal(await browser.run('document.activeElement.id'), 'side')
    await browser.press('Tab')
    await browser.press('Enter')
    await browser.until(side('nobody is there'))
    assert.equal(await browser.run('document.activeElement.id'), 'side')
    await browser.run("document.querySelector('input[type=search]').focus()")
    await browser.press('Escape')
    await browser.until(row('Deployment web'))
  })

  test('what is found is brought into the middle of the picture, and all of it comes back', async () => {
    const middle =
      "(({ x, y, width, height }) => [x + width / 2, y + height / 2])(document.getElementById('graph').getBoundingClientRect())"
    // Nothing is on its way when it is clicked at.
    const motion = (value: string) =>
      browser.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-reduced-motion', value }] })
    await motion('reduce')
    await browser.run("document.querySelector('input[type=search]').focus()")
    for (const letter of 'hostile') await browser.press(letter)
    await browser.until("document.querySelectorAll('[role=treeitem]').length === 2")
    const [x = 0, y = 0] = await browser.run<number[]>(middle)
    await browser.clickAt(x, y)
    await browser.until(side('hostile'))
    await motion('')
    await browser.run("document.querySelector('input[type=search]').focus()")
    await browser.press('Escape')
    await browser.until(row('Deployment web'))
  })

  test('arrow keys on the picture go from owner to dependent and back', async () => {
    await browser.click('[role=treeitem]', 'Deployment web')
    await browser.run("document.getElementById('graph').focus()")
    await browser.press('ArrowRight')
    await browser.until(side('ReplicaSet in default'))
    await browser.press('ArrowRight')
    await browser.until(side('Pod in default'))
    await browser.press('ArrowLeft')
    await browser.until(side('ReplicaSet in default'))
  })

  test('nothing of it is out of reach of assistive technology, in light and in dark', async () => {
    await withoutBarriers()
  })

  test('a delete is a plan first: what goes is numbered, and nothing is done until it is said twice', async () => {
    await browser.click('[role=treeitem]', 'Deployment web')
    await browser.click('.side button', 'Plan a delete')
    await browser.until(side('4 objects go.'))
    await browser.until(row('Deployment web 1. goes 1st'))
    await withoutBarriers()
    const slider = "document.getElementById('plan-slider')"
    await browser.run(`${slider}.focus()`)
    for (const [key, text] of [
      ['ArrowRight', '1 of 4 have gone'],
      ['End', '4 of 4 have gone'],
      ['Home', '0 of 4 have gone'],
    ] as const) {
      await browser.press(key)
      await browser.until(`${slider}.getAttribute('aria-valuetext') === '${text}'`)
    }
    await browser.click('.side button', 'Delete…')
    await browser.until("document.querySelector('dialog').open")
    assert.equal(await browser.run('document.activeElement.textContent'), 'Cancel')
    await withoutBarriers()
    await browser.press('Enter')
    await browser.until("!document.querySelector('dialog').open")
    await stage.cluster.client
      .resource({ group: 'apps', version: 'v1', resource: 'deployments' })
      .namespace('default')
      .get('web')
    assert.deepEqual(
      stage.asked.filter((line) => line.startsWith('DELETE')),
      [],
    )
    await browser.click('.side button', 'Delete…')
    await browser.click('dialog .danger')
    await browser.until(`!(${row('Deployment web')}) && !(${row('Pod web-')})`)
    assert.equal(stage.asked.filter((line) => line.startsWith('DELETE')).length, 1)
  })

  test('what goes is read out, and the ending can be replayed by keys', async () => {
    const maps = stage.cluster.client.resource(CONFIG_MAPS).namespace('default')
    await maps.delete('passing')
    await browser.until(said('ConfigMap passing is gone'))
    await browser.click('header button', 'Timelines')
    await browser.click('.side .link', 'Deployment web')
    await browser.until("document.querySelector('#replay-slider')")
    await withoutBarriers()
    await browser.run("document.getElementById('replay-slider').focus()")
    await browser.press('End')
    await browser.until(row('Deployment web gone'))
    await browser.press('Home')
    await browser.until(row('Deployment web there'))
    await browser.press('ArrowRight')
    await browser.until("document.querySelector('[aria-current=step]').innerText.includes('Deployment web: removed')")
    await browser.click('button.close')
  })

  test('what hangs elsewhere is listed, and its link leads there', async () => {
    const { client } = stage.cluster
    const spaces = client.resource({ group: '', version: 'v1', resource: 'namespaces' })
    await spaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'elsewhere' } })
    const metadata = { name: 'left', namespace: 'elsewhere', finalizers: ['example.com/cleanup'] }
    await client.resource(CONFIG_MAPS).create({ apiVersion: 'v1', kind: 'ConfigMap', metadata })
    await client.resource(CONFIG_MAPS).namespace('elsewhere').delete('left')
    await browser.click('header button', 'What hangs')
    await browser.click('.side .link', 'ConfigMap left')
    await browser.until(`${side('ConfigMap in elsewhere')} && ${side('nobody is there')}`)
    assert.equal(await browser.run("document.querySelector('header select').value"), 'elsewhere')
  })

  test('no request has left for anywhere but its server, and no policy was hurt', () => {
    assert.deepEqual(
      browser.requests.filter((url) => !url.startsWith(`${stage.base}/`)),
      [],
    )
    assert.deepEqual(browser.complaints, [])
  })

  test('whose rights do not reach is told so in the plan, and is offered no delete', async () => {
    await browser.run(`{
      const real = window.fetch
      window.fetch = async (path, init) => {
        const answer = await real(path, init)
        if (path !== 'api/plan') return answer
        const forbidden = [{ verb: 'delete', group: '', resource: 'configmaps', namespace: 'default', names: ['kube-root-ca.crt'] }]
        return Response.json({ ...(await answer.json()), forbidden })
      }
    }`)
    await browser.click('[role=treeitem]', 'ConfigMap kube-root-ca.crt')
    await browser.click('.side button', 'Plan a delete')
    await browser.until(
      `${side('1 object goes, but you may not do it.')} && ${side('delete configmaps kube-root-ca.crt')}`,
    )
    assert.equal(await browser.run("document.querySelector('.side .plan > .actions')"), null)
    await browser.click('button.close')
  })

  test('what cannot be told of an object is said, with its cause', async () => {
    // As if the chosen object had gone a moment ago. The browser notes the 404 as a complaint of its own, so this test is the last.
    await browser.run(`{
      const real = window.fetch
      window.fetch = (path, init) =>
        real(path.startsWith('api/object?') ? 'api/object?resource=configmaps&version=v1&namespace=default&name=passed' : path, init)
    }`)
    await browser.click('[role=treeitem]', 'ConfigMap kube-root-ca.crt')
    await browser.until(side('are not told: configmaps "passed" not found'))
  })
})

async function fill({ cluster }: Stage): Promise<void> {
  const make = (gvr: typeof PODS, object: object) => cluster.client.resource(gvr).create(object as KubeObject)
  const configMap = (name: string, metadata: object = {}) =>
    make(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', ...metadata } })
  await configMap('passing')
  await configMap('stuck', { finalizers: ['example.com/cleanup'] })
  await cluster.client.resource(CONFIG_MAPS).namespace('default').delete('stuck')
  const containers = [{ name: 'c', image: 'i' }]
  await make(
    { group: 'apps', version: 'v1', resource: 'deployments' },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers } },
      },
    },
  )
  const metadata = { name: 'hostile', namespace: 'default', finalizers: ['example.com/x'] }
  await make(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, schedulerName: 'none' } })
  const pods = cluster.client.resource(PODS).namespace('default')
  await pods.patch('hostile', 'merge', { status: { reason: HOSTILE } }, { subresource: 'status' })
}
