# The companion: AI-Link, tool servers, counters. Never exposed; the gateway reaches it at AILINK_URL.
# Build from the root of the repository:
#   docker build -f deploy/companion.Dockerfile -t hub-companion .

FROM node:20-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:20-bookworm-slim
# Python for stdio tool servers in Python; an init to reap what tool servers leave behind. For uv and uvx add
#   COPY --from=ghcr.io/astral-sh/uv:latest /uv /uvx /usr/local/bin/
RUN apt-get update \
  && apt-get install -y --no-install-recommends tini ca-certificates python3 python-is-python3 \
  && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production
WORKDIR /srv/hub
COPY --from=build /build/dist/companion.mjs /build/dist/companion.mjs.map ./dist/
# Log files, where the configuration asks for them.
RUN mkdir -p logs && chown node:node logs
USER node
EXPOSE 3100
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["node", "--enable-source-maps", "dist/companion.mjs"]
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=2 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.AILINK_PORT ?? 3100}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
