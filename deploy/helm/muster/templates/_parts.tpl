{{- define "muster.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* What selects the pods of a part. Given: the root and the part. */}}
{{- define "muster.selector" -}}
app.kubernetes.io/name: muster
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "muster.labels" -}}
{{ include "muster.selector" . }}
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "muster.image" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end -}}

{{/* The user `node` of the image. Nothing of the image is written to: only /data and /tmp. */}}
{{- define "muster.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "muster.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{/* Longer than the processes take to end after SIGTERM, so that none is killed while it gives its runs back. */}}
{{- define "muster.graceSeconds" -}}
{{- add (.Values.settings.SHUTDOWN_GRACE_SECONDS | default "10" | int) 10 -}}
{{- end -}}

{{- define "muster.environment" -}}
envFrom:
  - secretRef: { name: {{ .Values.secrets.existingSecret | quote }} }
env:
  - { name: HOST, value: 0.0.0.0 }
  - { name: PORT, value: '7300' }
  - { name: DATA_DIR, value: /data }
  - name: PUBLIC_URL
    value: {{ .Values.api.publicUrl | default (printf "http://%s-api.%s.svc:%v" (include "muster.name" .) .Release.Namespace .Values.service.port) | quote }}
{{- range $name, $value := .Values.settings }}
  - { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end -}}

{{- define "muster.mounts" -}}
volumeMounts:
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
{{- end -}}

{{- define "muster.volumes" -}}
volumes:
  - name: data
    {{- if .Values.data.existingClaim }}
    persistentVolumeClaim: { claimName: {{ .Values.data.existingClaim | quote }} }
    {{- else }}
    emptyDir: { sizeLimit: {{ .Values.data.sizeLimit | quote }} }
    {{- end }}
  - name: tmp
    emptyDir: {}
{{- end -}}

{{- define "muster.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
