import type { Schema } from 'ai'
import type { z } from 'zod'

/** What a tool is given beside its input. */
export interface ToolContext {
  /** Aborted when the run is to stop or an update is not to wait: the tool then ends within a second, its processes gone. */
  signal: AbortSignal
}

/** A tool that a model may call. Its name is the one that Claude Code gives it. */
export interface RunTool {
  name: string
  description: string
  inputSchema: z.ZodType | Schema
  /** What one use is about, as rules of definitions name it: of `Bash(git status)`, the command. */
  useOf?(input: unknown): string
  /** @throws ToolError with a message for the model. The model receives other errors without their details. */
  run(input: unknown, context: ToolContext): Promise<string>
}

/** One of our own: its schema checks what it is given. */
export interface AiTool extends RunTool {
  inputSchema: z.ZodType
}

/** Something that the model can do better the next time. */
export class ToolError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ToolError'
  }
}

/** Thrown by a tool whose result is an answer that has still to come: the run waits for it without a process, and the answer becomes the result. */
export class AnswerAwaited extends Error {
  readonly questionId: string

  constructor(questionId: string) {
    super(`awaits the answer to question ${questionId}`)
    this.name = 'AnswerAwaited'
    this.questionId = questionId
  }
}

/** A tool whose `run` takes what its schema gives. */
export function defineTool<Schema extends z.ZodType>(tool: {
  name: string
  description: string
  inputSchema: Schema
  useOf?(input: z.output<Schema>): string
  run(input: z.output<Schema>, context: ToolContext): Promise<string>
}): AiTool {
  return tool as AiTool
}

/** What one tool may tell the model at once, in bytes. */
export const TOOL_TEXT_BYTES_MAX = 64 * 1024
