#!/usr/bin/env bash
# Builds Docker Compose from its Go module, for a machine that has no `docker compose`. Go checks what it downloads against its database of checksums.
#
#   compose-plugin.sh <folder of the Docker client's configuration, which gets the plugin>
set -euo pipefail
version=v2.40.3
plugin=$1/cli-plugins/docker-compose
if [[ -x $plugin && $("$plugin" version --short) == "${version#v}" ]]; then exit 0; fi

module=$(mktemp -d)
trap 'rm -rf "$module"' EXIT
cd "$module"
echo 'module muster-compose' >go.mod
go get "github.com/docker/compose/v2/cmd@$version" 2>&1 | grep -v '^go: \(added\|upgraded\|downloading\) ' >&2 || true
mkdir -p "${plugin%/*}"
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X github.com/docker/compose/v2/internal.Version=$version" -o "$plugin.new" github.com/docker/compose/v2/cmd
mv "$plugin.new" "$plugin"
