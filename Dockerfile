# The gateway for production (docs/deployment.md). Node 26 comes from package-lock.json with its SHA-512; the first image only
# brings npm, the second only the C libraries. Pin both by digest where you build: --build-arg BUILD_IMAGE=node@sha256:...
ARG BUILD_IMAGE=docker.io/library/node:26.10.0-bookworm-slim
ARG RUN_IMAGE=gcr.io/distroless/cc-debian12:nonroot

FROM ${BUILD_IMAGE} AS build
WORKDIR /app
ENV NODE_ENV=production
# Libraries first: they are installed again only when the lockfile changes.
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
COPY widget/package.json widget/
RUN npm ci --ignore-scripts
COPY preload.js tsconfig.base.json build.ts ./
COPY client/ client/
COPY widget/ widget/
COPY cli/ cli/
COPY gateway/ gateway/
COPY sandbox/ sandbox/
RUN npm run prepare
RUN npm sbom --package-lock-only --sbom-format=cyclonedx --omit=dev > sbom.json
# dist/ has its libraries inside: only the optional ones are loaded from here.
RUN npm pkg delete dependencies workspaces && npm prune --ignore-scripts --omit=dev
RUN mkdir -p /out/bin /out/lib /out/state && cp -L node_modules/.bin/node /out/bin/node && rm -rf node_modules/node-linux-* node_modules/.bin
# The one library of Node that the last image lacks.
RUN cp -L "$(ldd /out/bin/node | sed -n 's/.*libatomic.* => \(.*\) (.*/\1/p')" /out/lib/

FROM ${RUN_IMAGE}
LABEL org.opencontainers.image.title="Labgraph" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="UNLICENSED" \
      org.labgraph.sbom="/app/sbom.json"
WORKDIR /app
COPY --from=build /out/bin/node /usr/local/bin/node
COPY --from=build /out/lib/ /usr/lib/
COPY --from=build --chown=65532:65532 /out/state /var/lib/labgraph
COPY --from=build /app/sbom.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=4000 \
    METRICS_PORT=9464 \
    DRAIN_SECONDS=5 \
    EVENT_LOG=sqlite:/var/lib/labgraph/events.db \
    AUDIT_TRAIL=file:/var/lib/labgraph/audit
USER 65532:65532
VOLUME /var/lib/labgraph
EXPOSE 4000 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s \
  CMD ["/usr/local/bin/node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/usr/local/bin/node", "dist/gateway/main.js"]
