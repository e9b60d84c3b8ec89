import { describe, expect, it } from 'vitest'
import { deniesItself } from './denial.ts'

const CRITERION = 'Rate limiting is in place'

describe('a line with a tick', () => {
  it.each([
    'NOT done, skipped',
    'NOT done skipped',
    'rate limiting was skipped',
    'rate limiting (todo)',
    'rate limiting: TODO',
    'could not be done',
    "couldn't do it",
    'I couldn’t do it',
    'didn`t do it',
    'cannot be verified',
    'is not implemented',
    'will be done later',
    'unable',
    'didnt do it',
    'n\u200Bot done',
    'unit tests: not found',
    'left for later',
    'rate limiting is in place, but untested',
    'rate limiting: no',
    'rate limiting (pending)',
    'rate limiting - failed',
    'n/a',
    'WIP',
    'Ratenbegrenzung nicht umgesetzt',
    'übersprungen',
    'noch offen',
    'limitation de débit pas faite',
    'non testé',
    "n'est pas fait",
    'no se hizo',
    'pendiente',
    'não foi feito',
    'non è stato fatto',
    'niet gedaan',
    'nie zrobiono',
    'inte gjort',
    'ikke gjort',
    'не сделано',
    'пропущено',
    'yapılmadı',
    'لم يتم التنفيذ',
    'नहीं किया',
    'chưa làm',
    '未完成',
    '没有完成',
    '已跳过',
    '尚未实现',
    'スキップしました',
    '実装していません',
    '구현하지 못했습니다',
    'ยังไม่เสร็จ',
  ])('is taken back by %j', (line) => {
    expect(deniesItself(line, CRITERION)).toBe(true)
  })

  it.each([
    '',
    'rate limiting is in place',
    'done: 429 after 100 requests a minute',
    'all 40 tests pass, 0 failed',
    'no test was skipped',
    'nothing was omitted',
    'not skipped',
    'limits not only by address, but also by user',
    'adds a NOT NULL column',
    'answers 404 Not Found for unknown keys',
    'passwords are never logged',
    'passwords are hashed, not stored in plain text',
    'users cannot log in without a token',
    'does not break existing callers',
    'rejects incomplete forms',
    'returns 400 if a field is missing',
    'uses bcrypt instead of md5',
    'not a single test fails',
    'not one test was skipped',
    'runs as non-root user',
    'the ne operator',
    '保留现有接口',
    '没有回归',
    '未发现问题',
    'known errors: none',
    'not more than 100 requests a minute',
    'pending jobs are limited too',
    'failed logins are limited too',
    'keine Tests übersprungen',
    'aucun test omis',
    '没有错误，全部通过',
    '未来的请求也受限',
    '完了',
    'full notebook and knotty notes',
  ])('is not taken back by %j', (line) => {
    expect(deniesItself(line, CRITERION)).toBe(false)
  })

  it.each<[string, string]>([
    ['does not leak memory', 'Does not leak memory'],
    ['the cache does not leak any memory', 'Does not leak memory'],
    ["doesn't leak memory", 'Does not leak memory'],
    ['requests that were skipped are logged', 'Log requests that were skipped'],
    ['ändert die Tabelle nicht', 'Die Tabelle nicht ändern'],
    ['不能删除数据', '用户不能删除数据'],
  ])('says %j to a criterion with the same words, and means it', (line, criterion) => {
    expect(deniesItself(line, criterion)).toBe(false)
  })

  it.each<[string, string]>([
    ['keine Tests', 'Unit tests exist'],
    ['keine Unit-Tests', 'Unit tests exist'],
    ['there are no unit tests', 'Unit tests exist'],
    ['no tests were written', 'Unit tests exist'],
    ['No unit tests yet', 'Unit tests exist'],
    ['parser is done, without unit tests', 'Unit tests exist'],
    ['none of the unit tests exist', 'Unit tests exist'],
    ['0 tests', 'Unit tests exist'],
    ['es gibt keine Tests', 'Es gibt Tests für den Parser'],
    ['aucun test écrit', 'Tests unitaires'],
    ['pas de tests', 'Tests unitaires'],
    ['no hay pruebas', 'Pruebas unitarias'],
    ['no rate limit in place', 'Rate limiting is in place'],
    ['no documentation was added', 'Documentation of the API'],
  ])('is taken back by %j, to the criterion %j', (line, criterion) => {
    expect(deniesItself(line, criterion)).toBe(true)
  })

  it.each<[string, string]>([
    ['no tests fail', 'Unit tests exist'],
    ['no unit tests failed', 'Unit tests exist'],
    ['no test is flaky', 'Unit tests exist'],
    ['no test was skipped', 'Unit tests exist'],
    ['no tests needed a change', 'Unit tests exist'],
    ['no errors', 'Errors are handled'],
    ['no errors', 'Unit tests exist'],
    ['unit tests exist: no errors, no warnings', 'Unit tests exist'],
    ['tests run without warnings', 'Unit tests run without a database'],
    ['without warnings', 'The build has no warnings'],
    ['keine Fehler', 'Fehler werden protokolliert'],
    ['no new dependencies', 'No new dependencies'],
    ['there are no dependencies', 'Does not add dependencies'],
    ['no deprecated calls', 'Removes all deprecated calls'],
    ['without a database, 12 unit tests', 'Unit tests exist'],
    ['no tests of the old parser were lost', 'Unit tests exist'],
    ['none', 'Unit tests exist'],
    ['aucune erreur', 'Tests unitaires'],
    ['ohne Warnungen', 'Der Build läuft'],
    ['no external service', 'Unit tests exist'],
  ])('is not taken back by %j, to the criterion %j', (line, criterion) => {
    expect(deniesItself(line, criterion)).toBe(false)
  })

  it.each(['Support job states: pending, failed, done', 'Filters (open, closed)', 'Operators: and, or, not', 'TODO', 'Rate limiting: no'])(
    'denies nothing by repeating %j',
    (text) => {
      expect(deniesItself(text, text)).toBe(false)
    },
  )

  it.each([
    ['is not implemented', 'The API key is not logged'],
    ['does not work yet', 'Does not leak memory'],
    ['must not be merged', 'Must not add dependencies'],
  ])('is taken back by %j, although the criterion %j has a negation', (line, criterion) => {
    expect(deniesItself(line, criterion)).toBe(true)
  })

  it('may not take back what the criterion asks for with other words of the same kind', () => {
    expect(deniesItself('not done', 'Does not leak memory')).toBe(true)
    expect(deniesItself('could not check this', 'Does not leak memory')).toBe(true)
  })
})
