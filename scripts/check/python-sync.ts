/** How the asyncio half of the Python client is written for callers that block. */
const WORDS: [RegExp, string][] = [
  [/\basync (def|with|for)\b/g, '$1'],
  [/\bawait /g, ''],
  // What is awaited is returned.
  [/\bAwaitable\[(\w+)\]/g, '$1'],
  [/\bAwaitable, /g, ''],
  [/\bAsync([A-Z]\w+)\b/g, '$1'],
  [/\bimport asyncio\b/g, 'import time'],
  [/\basyncio\.sleep\b/g, 'time.sleep'],
  [/\ba(close|read|iter_bytes)\(/g, '$1('],
  [/\b__a(iter|next|enter|exit)__\b/g, '__$1__'],
  [/\bStopAsyncIteration\b/g, 'StopIteration'],
  [/\b_async\b/g, '_sync'],
]

/** The blocking form of a file. Lines between `# asyncio only` and `# end` are left out. */
export function toSync(source: string, name: string): string {
  let text = source.replaceAll(/^ *# asyncio only\n[\s\S]*?^ *# end\n/gm, '')
  for (const [word, other] of WORDS) text = text.replaceAll(word, other)
  return `# Generated from _async/${name} by scripts/check/python-client.ts. Do not edit.\n${text}`
}
