import type { operations } from '../generated/openapi.ts'
import type { OPERATIONS } from '../generated/operations.ts'

/** The name of an operation, as `operationId` in openapi.yaml. */
export type OperationId = keyof typeof OPERATIONS & keyof operations

type Parameters<O extends OperationId, In extends string> = operations[O]['parameters'] extends { [K in In]?: infer P } ? P : never
type Content<O extends OperationId> = operations[O] extends { requestBody: { content: infer C } }
  ? C[keyof C]
  : operations[O] extends { requestBody?: { content: infer C } }
    ? C[keyof C] | undefined
    : undefined

/** The parameters in the path, such as `{ id }`. */
export type PathOf<O extends OperationId> = NonNullable<Parameters<O, 'path'>>
/** The filters of a list, and other parameters in the query. */
export type QueryOf<O extends OperationId> = NonNullable<Parameters<O, 'query'>>
/** What is sent: JSON, or a text where the operation takes one. */
export type BodyOf<O extends OperationId> = Content<O>

/** A part of the input that may be left out where everything in it may be. */
type Part<Name extends string, Value> = [Value] extends [never]
  ? { [K in Name]?: undefined }
  : undefined extends Value
    ? { [K in Name]?: Value }
    : { [K in Name]: Value }

/** Everything that a call of an operation needs. */
export type InputOf<O extends OperationId> = Part<'path', PathOf<O>> & { query?: QueryOf<O> } & Part<'body', BodyOf<O>>

type Answer<Response> = Response extends { content: { 'application/json': infer Value } }
  ? Value
  : Response extends { content: infer Content }
    ? Content[keyof Content]
    : undefined
type Successes<Responses> = { [Status in keyof Responses & (200 | 201 | 202 | 204)]: Answer<Responses[Status]> }[keyof Responses & (200 | 201 | 202 | 204)]

/** What a call resolves to: the JSON of the answer, its text where it is none, or undefined where it has no body. */
export type OutputOf<O extends OperationId> = Successes<operations[O]['responses']>

/** One item of an operation that answers a page of them. */
export type ItemOf<O extends OperationId> = OutputOf<O> extends { items: (infer Item)[] } ? Item : never

/** The operations that answer a page. */
export type ListId = { [O in OperationId]: OutputOf<O> extends { items: unknown[]; next_cursor: string | null } ? O : never }[OperationId]
