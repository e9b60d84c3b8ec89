import type { JsonSchema } from './json-schemas.ts'

/** Schemas that have most of their fields from another one: by their names, that other one. */
const LIKE: Record<string, string> = {
  AgreementStats: 'AgreementGroup',
  CreatedApiKey: 'ApiKey',
  EvaluationStats: 'EvaluationGroup',
  EvaluationSummary: 'Evaluation',
  EventDeliverySummary: 'EventDelivery',
  NewSchedule: 'NewSubtask',
  NewSubtaskQuestion: 'NewTaskQuestion',
  NewTask: 'CreatedTask',
  PutSubagent: 'Subagent',
  SchedulePatch: 'NewSchedule',
  SchedulePreview: 'Schedule',
  SchedulePreviewRequest: 'NewSchedule',
  SubagentSpawn: 'NewSubtask',
  SubagentSummary: 'Subagent',
  TaskDispatch: 'NewSubtask',
  TaskPatch: 'CreatedTask',
  TsgPatch: 'NewTsg',
  TsgSummary: 'Tsg',
  UsageReport: 'UsageGroup',
  WebhookPatch: 'NewWebhook',
  WebhookWithSecret: 'Webhook',
  WordedUpdate: 'Update',
}

/** Says once what fields of the same name mean in schemas that are alike. */
export function withoutRepetition(schemas: Record<string, JsonSchema>): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, name in LIKE ? unlike(schema, LIKE[name] as string, schemas) : schema]))
}

function unlike(schema: JsonSchema, other: string, schemas: Record<string, JsonSchema>): JsonSchema {
  const known = fieldsOf(schemas[other] ?? {})
  const properties = Object.fromEntries(
    Object.entries(fieldsOf(schema)).map(([name, field]) => {
      const { description, ...rest } = field
      return [name, description !== undefined && description === known[name]?.description ? rest : field]
    }),
  )
  const words = `Other fields as in \`${other}\`.`
  return {
    ...schema,
    description: schema.description === undefined ? words : `${schema.description} ${words}`,
    properties,
  }
}

const fieldsOf = (schema: JsonSchema): Record<string, JsonSchema> => (schema.properties ?? {}) as Record<string, JsonSchema>
