import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSettings } from '@muster/domain'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { run } from '../../scripts/check/command.ts'
import { repositoryRoot } from '../../scripts/check/report.ts'
import { writeSchemas } from './kubernetes-schemas.ts'

const CHART = join(repositoryRoot, 'deploy/helm/muster')
const HELM = 'helm.sh/helm/v3/cmd/helm@v3.19.0'
const KUBECONFORM = 'github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0'
// A helm that `go install` builds takes itself for a much older one.
const KUBERNETES_VERSION = '1.34.0'
const KINDS = ['Deployment', 'Service', 'PodDisruptionBudget', 'Job', 'NetworkPolicy']
const ALL = ['autoscaling.enabled=true', 'serviceMonitor.enabled=true', 'serviceMonitor.labels.release=prometheus', 'worker.hostUsers=false']

interface Resource {
  kind: string
  metadata: { name: string; annotations?: Record<string, string> }
  // biome-ignore lint/suspicious/noExplicitAny: the schemas of Kubernetes check what helm wrote, and it is read here at a few places.
  spec: any
}

/** Helm brings the libraries of Kubernetes: two cores compile them for some minutes, beside an image that is built. */
const COMPILING_SECONDS = 600

const { ok: hasGo } = await run('go', ['version'])
let folder: string
let schemas: string

/** Chart, with these values; what helm said where it failed. */
async function template(values: readonly string[] = []): Promise<{ ok: boolean; output: string }> {
  return await run(join(folder, 'helm'), [
    'template',
    'release',
    CHART,
    '--namespace',
    'agents',
    '--kube-version',
    KUBERNETES_VERSION,
    ...values.flatMap((value) => [value.startsWith('settings.') ? '--set-string' : '--set', value]),
  ])
}

async function resources(values?: readonly string[]): Promise<Resource[]> {
  const { ok, output } = await template(values)
  if (!ok) throw new Error(output)
  return parseAllDocuments(output).flatMap((document) => (document.toJS() as Resource | null) ?? [])
}

const named = (all: readonly Resource[], kind: string, name: string) => all.find((each) => each.kind === kind && each.metadata.name === name) as Resource
const environmentOf = (container: { env: { name: string; value: string }[] }) => Object.fromEntries(container.env.map(({ name, value }) => [name, value]))

beforeAll(async () => {
  if (!hasGo) {
    process.stdout.write('\nHelm chart                                   not run: there is no go\n')
    return
  }
  folder = await mkdtemp(join(tmpdir(), 'muster-helm-'))
  const [helm, kubeconform, written] = await Promise.all([
    run('go', ['install', HELM], { env: { GOBIN: folder }, timeoutSeconds: COMPILING_SECONDS }),
    run('go', ['install', KUBECONFORM], { env: { GOBIN: folder }, timeoutSeconds: COMPILING_SECONDS }),
    writeSchemas(join(folder, 'schemas'), KINDS),
  ])
  for (const { ok, output } of [helm, kubeconform]) if (!ok) throw new Error(output)
  schemas = written
}, 660_000)
afterAll(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

describe.skipIf(!hasGo)('the Helm chart', () => {
  it('passes helm lint in its strictest form', async () => {
    const { ok, output } = await run(join(folder, 'helm'), ['lint', '--strict', CHART])
    expect(ok, output).toBe(true)
  })

  it.each([
    ['as it is', []],
    ['with everything on', ALL],
    ['with less', ['networkPolicy.enabled=false', 'migrate.enabled=false', 'secrets.migrateSecret=', 'data.existingClaim=shared', 'image.tag=1.2.3']],
  ])('makes resources that Kubernetes 1.34, KEDA and the Prometheus Operator take: %s', async (_, values) => {
    const { output } = await template(values)
    const checked = await run('/bin/sh', [
      '-c',
      `"$1" -strict -summary -schema-location "$2" <<"END"\n${output}\nEND\n`,
      'sh',
      join(folder, 'kubeconform'),
      schemas,
    ])
    expect(checked.ok, checked.output).toBe(true)
    expect(checked.output).toMatch(/[1-9]\d* resources found .* Invalid: 0, Errors: 0, Skipped: 0/)
  })

  it('is held against schemas that refuse a field which does not exist', async () => {
    const wrong = 'apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: x}\nspec: {maxUnavailabel: 1}\n'
    const { ok, output } = await run('/bin/sh', [
      '-c',
      `printf '%s' "$3" | "$1" -strict -schema-location "$2"`,
      'sh',
      join(folder, 'kubeconform'),
      schemas,
      wrong,
    ])
    expect(ok).toBe(false)
    expect(output).toContain('maxUnavailabel')
  })

  it('gives pods longer to end than their processes take, and the API time to leave its load balancer first', async () => {
    const all = await resources(['settings.SHUTDOWN_GRACE_SECONDS=45', 'api.preStopSeconds=7'])
    const api = named(all, 'Deployment', 'release-api').spec.template.spec
    const worker = named(all, 'Deployment', 'release-worker').spec.template.spec
    expect([api.terminationGracePeriodSeconds, worker.terminationGracePeriodSeconds]).toEqual([62, 55])
    expect(api.containers[0].lifecycle.preStop.exec.command).toEqual(['sleep', '7'])
    for (const { containers } of [api, worker]) expect(environmentOf(containers[0]).SHUTDOWN_GRACE_SECONDS).toBe('45')
  })

  it('runs every container as a user of its own, with a read-only root, no capability and no token of the cluster', async () => {
    const pods = (await resources(ALL)).flatMap(({ spec }) => (spec?.template?.spec === undefined ? [] : [spec.template.spec]))
    expect(pods).toHaveLength(3)
    for (const pod of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      })
      for (const { securityContext, volumeMounts } of pod.containers) {
        expect(securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
        expect(volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual(['/data', '/tmp'])
      }
    }
  })

  it('sets only settings that Muster knows and takes, and brings secrets by reference alone', async () => {
    const all = await resources()
    const containers = ['release-api', 'release-worker'].map((name) => named(all, 'Deployment', name).spec.template.spec.containers[0])
    const migrate = named(all, 'Job', 'release-migrate').spec.template.spec.containers[0]
    for (const container of [...containers, migrate]) {
      expect(container.envFrom).toEqual([{ secretRef: { name: 'muster' } }])
      const env = Object.fromEntries(Object.entries(environmentOf(container)).filter(([, value]) => value !== undefined))
      expect(parseSettings(env)).toMatchObject({ HOST: '0.0.0.0', PORT: 7300, DATA_DIR: '/data', PUBLIC_URL: 'http://release-api.agents.svc:80', AUTH: 'keys' })
      expect(Object.keys(env).filter((name) => !(name in parseSettings({ ...env })))).toEqual([])
    }
    expect(migrate.env.find(({ name }: { name: string }) => name === 'MIGRATE_DATABASE_URL').valueFrom.secretKeyRef).toEqual({
      name: 'muster-migrate',
      key: 'MIGRATE_DATABASE_URL',
    })
    expect(JSON.stringify(containers)).not.toContain('MIGRATE_DATABASE_URL')
  })

  it('migrates before an installation and an update', async () => {
    expect(named(await resources(), 'Job', 'release-migrate').metadata.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade')
  })

  it('scales workers on the age of the oldest waiting subtask, as /metrics names it', async () => {
    const all = await resources([...ALL, 'autoscaling.oldestWaitingSeconds=20'])
    const { spec } = named(all, 'ScaledObject', 'release-worker')
    expect(spec.triggers[0]).toMatchObject({
      metricType: 'Value',
      metadata: { query: 'max(muster_oldest_claimable_seconds{namespace="agents"})', threshold: '20' },
    })
    expect(await readFile(join(repositoryRoot, 'apps/api/src/plugins/metrics.ts'), 'utf8')).toContain("'muster_oldest_claimable_seconds'")
    expect(spec.scaleTargetRef.name).toBe('release-worker')
    // A number of its own would undo the scaling at each update.
    expect(named(all, 'Deployment', 'release-worker').spec.replicas).toBeUndefined()
    expect(named(await resources(), 'Deployment', 'release-worker').spec.replicas).toBe(2)
  })

  it('lets nothing in but requests to the API', async () => {
    const policies = (await resources()).filter(({ kind }) => kind === 'NetworkPolicy')
    expect(Object.fromEntries(policies.map(({ metadata, spec }) => [metadata.name, spec.ingress]))).toEqual({
      'release-api': [{ ports: [{ port: 'http', protocol: 'TCP' }] }],
      'release-migrate': [],
      'release-worker': [],
    })
  })

  it.each([
    ['a value that does not exist', 'worker.replica=3', /worker/],
    ['a secret among the settings', 'settings.DATABASE_URL=postgres://x', /DATABASE_URL/],
    ['no worker at all to scale to', 'autoscaling.minReplicas=0', /minReplicas/],
  ])('refuses %s', async (_, value, expected) => {
    const { ok, output } = await template([value])
    expect(ok).toBe(false)
    expect(output).toMatch(expected)
  })

  it('has a schema of each value', async () => {
    const { properties } = JSON.parse(await readFile(join(CHART, 'values.schema.json'), 'utf8')) as { properties: Record<string, unknown> }
    const values = parse(await readFile(join(CHART, 'values.yaml'), 'utf8')) as Record<string, unknown>
    expect(Object.keys(values).filter((name) => !(name in properties))).toEqual([])
  })
})
