import { describe, expect, it } from 'vitest'
import { parseDatabaseAddress, problemOfDatabaseAddress, withDatabaseName } from './database-address.ts'

const PLAIN = { hosts: [{ host: 'db', port: 5432 }], user: 'muster', password: 'p@:/ß', database: 'my base', tls: { mode: 'disable' }, parameters: {} }

describe('the address of a database', () => {
  it.each<[string, object]>([
    ['postgres://muster:p%40%3A%2F%C3%9F@db/my%20base', PLAIN],
    ['postgresql://muster:p%40%3A%2F%C3%9F@db:5432/my%20base?application_name=x', { ...PLAIN, parameters: { application_name: 'x' } }],
    ['postgres://muster:p%40%3A%2F%C3%9F@[::1]:6432/my%20base?prepare=true', { ...PLAIN, hosts: [{ host: '::1', port: 6432 }], prepare: true }],
    [
      'postgres://muster:p%40%3A%2F%C3%9F@one:6000,[::1],three/my%20base?target_session_attrs=read-write',
      {
        ...PLAIN,
        hosts: [
          { host: 'one', port: 6000 },
          { host: '::1', port: 5432 },
          { host: 'three', port: 5432 },
        ],
      },
    ],
    [
      'postgres://muster:p%40%3A%2F%C3%9F@db/my%20base?sslmode=verify-full&sslrootcert=/ca.pem',
      { ...PLAIN, tls: { mode: 'verify-full', rootCertificateFile: '/ca.pem' } },
    ],
    ['postgres://muster:p%40%3A%2F%C3%9F@db/my%20base?sslmode=verify-full&sslrootcert=system', { ...PLAIN, tls: { mode: 'verify-full' } }],
    ['postgres://muster:p%40%3A%2F%C3%9F@%2Fvar%2Frun%2Fpostgresql/my%20base', { ...PLAIN, hosts: [{ host: '/var/run/postgresql', port: 5432 }] }],
    ['postgres://muster:p%40%3A%2F%C3%9F@%2fa%20b:6432/my%20base?sslmode=require', { ...PLAIN, hosts: [{ host: '/a b', port: 6432 }] }],
    ['postgres://muster:p%40%3A%2F%C3%9F@db/my%20base?connect_timeout=10', { ...PLAIN, connectTimeoutSeconds: 10 }],
    [
      'postgres://muster:p%40%3A%2F%C3%9F@db/my%20base?max=5&idle_timeout=20&keep_alive=9&keepalives_idle=5&gssencmode=disable&channel_binding=prefer&lock_timeout=9',
      { ...PLAIN, parameters: { lock_timeout: '9' } },
    ],
    ['postgres://muster:p%40%3A%2F%C3%9F@db/my%20base?sslrootcert=system', { ...PLAIN, tls: { mode: 'verify-full' } }],
    ['postgres://muster:p%40%3A%2F%C3%9F@db/my%20base?ssl=true', { ...PLAIN, tls: { mode: 'verify-full' } }],
  ])('%s is taken apart', (text, parts) => {
    expect(parseDatabaseAddress(text)).toEqual(parts)
  })

  it.each([
    ['mysql://db/muster', 'must look like postgres://user:password@host:5432/database'],
    ['db:5432', 'must look like postgres://user:password@host:5432/database'],
    ['postgres://one,/muster', 'must look like postgres://user:password@host:5432/database'],
    ['postgres://one:x,two/muster', 'must look like postgres://user:password@host:5432/database'],
    ['postgres://%2Frun,two/muster', 'has the folder of a socket among several hosts: a socket is that of one server, on this machine'],
    ['postgres://one,two/muster?target_session_attrs=any', 'target_session_attrs must be read-write, which it is wherever there are several hosts'],
    ...['postgres://a:50%@db/muster', 'postgres://50%zz:b@db/muster', 'postgres://a:b@db/50%'].map((text) => [
      text,
      'has a % that does not begin an escape such as %40: write % as %25',
    ]),
    ...['0', '-1', '1.5', '10s', ''].map((value) => [
      `postgres://db/muster?connect_timeout=${value}`,
      'connect_timeout must be a whole number of seconds, from 1 to 9999',
    ]),
    ['postgres://db/muster?user=a', 'user is not supported as a parameter: write it before the question mark'],
    ['postgres://db/muster?sslcert=/c.pem', 'sslcert is not supported as a parameter: remove it and log in with a password'],
    ['postgres://db/muster?channel_binding=require', 'channel_binding is not supported as a parameter: remove it'],
    ['postgres://db/muster?ssl_min_protocol_version=TLSv1.3', 'ssl_min_protocol_version is not supported as a parameter: remove it'],
    ['postgres://db/muster?prepare=yes', 'prepare must be true or false'],
    ['postgres://db/muster?sslmode=on', 'sslmode must be one of disable, prefer, require, verify-ca, verify-full'],
    [
      'postgres://db/muster?sslmode=require&sslrootcert=/ca.pem',
      'sslrootcert is of use only with sslmode=verify-full or verify-ca: no other mode checks the certificate',
    ],
    ['postgres://db/muster?sslrootcert=/ca.pem', 'sslrootcert is of use only with sslmode=verify-full or verify-ca: no other mode checks the certificate'],
    ...['disable', 'prefer', 'require', 'verify-ca'].map((mode) => [
      `postgres://db/muster?sslmode=${mode}&sslrootcert=system`,
      'sslrootcert=system needs sslmode=verify-full, which it means where there is no sslmode',
    ]),
  ])('%s is refused with what is wrong', (text, problem) => {
    expect(problemOfDatabaseAddress(text)).toBe(problem)
  })

  it('is that of another database with everything else as it was', () => {
    expect(withDatabaseName('postgres://a:b@db:1/one?sslmode=require', 'x y')).toBe('postgres://a:b@db:1/x%20y?sslmode=require')
    expect(withDatabaseName('postgres://a:b@%2Frun:1', 'x')).toBe('postgres://a:b@%2Frun:1/x')
    expect(withDatabaseName('postgres://a:b@db:1,other', 'x')).toBe('postgres://a:b@db:1,other/x')
  })
})
