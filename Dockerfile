# One image for every process: API (the default), worker, migrate. Node runs the TypeScript sources, so there is no build step.

# With a digest, node:24-slim@sha256:…, a build has the same base each time. `npm run image -- bases` says whether it has one.
ARG NODE_IMAGE=node:24-slim

FROM $NODE_IMAGE AS install
WORKDIR /app
COPY . .
# Installs only what API, worker and scripts need at run time: no tools, no tests, no embedded PostgreSQL. Uses the project's version of pnpm.
RUN --mount=type=cache,target=/root/.local/share/pnpm/store \
  CI=true pnpm_config_pm_on_fail=ignore npx --yes "$(node -p "require('./package.json').packageManager.split('+')[0]")" install --frozen-lockfile --prod \
  --package-import-method copy --filter-prod 'muster-workspace...' --filter-prod '@muster/api...' --filter-prod '@muster/worker...'
# The bill of materials of what is installed, the base image's packages among them: docker run --rm muster cat muster.cdx.json
RUN --mount=type=cache,target=/root/.local/share/pnpm/store node scripts/image.ts sbom --system > muster.cdx.json

# What API and worker load, without types and compiled. Each loads all of it before it finds that it has no settings, and ends. Node reads it only for the same
# user and the same options.
FROM install AS compiled
USER node
RUN for app in api worker; do \
    NODE_COMPILE_CACHE=/tmp/compiled node --max-semi-space-size=8 apps/$app/src/main.ts && exit 1; \
  done; chmod -R a+rX /tmp/compiled

# The dashboard is the one thing that is built; what builds it stays out of the image.
FROM $NODE_IMAGE AS dashboard
WORKDIR /app
COPY . .
RUN --mount=type=cache,target=/root/.local/share/pnpm/store \
  CI=true pnpm_config_pm_on_fail=ignore npx --yes "$(node -p "require('./package.json').packageManager.split('+')[0]")" install --frozen-lockfile \
  --package-import-method copy --filter '@muster/dashboard...' && node apps/dashboard/node_modules/vite/bin/vite.js build apps/dashboard

FROM $NODE_IMAGE
# MUSTER_IMAGE: `npm run key`, `migrate`, `rotate-secrets` and `restored` use this installation and install nothing.
ENV NODE_ENV=production DATA_DIR=/data MUSTER_IMAGE=1 NODE_COMPILE_CACHE=/app/node_modules/.cache/node
WORKDIR /app
# Holds the workspaces of subtasks. A named volume keeps this owner, so that the processes can write there without being root.
RUN mkdir /data && chown node:node /data
COPY --from=install /app .
COPY --from=compiled --chown=root:root /tmp/compiled node_modules/.cache/node
COPY --from=dashboard /app/apps/dashboard/dist apps/dashboard/dist
USER node
VOLUME /data
EXPOSE 7300
CMD ["node", "--max-semi-space-size=8", "apps/api/src/main.ts"]
