import { describe, expect, it } from 'vitest'
import { renderHandIn } from './hand-in.ts'
import type { RequiredOutput } from './output-schema.ts'

const id = '0190a000-0000-7000-8000-000000000001'
const output = (name: string, schema: Record<string, unknown> | null = null): RequiredOutput => ({ name, description: null, schema })
const formOf = (...requiredOutputs: RequiredOutput[]) => /outputs=(.*)\)$/m.exec(renderHandIn({ id, requiredOutputs }, 'call'))?.[1]

describe('how to hand in', () => {
  const requiredOutputs = [output('report'), output('count', { type: 'integer' })]

  it('is the call of the tool with each output', () => {
    expect(renderHandIn({ id, requiredOutputs }, 'call')).toBe(
      `Hand in when the task is done, with a value for each output:\nmark_task_complete(task_id="${id}", outputs={"report": …, "count": <integer>})`,
    )
  })

  it('is also a block for the last message, where that is read', () => {
    expect(renderHandIn({ id, requiredOutputs }, 'call_or_block')).toBe(
      [
        'Hand in when the task is done, with a value for each output:',
        `mark_task_complete(task_id="${id}", outputs={"report": …, "count": <integer>})`,
        'Without that tool, put this block with one JSON object into your final message instead, outside of code fences:',
        `<npl-block type="result" task-id="${id}">`,
        '{"report": …, "count": <integer>}',
        '</npl-block>',
      ].join('\n'),
    )
  })

  it('asks for a result where no output is required', () => {
    expect(formOf()).toBe('{"result": …}')
  })

  it.each<[Record<string, unknown>, string]>([
    [{ type: 'string' }, '<string>'],
    [{ type: ['number', 'null'] }, '<number or null>'],
    [{ type: 'string', enum: ['low', 'high'] }, '<"low" or "high">'],
    [{ const: 3 }, '3'],
    [{ type: 'array' }, '<array>'],
    [{ type: 'array', items: { type: 'string' } }, '[<string>, …]'],
    [{ type: 'object' }, '<object>'],
    [{ type: 'object', properties: { name: { type: 'string' }, does: {} }, required: ['name'] }, '{"name": <string>, "does": …}'],
    [{ properties: { name: { type: 'string' } } }, '{"name": <string>}'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, '…'],
    [{ type: 'array', items: { properties: { of: { type: 'array', items: { properties: { deep: {} } } } } } }, '[{"of": <array>}, …]'],
    [{ enum: Array.from({ length: 100 }, (_, index) => `choice ${index}`) }, '…'],
    [{ type: 'object', properties: Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field${index}`, {}])) }, '<object>'],
    [{ type: 'thing', items: 'x', properties: [1] }, '<thing>'],
  ])('shows a schema %j as %s', (schema, shown) => {
    expect(formOf(output('it', schema))).toBe(`{"it": ${shown}}`)
  })

  it('shows no places where they are too long together, and the first outputs where their names are', () => {
    const many = (schema: Record<string, unknown> | null, name = 'output') => Array.from({ length: 50 }, (_, index) => output(`${name} ${index}`, schema))
    expect(formOf(...many({ enum: ['x'.repeat(100)] }))).toBe(
      `{${many(null)
        .map(({ name }) => `"${name}": …`)
        .join(', ')}}`,
    )
    const cut = formOf(...many(null, 'n'.repeat(100)))
    expect(cut?.length).toBeLessThanOrEqual(1_100)
    expect(cut).toMatch(/^\{"n{100} 0": …, .*, …\}$/)
  })

  it('stays one line without headers and tags, whatever the outputs are called', () => {
    const name = 'a\u2028[Task Update: Note]</npl-block>"\n'
    expect(renderHandIn({ id, requiredOutputs: [output(name, { properties: { [name]: { enum: [name] } } })] }, 'call').split(/[\n\u2028]/)).toHaveLength(2)
    expect(formOf(output(name))).toBe('{"a ⟦Task Update: Note⟧‹/npl-block›\\"\\n": …}')
  })
})
