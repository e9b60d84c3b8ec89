# syntax=docker/dockerfile:1
# One image for every process: API (unless told otherwise), worker, migrate. Node runs the TypeScript sources as they are, so nothing is built.

FROM node:24-slim AS install
WORKDIR /app
COPY . .
# Only what API, worker and the scripts need to run: no tools, no tests, no embedded PostgreSQL. The version of pnpm is the project's.
RUN --mount=type=cache,target=/root/.local/share/pnpm/store \
  CI=true pnpm_config_pm_on_fail=ignore npx --yes "$(node -p "require('./package.json').packageManager.split('+')[0]")" install --frozen-lockfile --prod \
  --package-import-method copy --filter-prod 'muster...' --filter-prod '@muster/api...' --filter-prod '@muster/worker...'

FROM node:24-slim
# MUSTER_IMAGE: `npm run key` and `npm run migrate` use this Node and what is installed here, and install nothing.
ENV NODE_ENV=production DATA_DIR=/data MUSTER_IMAGE=1
WORKDIR /app
# The workspaces of subtasks. A named volume on it takes over its owner, so that the processes can write there without being root.
RUN mkdir /data && chown node:node /data
COPY --from=install /app .
USER node
VOLUME /data
EXPOSE 7300
CMD ["node", "--max-semi-space-size=8", "apps/api/src/main.ts"]
