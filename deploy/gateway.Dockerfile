# The gateway: the only part that listens to the world. Build from the root of the repository:
#   docker build -f deploy/gateway.Dockerfile -t hub-gateway .

FROM node:20-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:20-bookworm-slim
# An init, so that signals reach the gateway although it is not process 1.
RUN apt-get update \
  && apt-get install -y --no-install-recommends tini ca-certificates \
  && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production
WORKDIR /srv/hub
# The bundle holds every dependency: the image needs no node_modules.
COPY --from=build /build/dist/gateway.mjs /build/dist/gateway.mjs.map ./dist/
COPY --from=build /build/dist/video-sender.mjs /build/dist/video-sender.mjs.map ./dist/
# What it writes: tokens of video accounts, uploads on their way, log files. Make them volumes.
RUN mkdir -p tokens spool logs && chown node:node tokens spool logs
USER node
EXPOSE 3000
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["node", "--enable-source-maps", "dist/gateway.mjs", "--alone"]
# With TLS on the API port, override this check in the orchestrator.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=2 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HUB_PORT ?? 3000}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
