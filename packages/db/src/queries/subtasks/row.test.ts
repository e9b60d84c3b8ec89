import { getTableColumns } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { subtasks } from '../../schema/subtasks.ts'
import { INTERNAL, SHOWN } from './row.ts'

describe('the columns of a subtask', () => {
  it('are each shown, or internal for a reason', () => {
    expect([...SHOWN, ...Object.keys(INTERNAL)].toSorted()).toEqual(Object.keys(getTableColumns(subtasks)).toSorted())
    for (const reason of Object.values(INTERNAL)) expect(reason).not.toBe('')
  })
})
