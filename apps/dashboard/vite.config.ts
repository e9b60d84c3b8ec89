import { readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** A development server passes calls of the API on to this address. */
const API = process.env.MUSTER_URL ?? 'http://127.0.0.1:7300'

/** Writes compressed copies beside the files, so that the API sends them as they are. */
const compress: Plugin = {
  name: 'compress',
  apply: 'build',
  async writeBundle({ dir = '' }) {
    for (const name of await readdir(`${dir}/assets`)) {
      if (!/\.(js|css|svg)$/.test(name)) continue
      const content = await readFile(`${dir}/assets/${name}`)
      if (content.length < 1_000) continue
      await writeFile(`${dir}/assets/${name}.gz`, gzipSync(content, { level: 9 }))
      await writeFile(`${dir}/assets/${name}.br`, brotliCompressSync(content))
    }
  },
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/ui/',
  plugins: [react(), compress],
  build: { target: 'es2023', assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false },
  server: { proxy: { '^/(?!ui/(?!session))': { target: API, changeOrigin: false } } },
})
