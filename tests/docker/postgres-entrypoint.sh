#!/bin/bash
# What the official image of PostgreSQL does at a start, as far as docker-compose.yml uses it: an empty volume gets a cluster, the server runs as
# `postgres`, listens on all addresses of its container and asks for passwords there.
set -euo pipefail
if [[ $(id -u) -eq 0 ]]; then
  mkdir -p "$PGDATA"
  chown -R postgres:postgres /var/lib/postgresql
  exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"
fi
if [[ $1 == postgres && ! -s $PGDATA/PG_VERSION ]]; then
  initdb --username=postgres --pwfile=<(echo "$POSTGRES_PASSWORD") --auth-local=trust --auth-host=scram-sha-256 >/dev/null
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
fi
if [[ $1 == postgres ]]; then set -- "$@" -c listen_addresses='*'; fi
exec "$@"
