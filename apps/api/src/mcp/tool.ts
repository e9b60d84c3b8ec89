import type { CallToolResult, Tool, ToolAnnotations } from '@modelcontextprotocol/server'
import type { FieldProblem } from '@muster/domain'
import type { Ctx } from '@muster/usecases'
import { z } from 'zod'
import { check, validationFailed } from '../http/validation.ts'

/** Who calls a tool. */
export interface McpCaller {
  ctx: Ctx
  /** The session that it is called in, where the caller says so; a sub-agent's own credential always stands for its own. */
  sessionId: string | undefined
}

/** A tool with its types closed over, as the server sees it. */
export interface McpTool {
  /** The description for clients. */
  description: Tool
  /** @throws DomainError */
  call(caller: McpCaller, input: unknown): Promise<Record<string, unknown>>
}

interface McpToolSpec<Input, Output> {
  name: string
  title: string
  description: string
  annotations: Required<Omit<ToolAnnotations, 'title'>>
  input: Input
  output: Output
  handle(caller: McpCaller, input: z.output<Input>): Promise<z.output<Output>>
}

/** Defines a tool: what it takes, what it calls, and what it answers with. */
export function mcpTool<Input extends z.ZodObject, Output extends z.ZodObject>(spec: McpToolSpec<Input, Output>): McpTool {
  const { name, title, description, annotations, input, output } = spec
  return {
    description: {
      name,
      title,
      description,
      annotations: { title, ...annotations },
      inputSchema: z.toJSONSchema(input, { io: 'input' }) as Tool['inputSchema'],
      outputSchema: z.toJSONSchema(output, { io: 'output' }) as Tool['inputSchema'],
    },
    async call(caller, given) {
      const problems: FieldProblem[] = []
      const parsed = check(input, given ?? {}, 'body', problems)
      if (problems.length > 0) throw validationFailed(problems)
      return await spec.handle(caller, parsed as z.output<Input>)
    },
  }
}

/** A result as text, for clients that read nothing else. */
export function toolText(value: unknown): CallToolResult['content'] {
  return [{ type: 'text', text: JSON.stringify(value) }]
}
