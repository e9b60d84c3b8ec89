import { isAbsolute, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { prepareEnvironment, ROOT } from './environment.ts'

describe('the environment of npm start', () => {
  it('is open on loopback, keeps its data beside the project and can run scout', () => {
    const { settings, environment } = prepareEnvironment({})

    expect(settings).toMatchObject({ AUTH: 'open', HOST: '127.0.0.1', PORT: 7300, DATA_DIR: join(ROOT, '.muster') })
    expect(settings.COMMAND_RUNNERS.scout?.argv.every(isAbsolute)).toBe(true)
    expect(environment).toMatchObject({ AUTH: 'open', DATA_DIR: join(ROOT, '.muster') })
  })

  it('asks for keys on every other address', () => {
    expect(prepareEnvironment({ HOST: '0.0.0.0' }).settings.AUTH).toBe('keys')
  })

  it('leaves alone what is set', () => {
    const { settings } = prepareEnvironment({ AUTH: 'keys', COMMAND_RUNNERS: '{}', DATA_DIR: '/elsewhere' })

    expect(settings).toMatchObject({ AUTH: 'keys', COMMAND_RUNNERS: {}, DATA_DIR: '/elsewhere' })
  })

  it('takes an empty variable for an absent one', () => {
    expect(prepareEnvironment({ AUTH: '', HOST: '', COMMAND_RUNNERS: ' ' }).settings).toMatchObject({ AUTH: 'open', HOST: '127.0.0.1' })
  })

  it('names every problem', () => {
    expect(() => prepareEnvironment({ PORT: 'many', HOST: '0.0.0.0', LOG_LEVEL: 'loud' })).toThrow(/PORT[\s\S]*LOG_LEVEL/)
  })
})
