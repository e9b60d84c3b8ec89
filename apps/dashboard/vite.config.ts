import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { guidePages } from './build/pages.ts'

/** A development server passes calls of the API on to this address. */
const API = process.env.MUSTER_URL ?? 'http://127.0.0.1:7300'

/** Writes compressed copies beside the files, so that the API sends them as they are. */
const compress: Plugin = {
  name: 'compress',
  apply: 'build',
  // After the pages of the guides have been written.
  writeBundle: { order: 'post', sequential: true, handler: ({ dir = '' }) => compressAll(dir) },
}

async function compressAll(dir: string): Promise<void> {
  for (const name of await readdir(dir, { recursive: true })) {
    if (!/\.(js|css|svg|html|md|json)$/.test(name)) continue
    const content = await readFile(`${dir}/${name}`)
    if (content.length < 1_000) continue
    await writeFile(`${dir}/${name}.gz`, gzipSync(content, { level: 9 }))
    await writeFile(`${dir}/${name}.br`, brotliCompressSync(content))
  }
}

const ENTITIES = 'decode-named-character-reference'

/** Its build for browsers has the browser decode `&amp;` through `innerHTML`, which the pages' security policy refuses. The other one has a table. */
const entitiesFromTable: Plugin = {
  name: 'entities-from-table',
  enforce: 'pre',
  resolveId: (source, importer) => (source === ENTITIES && importer !== undefined ? createRequire(importer).resolve(ENTITIES) : null),
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/ui/',
  plugins: [entitiesFromTable, react(), guidePages, compress],
  build: {
    target: 'es2023',
    // The oldest that know `light-dark()`, of which the themes are made.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { input: ['index.html', 'docs.html'].map((page) => fileURLToPath(new URL(page, import.meta.url))) },
  },
  server: { proxy: { '^/(?!ui/(?!session))': { target: API, changeOrigin: false } } },
})
