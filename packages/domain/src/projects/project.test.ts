import { describe, expect, it } from 'vitest'
import { projectSettingsSchema } from '../index.ts'

describe('the time zone of a project', () => {
  it.each(['UTC', 'Europe/Berlin', 'US/Eastern'])('may be %s', (timezone) => {
    expect(projectSettingsSchema.parse({ timezone })).toEqual({ timezone })
  })

  it.each(['EST', '+02:00', 'Europe/Atlantis', '', null, 2])('may not be %j, and the refusal names what to use', (timezone) => {
    const { error } = projectSettingsSchema.safeParse({ timezone })
    expect(error?.issues).toHaveLength(1)
    expect(error?.issues[0]).toMatchObject({ path: ['timezone'] })
    if (typeof timezone === 'string') expect(error?.issues[0]?.message).toMatch(/^must be the IANA name of a region, such as "America\/New_York", or "UTC"/)
  })
})
