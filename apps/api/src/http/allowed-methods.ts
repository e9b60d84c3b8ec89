import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'

const ORDER = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

interface Route {
  method: string
  pattern: RegExp
  /** The names of its path parameters, in the order of the pattern's groups. */
  names: string[]
  params: z.ZodType | undefined
}

/**
 * Answers which methods a path takes, by the routes that are added to the app from now on. Where a path can be read in two ways, such as
 * `/subtasks/claim` with `claim` as an id, only a reading whose parameters are acceptable counts, if there is one.
 */
export function allowedMethods(app: FastifyInstance): (path: string) => string[] {
  const routes: Route[] = []
  app.addHook('onRoute', ({ method, url, config }) => {
    const names = [...url.matchAll(/:(\w+)/g)].map(([, name]) => name as string)
    const pattern = new RegExp(
      `^${url
        .replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
        .replaceAll('*', '.*')
        .replaceAll(/:\w+/g, '([^/]+)')}$`,
    )
    for (const each of [method].flat()) routes.push({ method: each, pattern, names, params: config?.params })
  })
  return (path) => {
    const fitting = routes.filter(({ pattern }) => pattern.test(path))
    const acceptable = fitting.filter((route) => acceptsParams(route, path))
    const methods = new Set((acceptable.length > 0 ? acceptable : fitting).map(({ method }) => method))
    return ORDER.filter((method) => methods.has(method))
  }
}

function acceptsParams({ pattern, names, params }: Route, path: string): boolean {
  if (params === undefined) return true
  const values = pattern.exec(path)?.slice(1) ?? []
  return params.safeParse(Object.fromEntries(names.map((name, place) => [name, values[place]]))).success
}
