import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { Plugin } from 'vite'
import { type Guide, imagesOf, readGuides, renderGuide, renderMenu, wordsOf } from './guides.ts'

/** Makes a page of each guide from the built page of the reference, whose frame it has. */
export const guidePages: Plugin = {
  name: 'guide-pages',
  apply: 'build',
  async writeBundle({ dir = '' }) {
    const template = await readFile(`${dir}/docs.html`, 'utf8')
    const guides = readGuides()
    const write = async (path: string, text: string) => {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text)
    }
    await rm(`${dir}/guides`, { recursive: true, force: true })
    for (const guide of guides) {
      await write(`${dir}/guides/${guide.name}.html`, fill(template, guides, guide))
      await write(`${dir}/guides/${guide.name}.md`, guide.markdown)
    }
    await write(`${dir}/docs.html`, fill(template, guides))
    await write(`${dir}/guides/words.json`, JSON.stringify(guides.map((guide) => ({ name: guide.name, title: guide.title, words: wordsOf(guide) }))))
    await mkdir(`${dir}/guides/images`, { recursive: true })
    for (const image of imagesOf(guides)) await copyFile(image, `${dir}/guides/images/${basename(image)}`)
  },
}

function fill(template: string, guides: readonly Guide[], guide?: Guide): string {
  const content =
    guide === undefined
      ? '<noscript>The reference needs JavaScript. <a href="/openapi.yaml">openapi.yaml</a> does not.</noscript>'
      : `<article class="prose">${renderGuide(guide, guides)}</article>`
  return (
    template
      // Otherwise dark pages would be shown in light colours first.
      .replace('<script type="module"', '<script type="module" blocking="render"')
      .replace('<title>API reference', () => `<title>${guide === undefined ? 'API reference' : guide.title.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}`)
      .replace('<body class="docs"', `<body class="docs" data-page="${guide === undefined ? 'reference' : 'guide'}"`)
      // The menu of operations is made where the document is.
      .replace('<!--reference-->', guide === undefined ? '' : '<div class="docs-group"><ul><li><a href="/docs">API reference</a></li></ul></div>')
      .replace('<!--guides-->', () => renderMenu(guides, guide))
      .replace('<!--content-->', () => content)
  )
}
