import type { z } from 'zod'
import { removeAbsentNulls } from './absent-nulls.ts'

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a patch reaches into objects, and so needs the present state. */
export const reachesIntoObjects = (patch: unknown): boolean => isObject(patch) && Object.values(patch).some(isObject)

/**
 * The body of a PATCH that comes as `application/merge-patch+json`, as `application/json` would say it: each object in it merged into the present one, as
 * RFC 7396 says. Null in a field of the body stays, for the schema to take or refuse; within an object it has removed a member.
 *
 * @param current the present fields, in the words of a request
 */
export function applyMergePatch(schema: z.ZodType, current: object, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const present = current as Json
  const merged = Object.fromEntries(Object.entries(patch).map(([name, value]) => [name, isObject(value) ? merge(present[name], value) : value]))
  const nulls = Object.entries(merged).filter(([, value]) => value === null)
  // The present state has null where a request leaves something out.
  removeAbsentNulls(schema, merged)
  return { ...merged, ...Object.fromEntries(nulls) }
}

/** RFC 7396, section 2. */
function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged: Json = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else merged[name] = merge(Object.hasOwn(merged, name) ? merged[name] : undefined, value)
  }
  return merged
}
